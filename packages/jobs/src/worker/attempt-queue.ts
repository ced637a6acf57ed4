import { Ring } from '../collections/ring.js';
import type { JobsHost, JobsTimer } from '../host.js';
import type { Attempt } from './attempt.js';

/** Ten times what was planned for a row: then its jobs are not short, and others should have those that have not begun. */
export const QUEUED_MS_MAX = 20;

/** Attempts that came before there was a slot for them, oldest first (ADR 0138). */
export class Line {
  private readonly host: JobsHost;
  private readonly onLate: (attempt: Attempt) => void;
  private waiting = new Ring<Attempt>();
  private timer: JobsTimer | undefined = undefined;

  /** `onLate`: it has waited for as long as it may, and has left the line. */
  constructor(host: JobsHost, onLate: (attempt: Attempt) => void) {
    this.host = host;
    this.onLate = onLate;
  }

  join(attempt: Attempt): void {
    this.waiting.push(attempt);
    this.timer ??= this.lookIn(QUEUED_MS_MAX);
  }

  /** The next that has not been ended where it stood. */
  next(): Attempt | undefined {
    let attempt = this.waiting.shift();
    while (attempt?.isOver === true) attempt = this.waiting.shift();
    return attempt;
  }

  /** Nobody in it begins any more. */
  clear(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.waiting = new Ring();
  }

  private lookIn(ms: number): JobsTimer {
    return this.host.setTimer(ms, () => {
      this.timer = undefined;
      this.look();
    });
  }

  private look(): void {
    const now = this.host.now();
    for (let first = this.waiting.peek(); first !== undefined; first = this.waiting.peek()) {
      const restMs = first.since + QUEUED_MS_MAX - now;
      if (restMs > 0) {
        this.timer = this.lookIn(restMs);
        return;
      }
      this.waiting.shift();
      if (!first.isOver) this.onLate(first);
    }
  }
}
