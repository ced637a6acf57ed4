import type { JobsHost, JobsTimer } from '../../jobs-host.js';
import type { Attempt } from './attempt.js';

/**
 * The run-time limits of all running attempts. One timer, at the earliest deadline; it finds the next when it
 * fires.
 */
export class RunTimeLimits {
  private readonly host: JobsHost;
  private readonly running: ReadonlyMap<number, Attempt>;
  private readonly onExceeded: (attempt: Attempt) => void;
  private timer: JobsTimer | undefined = undefined;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(host: JobsHost, running: ReadonlyMap<number, Attempt>, onExceeded: (attempt: Attempt) => void) {
    this.host = host;
    this.running = running;
    this.onExceeded = onExceeded;
  }

  watch(deadline: number): void {
    if (deadline >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = deadline;
    this.timer = this.host.setTimer(Math.max(0, deadline - this.host.now()), () => this.check());
  }

  cancel(): void {
    this.timer?.cancel();
  }

  private check(): void {
    const now = this.host.now();
    let next = Number.POSITIVE_INFINITY;
    for (const attempt of this.running.values()) {
      if (attempt.deadline <= now) this.onExceeded(attempt);
      else next = Math.min(next, attempt.deadline);
    }
    this.timerAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.watch(next);
  }
}
