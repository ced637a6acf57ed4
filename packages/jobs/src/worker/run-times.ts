import type { JobsHost, JobsTimer } from '../host.js';
import type { Attempt } from './attempt.js';

/** The run-time limits of the attempts that run. One timer for all: it stands at the earliest deadline, and finds the next when it fires. */
export class RunTimes {
  private readonly host: JobsHost;
  private readonly running: ReadonlyMap<number, Attempt>;
  private readonly onOver: (attempt: Attempt) => void;
  private timer: JobsTimer | undefined = undefined;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(host: JobsHost, running: ReadonlyMap<number, Attempt>, onOver: (attempt: Attempt) => void) {
    this.host = host;
    this.running = running;
    this.onOver = onOver;
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
      if (attempt.deadline <= now) this.onOver(attempt);
      else next = Math.min(next, attempt.deadline);
    }
    this.timerAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.watch(next);
  }
}
