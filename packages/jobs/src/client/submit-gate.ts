// Hot path: `offer` runs once per job.
import type { JobsHost } from '../host.js';
import { type OutstandingBatch, OutstandingJob } from './outstanding.js';
import { type Drafter, NO_OPTIONS, type SubmitOptions } from './submit-encoder.js';
import type { Submitter } from './submitter.js';
import { limitWait, type WaitOptions } from './wait-limit.js';

export interface EntranceSetup {
  readonly host: JobsHost;
  readonly drafter: Drafter;
  readonly submitter: Submitter;
  /** Why nobody is let in any more. */
  readonly closedBy: () => Error | undefined;
  /** Somebody is in, and wants to be sent. */
  readonly onEntered: () => void;
}

/** The way of a submit from its caller to its place among those that are sent. Waits while too many are unanswered. */
export class Entrance {
  private readonly setup: EntranceSetup;

  constructor(setup: EntranceSetup) {
    this.setup = setup;
  }

  /** At once, where nothing has to be waited for. */
  offer(input: unknown, options: SubmitOptions, promise: Promise<unknown>, pending: OutstandingJob): void {
    const { drafter, submitter, closedBy, onEntered } = this.setup;
    try {
      const filling = drafter.fill(pending.item, pending.definition, input, options);
      if (options !== NO_OPTIONS) this.watch(options, promise, pending);
      if (filling !== undefined || submitter.isFull || pending.answered) return this.enter(filling, pending);
      const closed = closedBy();
      if (closed !== undefined) throw closed;
      submitter.add(pending);
      onEntered();
    } catch (error) {
      // What the input's schema or its key function throws is the caller's answer.
      pending.reject(error as Error);
    }
  }

  /** Once it is filled and there is room, unless its caller has left by then. */
  enter(filling: Promise<void> | undefined, pending: OutstandingJob | OutstandingBatch): void {
    const { submitter, onEntered } = this.setup;
    const entering = async (): Promise<void> => {
      await filling;
      await this.room();
      // Its place is somebody else's.
      if (pending.answered) return submitter.letIn();
      if (pending instanceof OutstandingJob) submitter.add(pending);
      else submitter.addAll(pending);
      onEntered();
    };
    entering().catch((error: unknown) => pending.reject(error as Error));
  }

  /** A caller with a limit may leave before its submit is answered. */
  watch(options: WaitOptions, promise: Promise<unknown>, pending: OutstandingJob | OutstandingBatch): void {
    const { host, submitter } = this.setup;
    const leave = (error: Error): void => {
      submitter.withdraw(pending);
      pending.leave(error);
    };
    limitWait(host, options, promise, leave, (withinMs) => pending.late(withinMs));
  }

  private async room(): Promise<void> {
    const { submitter, closedBy } = this.setup;
    while (submitter.isFull && closedBy() === undefined) await submitter.room();
    const closed = closedBy();
    if (closed !== undefined) throw closed;
  }
}
