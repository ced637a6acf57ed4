import { Ring } from '../../collections/ring.js';
import type { JobsTimer, JobsTimers } from '../../jobs-host.js';
import type { Attempt } from './attempt.js';

/**
 * Ten times the planned time of a batch: then its jobs are not short, and others should have those that have
 * not begun.
 */
export const QUEUED_MS_MAX = 20;

/** Attempts that wait for a slot, oldest first (ADR 0410). */
export class AttemptQueue {
  private readonly timers: JobsTimers;
  private readonly onOverdue: (attempt: Attempt) => void;
  private waiting = new Ring<Attempt>();
  private timer: JobsTimer | undefined = undefined;

  /** `onOverdue`: it has waited for as long as it may, and is no longer in the queue. */
  constructor(timers: JobsTimers, onOverdue: (attempt: Attempt) => void) {
    this.timers = timers;
    this.onOverdue = onOverdue;
  }

  push(attempt: Attempt): void {
    this.waiting.push(attempt);
    this.timer ??= this.checkIn(QUEUED_MS_MAX);
  }

  /** The next that has not ended in the queue. */
  shift(): Attempt | undefined {
    let attempt = this.waiting.shift();
    while (attempt?.isOver === true) attempt = this.waiting.shift();
    return attempt;
  }

  clear(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.waiting = new Ring();
  }

  private checkIn(ms: number): JobsTimer {
    return this.timers.setTimer(ms, () => {
      this.timer = undefined;
      this.check();
    });
  }

  private check(): void {
    const now = this.timers.now();
    for (let first = this.waiting.peek(); first !== undefined; first = this.waiting.peek()) {
      const restMs = first.since + QUEUED_MS_MAX - now;
      if (restMs > 0) {
        this.timer = this.checkIn(restMs);
        return;
      }
      this.waiting.shift();
      if (!first.isOver) this.onOverdue(first);
    }
  }
}
