import type { JobDefinition } from '../job/define-job.js';
import { type Payload, payloadValue } from '../job/payload.js';
import { checkValue } from '../job/schema-check.js';
import { JobCancelledError, JobFailedError, JobUnknownError, JobWaitError } from '../jobs-error.js';
import type { JobOutcome } from '../protocol/client-messages.js';

/** One who waits; the others of the same job hang on `next`. */
export interface Waiter {
  readonly definition: JobDefinition;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  next: Waiter | undefined;
}

/** Who waits for which job here. One question to the leader serves all waiters of a job. */
export class Outcomes {
  private readonly waiters = new Map<number, Waiter>();
  private readonly idOf: (job: number) => string;

  constructor(idOf: (job: number) => string) {
    this.idOf = idOf;
  }

  /** True for the first of a job: the leader must be asked. */
  add(job: number, waiter: Waiter): boolean {
    const others = this.waiters.get(job);
    waiter.next = others;
    this.waiters.set(job, waiter);
    return others === undefined;
  }

  /** It waits no longer. */
  remove(job: number, waiter: Waiter): void {
    const first = this.waiters.get(job);
    this.waiters.delete(job);
    const others: Waiter[] = [];
    for (let one = first; one !== undefined; one = one.next) if (one !== waiter) others.push(one);
    for (const one of others.reverse()) this.add(job, one);
  }

  late(job: number, withinMs: number): JobWaitError {
    return new JobWaitError(this.idOf(job), withinMs);
  }

  jobs(): number[] {
    return [...this.waiters.keys()];
  }

  settleAll(outcomes: readonly JobOutcome[]): void {
    for (const outcome of outcomes) {
      if (this.waiters.size === 0) return;
      const first = this.waiters.get(outcome.job);
      this.waiters.delete(outcome.job);
      for (let waiter = first; waiter !== undefined; waiter = waiter.next) this.settle(waiter, outcome);
    }
  }

  private settle(waiter: Waiter, outcome: JobOutcome): void {
    try {
      waiter.resolve(this.value(waiter.definition, outcome));
    } catch (error) {
      waiter.reject(error as Error);
    }
  }

  abandon(error: Error): void {
    for (const first of this.waiters.values()) {
      for (let waiter: Waiter | undefined = first; waiter !== undefined; waiter = waiter.next)
        waiter.reject(error);
    }
    this.waiters.clear();
  }

  private value(definition: JobDefinition, outcome: JobOutcome): unknown {
    const id = outcome.state === 'done' ? '' : this.idOf(outcome.job);
    switch (outcome.state) {
      case 'done':
        return checkValue(definition.exec, 'output', definition.output, decode(outcome.result));
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
