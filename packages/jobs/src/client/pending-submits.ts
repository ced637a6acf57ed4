// Hot path: one of these for every submit.
import type { JobDefinition } from '../job/define-job.js';
import { EMPTY_PAYLOAD } from '../job/payload.js';
import { JobRefusedError, SubmitWaitError } from '../jobs-error.js';
import type { Receipt, SubmitItem } from '../protocol/client-messages.js';
import type { AwaitedOutcomes, OutcomeWaiter } from './awaited-outcomes.js';
import { Deferred } from './deferred.js';
import { JobHandle, type JobOperations, type SubmitReceipt } from './job-handle.js';

/** A submit that is still being filled. */
export type SubmitDraft = { -readonly [Field in keyof SubmitItem]: SubmitItem[Field] };

export function emptyDraft(wantsOutcome = false): SubmitDraft {
  return { seq: 0, ref: 0, payload: EMPTY_PAYLOAD, key: '', delayMs: 0, wantsOutcome };
}

/** A call of the client whose submit has no receipt yet. Its promise is the caller's. */
export abstract class PendingCall extends Deferred {
  readonly definition: JobDefinition;
  readonly item: SubmitDraft;
  /** It has its receipt, or its caller waits no longer. */
  isAnswered = false;

  constructor(definition: JobDefinition, item: SubmitDraft) {
    super();
    this.definition = definition;
    this.item = item;
  }

  onReceipt(receipt: Receipt): void {
    const { refusal } = receipt;
    if (refusal === undefined) this.onAccepted(receipt);
    else this.reject(new JobRefusedError(refusal.code, refusal.problem, refusal.retryAfterMs));
  }

  protected abstract onAccepted(receipt: Receipt): void;

  /** The caller waits no longer. */
  abandon(error: Error): void {
    this.reject(error);
  }

  timeoutError(withinMs: number): Error {
    return new SubmitWaitError(this.definition.exec, withinMs);
  }
}

/** `submit`: resolves with a handle when it has its receipt. */
export class PendingSubmit extends PendingCall {
  private readonly operations: JobOperations;

  constructor(operations: JobOperations, definition: JobDefinition) {
    super(definition, emptyDraft());
    this.operations = operations;
  }

  protected override onAccepted(receipt: Receipt): void {
    const job = receipt.jobs[0] as number; // one for a single submit
    this.resolve(new JobHandle(this.operations, this.definition, job, receiptOf(receipt)));
  }
}

/** `submitAll`: one receipt for all of its items. */
export class PendingBatch extends PendingCall {
  readonly items: readonly SubmitDraft[];
  private readonly operations: JobOperations;

  constructor(operations: JobOperations, definition: JobDefinition, items: readonly SubmitDraft[]) {
    super(definition, items[0] ?? emptyDraft());
    this.operations = operations;
    this.items = items;
  }

  protected override onAccepted(receipt: Receipt): void {
    const { operations, definition } = this;
    this.resolve(receipt.jobs.map((job) => new JobHandle(operations, definition, job, receiptOf(receipt))));
  }
}

/** `run`: waits for the receipt and then, as the same object, for the outcome. */
export class PendingRun extends PendingCall implements OutcomeWaiter {
  next: OutcomeWaiter | undefined = undefined;
  /** 0 before the receipt. */
  private job = 0;
  private readonly outcomes: AwaitedOutcomes;

  constructor(outcomes: AwaitedOutcomes, definition: JobDefinition) {
    super(definition, emptyDraft(true));
    this.outcomes = outcomes;
  }

  /** Waits for the outcome from now on: it may follow in the next message. */
  protected override onAccepted(receipt: Receipt): void {
    // It is on the leader's disk and will not be sent again: the payload need not stay in memory.
    this.item.payload = EMPTY_PAYLOAD;
    this.job = receipt.jobs[0] as number; // one for a single submit
    this.outcomes.add(this.job, this);
  }

  override abandon(error: Error): void {
    if (this.job !== 0) this.outcomes.remove(this.job, this);
    super.abandon(error);
  }

  override timeoutError(withinMs: number): Error {
    return this.job === 0 ? super.timeoutError(withinMs) : this.outcomes.timeoutError(this.job, withinMs);
  }
}

function receiptOf({ lsn, duplicate }: Receipt): SubmitReceipt {
  return { lsn, level: 'fsync', duplicate };
}
