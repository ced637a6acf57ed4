import type { JobDefinition } from '../job/define-job.js';
import { EMPTY_PAYLOAD } from '../job/payload.js';
import { JobRefusedError } from '../jobs-error.js';
import type { Receipt } from '../protocol/client-messages.js';
import { JobHandle, type JobOperations, type SubmitReceipt } from './job-handle.js';
import type { Outcomes, Waiter } from './outcomes.js';
import { type Caller, type Draft, OutstandingBatch, OutstandingJob } from './outstanding.js';

/** A `run` on its way: first it waits for the receipt, then for the outcome, as one object. */
export class PendingRun extends OutstandingJob implements Waiter {
  next: Waiter | undefined = undefined;
  /** Once it is taken. */
  private job = 0;
  private readonly outcomes: Outcomes;

  constructor(outcomes: Outcomes, definition: JobDefinition, caller: Caller) {
    super(true, definition, caller);
    this.outcomes = outcomes;
  }

  /** At once: the outcome may be right behind the receipt. */
  override settled(receipt: Receipt): void {
    const error = problemOf(receipt);
    if (error !== undefined) return this.reject(error);
    // The leader has it on its disk: it will not be sent again, and need not wait here for the outcome.
    this.item.payload = EMPTY_PAYLOAD;
    this.job = receipt.jobs[0] as number;
    this.outcomes.add(this.job, this);
  }

  override leave(error: Error): void {
    if (this.job !== 0) this.outcomes.remove(this.job, this);
    super.leave(error);
  }

  override late(withinMs: number): Error {
    return this.job === 0 ? super.late(withinMs) : this.outcomes.late(this.job, withinMs);
  }
}

export class PendingSubmit extends OutstandingJob {
  private readonly operations: JobOperations;

  constructor(operations: JobOperations, definition: JobDefinition, caller: Caller) {
    super(false, definition, caller);
    this.operations = operations;
  }

  override settled(receipt: Receipt): void {
    const error = problemOf(receipt);
    if (error !== undefined) return this.reject(error);
    this.resolve(
      new JobHandle(this.operations, this.definition, receipt.jobs[0] as number, receiptOf(receipt)),
    );
  }
}

export class PendingBatch extends OutstandingBatch {
  private readonly operations: JobOperations;

  constructor(operations: JobOperations, items: readonly Draft[], definition: JobDefinition, caller: Caller) {
    super(items, definition, caller);
    this.operations = operations;
  }

  override settled(receipt: Receipt): void {
    const error = problemOf(receipt);
    if (error !== undefined) return this.reject(error);
    const { operations, definition } = this;
    this.resolve(receipt.jobs.map((no) => new JobHandle(operations, definition, no, receiptOf(receipt))));
  }
}

function problemOf(receipt: Receipt): Error | undefined {
  if (receipt.refusal === undefined) return undefined;
  const { code, problem, retryAfterMs } = receipt.refusal;
  return new JobRefusedError(code, problem, retryAfterMs);
}

function receiptOf(receipt: Receipt): SubmitReceipt {
  return { lsn: receipt.lsn, level: 'fsync', duplicate: receipt.duplicate };
}
