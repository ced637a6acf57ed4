import type { JobsTimers } from '../jobs-host.js';

/** After the deadline, for the leader to acknowledge the last ends and for runners to be unloaded. */
const LAST_MS = 1_000;

export interface DrainSteps {
  /** The deadline is over: attempts are handed back. */
  releaseAll(): void;
  /** No attempt is held: warm runners are unloaded, then `done` is called. */
  closeRunners(done: () => void): void;
  drained(): void;
}

/**
 * The end of a worker in order: its attempts end or are handed back, then its warm runners are unloaded, then
 * it stops; at the latest a second after the deadline.
 */
export class WorkerDrain {
  private readonly timers: JobsTimers;
  private readonly steps: DrainSteps;
  /** The next step, once no attempt is held. */
  private next: (() => void) | undefined = undefined;

  constructor(timers: JobsTimers, steps: DrainSteps) {
    this.timers = timers;
    this.steps = steps;
  }

  start(deadlineMs: number): void {
    const deadline = this.timers.setTimer(deadlineMs, () => this.steps.releaseAll());
    const last = this.timers.setTimer(deadlineMs + LAST_MS, () => this.next?.());
    const end = (): void => {
      this.next = undefined;
      last.cancel();
      this.steps.drained();
    };
    this.next = () => {
      deadline.cancel();
      this.next = end;
      this.steps.closeRunners(end);
    };
  }

  /** No attempt is held. */
  emptied(): void {
    this.next?.();
  }
}
