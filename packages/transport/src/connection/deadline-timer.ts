import type { Clock } from '../net/clock.js';

/**
 * One timer for a deadline that keeps moving. Moving it later costs nothing: the timer goes off early, `run` looks and sets it anew. So
 * a million frames do not set a million timers.
 */
export class DeadlineTimer {
  private readonly clock: Clock;
  private readonly onDeadline: () => void;
  private timer: { cancel(): void } | null = null;
  private dueAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, run: () => void) {
    this.clock = clock;
    this.onDeadline = run;
  }

  /** Goes off at `at` or before. */
  fireBy(at: number): void {
    if (at >= this.dueAt) return;
    this.cancel();
    this.dueAt = at;
    this.timer = this.clock.setTimer(Math.max(at - this.clock.now(), 1), () => {
      this.timer = null;
      this.dueAt = Number.POSITIVE_INFINITY;
      this.onDeadline();
    });
  }

  cancel(): void {
    this.timer?.cancel();
    this.timer = null;
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
