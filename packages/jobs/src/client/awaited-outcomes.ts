import type { JobDefinition } from '../job/define-job.js';
import { type Payload, payloadValue } from '../job/payload.js';
import { validateBySchema } from '../job/validate-by-schema.js';
import { JobCancelledError, JobFailedError, JobUnknownError, JobWaitError } from '../jobs-error.js';
import type { JobOutcome } from '../protocol/client-messages.js';
import { Deferred } from './deferred.js';

/** One wait for a job's outcome. Further waits for the same job are linked by `next`. */
export interface OutcomeWaiter {
  readonly definition: JobDefinition;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  next: OutcomeWaiter | undefined;
}

/** `JobHandle.result`: waits for the outcome of a job that has its number. */
export class OutcomeCall extends Deferred implements OutcomeWaiter {
  readonly definition: JobDefinition;
  next: OutcomeWaiter | undefined = undefined;

  constructor(definition: JobDefinition) {
    super();
    this.definition = definition;
  }
}

/** All waits for outcomes at this client. One `await` message to the leader serves all waiters of a job. */
export class AwaitedOutcomes {
  private readonly waiters = new Map<number, OutcomeWaiter>();
  private readonly idOf: (job: number) => string;

  constructor(idOf: (job: number) => string) {
    this.idOf = idOf;
  }

  /** True for the first waiter of a job: the leader has to know. */
  add(job: number, waiter: OutcomeWaiter): boolean {
    const others = this.waiters.get(job);
    waiter.next = others;
    this.waiters.set(job, waiter);
    return others === undefined;
  }

  remove(job: number, waiter: OutcomeWaiter): void {
    const others: OutcomeWaiter[] = [];
    for (let one = this.waiters.get(job); one !== undefined; one = one.next)
      if (one !== waiter) others.push(one);
    this.waiters.delete(job);
    for (const one of others.reverse()) this.add(job, one);
  }

  timeoutError(job: number, withinMs: number): JobWaitError {
    return new JobWaitError(this.idOf(job), withinMs);
  }

  jobs(): number[] {
    return [...this.waiters.keys()];
  }

  settleAll(outcomes: readonly JobOutcome[]): void {
    for (const outcome of outcomes) {
      const first = this.waiters.get(outcome.job);
      if (first === undefined) continue;
      this.waiters.delete(outcome.job);
      for (let waiter: OutcomeWaiter | undefined = first; waiter !== undefined; waiter = waiter.next)
        this.settle(waiter, outcome);
    }
  }

  /** Rejects every waiter. */
  close(error: Error): void {
    for (const first of this.waiters.values()) {
      for (let waiter: OutcomeWaiter | undefined = first; waiter !== undefined; waiter = waiter.next)
        waiter.reject(error);
    }
    this.waiters.clear();
  }

  private settle(waiter: OutcomeWaiter, outcome: JobOutcome): void {
    try {
      waiter.resolve(this.output(waiter.definition, outcome));
    } catch (error) {
      waiter.reject(error as Error);
    }
  }

  private output(definition: JobDefinition, outcome: JobOutcome): unknown {
    const id = outcome.state === 'done' ? '' : this.idOf(outcome.job);
    switch (outcome.state) {
      case 'done':
        return validateBySchema(definition.exec, 'output', definition.output, decode(outcome.result));
      case 'dead':
        throw new JobFailedError(id, outcome.reason, outcome.failure);
      case 'cancelled':
        throw new JobCancelledError(id, outcome.reason);
      case 'unknown':
        throw new JobUnknownError(id);
      default:
        return outcome.state satisfies never;
    }
  }
}

function decode(payload: Payload | undefined): unknown {
  return payload === undefined || payload === '' ? undefined : payloadValue(payload);
}
