import type { Clock } from '../net/clock.js';

/**
 * One timer for a deadline that keeps moving. Moving it later costs nothing: the timer fires early, and
 * `onDeadline` sets it again. A million frames do not set a million timers.
 */
export class DeadlineTimer {
  private readonly clock: Clock;
  private readonly onDeadline: () => void;
  private timer: { cancel(): void } | null = null;
  private dueAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDeadline: () => void) {
    this.clock = clock;
    this.onDeadline = onDeadline;
  }

  /** Fires at `at` or before. */
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
