import type { JobsHost, JobsTimer } from '../host.js';
import { type Check, numberWithin } from '../option-check.js';

/** How long a caller waits. Whatever it waits for goes on without it. */
export interface WaitOptions {
  /** Rejects after so many milliseconds. */
  readonly withinMs?: number;
  /** Rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a timer can wait. */
const WITHIN_MS_MAX = 2 ** 31 - 1;

const isSignal: Check = (value) => (value instanceof AbortSignal ? undefined : 'must be an AbortSignal');

export const WAIT_OPTIONS = { withinMs: numberWithin(0, WITHIN_MS_MAX), signal: isSignal };

/** The wait for a promise, where it has a limit: `leave` is told when it is reached, with `late` for its time and the signal's reason else. */
export function limitWait(
  host: JobsHost,
  options: WaitOptions,
  promise: Promise<unknown>,
  leave: (error: Error) => void,
  late: (withinMs: number) => Error,
): void {
  if (options.withinMs === undefined && options.signal === undefined) return;
  const patience = new Patience(host, options, leave, late);
  const end = (): void => patience.end();
  promise.then(end, end);
}

/** Watches one wait: the first of time and signal ends it, unless it has ended by then. */
class Patience {
  private readonly signal: AbortSignal | undefined;
  private readonly timer: JobsTimer | undefined;
  private readonly onOver: (error: Error) => void;
  private readonly aborted = (): void => this.over(this.signal?.reason as Error);

  constructor(
    host: JobsHost,
    { withinMs, signal }: WaitOptions,
    onOver: (error: Error) => void,
    late: (withinMs: number) => Error,
  ) {
    this.signal = signal;
    this.onOver = onOver;
    this.timer =
      withinMs === undefined ? undefined : host.setTimer(withinMs, () => this.over(late(withinMs)));
    if (signal?.aborted === true) this.aborted();
    else signal?.addEventListener('abort', this.aborted, { once: true });
  }

  end(): void {
    this.timer?.cancel();
    this.signal?.removeEventListener('abort', this.aborted);
  }

  private over(error: Error): void {
    this.end();
    this.onOver(error);
  }
}
