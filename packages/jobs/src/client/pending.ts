import type { JobDefinition } from '../job/define-job.js';
import { EMPTY_PAYLOAD } from '../job/payload.js';
import { JobRefusedError, SubmitWaitError } from '../jobs-error.js';
import type { Receipt } from '../protocol/client-messages.js';
import { type HandleDesk, JobHandle, type SubmitReceipt } from './job-handle.js';
import type { Outcomes, Waiter } from './outcomes.js';
import { type Draft, Outstanding, OutstandingBatch } from './submitter.js';

/** A submit that somebody waits for. */
export interface Pending {
  readonly definition: JobDefinition;
  readonly answered: boolean;
  /** The caller waits no longer. */
  leave(error: Error): void;
  /** What it is told when its time is over. */
  late(withinMs: number): Error;
}

/** A `run` on its way: first it waits for the receipt, then for the outcome, as one object. */
export class PendingRun extends Outstanding implements Pending, Waiter {
  readonly definition: JobDefinition;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  next: Waiter | undefined = undefined;
  /** Once it is taken. */
  private job = 0;
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
    if (error !== undefined) return this.reject(error);
    // The leader has it on its disk: it will not be sent again, and need not wait here for the outcome.
    this.item.payload = EMPTY_PAYLOAD;
    this.job = receipt.jobs[0] as number;
    this.outcomes.add(this.job, this);
  }

  leave(error: Error): void {
    if (this.job !== 0) this.outcomes.remove(this.job, this);
    this.reject(error);
  }

  late(withinMs: number): Error {
    if (this.job === 0) return new SubmitWaitError(this.definition.exec, withinMs);
    return this.outcomes.late(this.job, withinMs);
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

  leave(error: Error): void {
    this.reject(error);
  }

  late(withinMs: number): Error {
    return new SubmitWaitError(this.definition.exec, withinMs);
  }
}

export class PendingBatch<D extends JobDefinition> extends OutstandingBatch implements Pending {
  readonly definition: D;
  readonly reject: (error: Error) => void;
  private readonly desk: HandleDesk;
  private readonly resolve: (handles: JobHandle<D>[]) => void;

  constructor(
    desk: HandleDesk,
    definition: D,
    items: readonly Draft[],
    resolve: (handles: JobHandle<D>[]) => void,
    reject: (error: Error) => void,
  ) {
    super(items);
    this.desk = desk;
    this.definition = definition;
    this.resolve = resolve;
    this.reject = reject;
  }

  settled(receipt: Receipt): void {
    const error = problemOf(receipt);
    if (error !== undefined) return this.reject(error);
    const { desk, definition } = this;
    this.resolve(receipt.jobs.map((no) => new JobHandle(desk, definition, no, receiptOf(receipt))));
  }

  leave(error: Error): void {
    this.reject(error);
  }

  late(withinMs: number): Error {
    return new SubmitWaitError(this.definition.exec, withinMs);
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
