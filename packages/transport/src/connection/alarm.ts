import type { Clock } from '../net/clock.js';

/**
 * One timer for a deadline that keeps moving. Moving it later costs nothing: the timer goes off early, `run` looks and sets it anew. So
 * a million frames do not set a million timers.
 */
export class Alarm {
  readonly #clock: Clock;
  readonly #run: () => void;
  #timer: { cancel(): void } | null = null;
  #at = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** Goes off at `at` or before. */
  notLaterThan(at: number): void {
    if (at >= this.#at) return;
    this.cancel();
    this.#at = at;
    this.#timer = this.#clock.setTimer(Math.max(at - this.#clock.now(), 1), () => {
      this.#timer = null;
      this.#at = Number.POSITIVE_INFINITY;
      this.#run();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#at = Number.POSITIVE_INFINITY;
  }
}
