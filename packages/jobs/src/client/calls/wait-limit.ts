import { number, rule } from '@troupe/core/option-check';
import type { JobsTimer, JobsTimers } from '../../jobs-host.js';

/** Limits of a wait. The job goes on without its caller. */
export interface WaitOptions {
  /** Rejects after so many milliseconds. Default: none for a job and its result, 30 s for other calls. */
  readonly withinMs?: number | undefined;
  /** Rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The longest delay of a timer. */
const WITHIN_MS_MAX = 2 ** 31 - 1;

const abortSignal = rule('an AbortSignal', (value) => value instanceof AbortSignal);

export const WAIT_OPTIONS = { withinMs: number(0, WITHIN_MS_MAX), signal: abortSignal };

/** Calls `abandon` when the time is over or the signal aborts, unless the promise is settled by then. */
export function limitWait(
  timers: JobsTimers,
  options: WaitOptions,
  promise: Promise<unknown>,
  abandon: (error: Error) => void,
  timeoutError: (withinMs: number) => Error,
): void {
  if (options.withinMs === undefined && options.signal === undefined) return;
  const limit = new WaitLimit(timers, options, abandon, timeoutError);
  const end = (): void => limit.end();
  promise.then(end, end);
}

class WaitLimit {
  private readonly signal: AbortSignal | undefined;
  private readonly timer: JobsTimer | undefined;
  private readonly onReached: (error: Error) => void;
  private readonly onAbort = (): void => this.reached(this.signal?.reason as Error);

  constructor(
    timers: JobsTimers,
    { withinMs, signal }: WaitOptions,
    onReached: (error: Error) => void,
    timeoutError: (withinMs: number) => Error,
  ) {
    this.signal = signal;
    this.onReached = onReached;
    this.timer =
      withinMs === undefined
        ? undefined
        : timers.setTimer(withinMs, () => this.reached(timeoutError(withinMs)));
    if (signal?.aborted === true) this.onAbort();
    else signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  end(): void {
    this.timer?.cancel();
    this.signal?.removeEventListener('abort', this.onAbort);
  }

  private reached(error: Error): void {
    this.end();
    this.onReached(error);
  }
}
