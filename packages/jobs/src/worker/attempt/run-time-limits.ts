import type { JobsTimer, JobsTimers } from '../../jobs-host.js';
import type { Attempt } from './attempt.js';

/**
 * The limits of run time and silence of all running attempts. One timer, at the earliest deadline; it finds
 * the next when it fires.
 */
export class RunTimeLimits {
  private readonly timers: JobsTimers;
  private readonly running: ReadonlyMap<number, Attempt>;
  private readonly onExceeded: (attempt: Attempt) => void;
  private timer: JobsTimer | undefined = undefined;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(
    timers: JobsTimers,
    running: ReadonlyMap<number, Attempt>,
    onExceeded: (attempt: Attempt) => void,
  ) {
    this.timers = timers;
    this.running = running;
    this.onExceeded = onExceeded;
  }

  watch(deadline: number): void {
    if (deadline >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = deadline;
    this.timer = this.timers.setTimer(Math.max(0, deadline - this.timers.now()), () => this.check());
  }

  cancel(): void {
    this.timer?.cancel();
  }

  private check(): void {
    const now = this.timers.now();
    let next = Number.POSITIVE_INFINITY;
    for (const attempt of this.running.values()) {
      if (attempt.deadline <= now || attempt.isSilent(now)) this.onExceeded(attempt);
      else next = Math.min(next, attempt.nextCheckAt(now));
    }
    this.timerAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.watch(next);
  }
}
