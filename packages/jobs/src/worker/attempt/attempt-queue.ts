import { Ring } from '../../collections/ring.js';
import type { JobsTimer, JobsTimers } from '../../jobs-host.js';
import type { Attempt } from './attempt.js';

/**
 * Ten times the planned time of a batch: then its jobs are not short, and others should have those that have
 * not begun.
 */
export const QUEUED_MS_MAX = 20;

/** For a thread instead of a slot: some times what a thread needs to start. */
export const QUEUED_FOR_THREAD_MS_MAX = 200;

/** Attempts that wait for a slot, oldest first (ADR 0410). */
export class AttemptQueue {
  private readonly timers: JobsTimers;
  private readonly queuedMsMax: number;
  private readonly onOverdue: (attempt: Attempt) => void;
  private waiting = new Ring<Attempt>();
  private timer: JobsTimer | undefined = undefined;

  /** `onOverdue`: it has waited for as long as it may, and is no longer in the queue. */
  constructor(timers: JobsTimers, queuedMsMax: number, onOverdue: (attempt: Attempt) => void) {
    this.timers = timers;
    this.queuedMsMax = queuedMsMax;
    this.onOverdue = onOverdue;
  }

  push(attempt: Attempt): void {
    this.waiting.push(attempt);
    this.timer ??= this.checkIn(this.queuedMsMax);
  }

  /** The next that has not ended in the queue. */
  peek(): Attempt | undefined {
    let attempt = this.waiting.peek();
    while (attempt?.isOver === true) {
      this.waiting.shift();
      attempt = this.waiting.peek();
    }
    return attempt;
  }

  /** Takes it out. */
  shift(): Attempt | undefined {
    const attempt = this.peek();
    if (attempt !== undefined) this.waiting.shift();
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
      const restMs = first.since + this.queuedMsMax - now;
      if (restMs > 0) {
        this.timer = this.checkIn(restMs);
        return;
      }
      this.waiting.shift();
      if (!first.isOver) this.onOverdue(first);
    }
  }
}
