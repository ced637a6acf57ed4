import type { JobDefinition } from '../job/define-job.js';
import { JobRefusedError } from '../jobs-error.js';
import type { Receipt } from '../protocol/client-messages.js';
import { type HandleDesk, JobHandle, type SubmitReceipt } from './job-handle.js';
import type { Outcomes, Waiter } from './outcomes.js';
import { Outstanding } from './submitter.js';

/** A submit that somebody waits for. */
export interface Pending extends Outstanding {
  readonly definition: JobDefinition;
}

/** A `run` on its way: first it waits for the receipt, then for the outcome, as one object. */
export class PendingRun extends Outstanding implements Pending, Waiter {
  readonly definition: JobDefinition;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  next: Waiter | undefined = undefined;
  private readonly outcomes: Outcomes;

  constructor(
    outcomes: Outcomes,
    definition: JobDefinition,
    resolve: (value: unknown) => void,
    reject: (error: Error) => void,
  ) {
    super(true);
    this.outcomes = outcomes;
    this.definition = definition;
    this.resolve = resolve;
    this.reject = reject;
  }

  /** At once: the outcome may be right behind the receipt. */
  settled(receipt: Receipt): void {
    const error = problemOf(receipt);
    if (error !== undefined) this.reject(error);
    else this.outcomes.add(receipt.jobs[0] as number, this);
  }
}

export class PendingSubmit<D extends JobDefinition> extends Outstanding implements Pending {
  readonly definition: D;
  readonly reject: (error: Error) => void;
  private readonly desk: HandleDesk;
  private readonly resolve: (handle: JobHandle<D>) => void;

  constructor(
    desk: HandleDesk,
    definition: D,
    resolve: (handle: JobHandle<D>) => void,
    reject: (error: Error) => void,
  ) {
    super(false);
    this.desk = desk;
    this.definition = definition;
    this.resolve = resolve;
    this.reject = reject;
  }

  settled(receipt: Receipt): void {
    const error = problemOf(receipt);
    if (error !== undefined) this.reject(error);
    else
      this.resolve(new JobHandle(this.desk, this.definition, receipt.jobs[0] as number, receiptOf(receipt)));
  }
}

export function problemOf(receipt: Receipt): Error | undefined {
  if (receipt.refusal === undefined) return undefined;
  const { code, problem, retryAfterMs } = receipt.refusal;
  return new JobRefusedError(code, problem, retryAfterMs);
}

export function receiptOf(receipt: Receipt): SubmitReceipt {
  return { lsn: receipt.lsn, level: 'fsync', duplicate: receipt.duplicate };
}
