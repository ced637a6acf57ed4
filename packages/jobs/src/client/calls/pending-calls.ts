// Hot path: one of these for every call.
import type { JobDefinition } from '../../job/definition/define-job.js';
import {
  FeedRefusedError,
  FeedWaitError,
  JobRefusedError,
  JobWaitError,
  SubmitWaitError,
} from '../../jobs-error.js';
import type { JobOutcome, Receipt } from '../../protocol/client/client-messages.js';
import type { FeedRefusal } from '../../protocol/feed-messages.js';
import type { FeedReceipt } from '../feed/client-feed.js';
import { JobHandle, type JobOperations, type SubmitReceipt } from '../handles/job-handle.js';
import type { RequestAnswer } from '../machine/client-effects.js';
import { Deferred } from './deferred.js';
import { outputOf } from './output-of-outcome.js';

const NO_JOBS: readonly number[] = [];

/** A call of the user that has no answer yet. Its promise is the caller's; the actor knows its number. */
export abstract class PendingCall extends Deferred {
  /** True: this is all, and the promise is settled. */
  onReceipt(_receipt: Receipt): boolean {
    return false;
  }

  onJobEnded(_outcome: JobOutcome): void {}

  onFeedAnswer(_refusal: FeedRefusal | undefined): void {}

  onAnswer(_answer: RequestAnswer): void {}
}

/** A submit: one receipt, for one job or for a batch. */
export abstract class PendingSubmitCall extends PendingCall {
  protected readonly definition: JobDefinition;
  protected readonly operations: JobOperations;
  /** Empty before the receipt. */
  jobs: readonly number[] = NO_JOBS;

  constructor(operations: JobOperations, definition: JobDefinition) {
    super();
    this.operations = operations;
    this.definition = definition;
  }

  override onReceipt(receipt: Receipt): boolean {
    const { refusal, jobs } = receipt;
    this.jobs = jobs;
    if (refusal === undefined) return this.onAccepted(receipt);
    this.reject(new JobRefusedError(refusal.code, refusal.problem, refusal.retryAfterMs));
    return true;
  }

  protected abstract onAccepted(receipt: Receipt): boolean;

  timeoutError(withinMs: number): Error {
    return new SubmitWaitError(this.definition.exec, withinMs);
  }
}

/** `submit`: resolves with a handle when it has its receipt. */
export class PendingSubmit extends PendingSubmitCall {
  private readonly opensFeed: boolean;

  /** `opensFeed`: from its receipt on this client has the feed of the job open. */
  constructor(
    operations: JobOperations,
    definition: JobDefinition,
    options: { readonly opensFeed: boolean },
  ) {
    super(operations, definition);
    this.opensFeed = options.opensFeed;
  }

  protected override onAccepted(receipt: Receipt): boolean {
    const job = receipt.jobs[0] as number; // one for a single submit
    const feed = this.opensFeed ? this.operations.feedOf(job) : undefined;
    this.resolve(
      new JobHandle(this.operations, this.definition, job, receiptOf(receipt, this.operations), feed),
    );
    return true;
  }
}

/** `submitAll`: one receipt for all of its items. */
export class PendingBatch extends PendingSubmitCall {
  protected override onAccepted(receipt: Receipt): boolean {
    const { operations, definition } = this;
    this.resolve(
      receipt.jobs.map((job) => new JobHandle(operations, definition, job, receiptOf(receipt, operations))),
    );
    return true;
  }
}

/** `run`: waits for the receipt and then for the outcome. */
export class PendingRun extends PendingSubmitCall {
  /** 0 before the receipt. */
  get job(): number {
    return this.jobs[0] ?? 0;
  }

  protected override onAccepted(): boolean {
    return false;
  }

  override onJobEnded(outcome: JobOutcome): void {
    settle(this, this.definition, this.operations, outcome);
  }

  override timeoutError(withinMs: number): Error {
    return this.job === 0
      ? super.timeoutError(withinMs)
      : new JobWaitError(this.operations.idOf(this.job), withinMs);
  }
}

/** `JobHandle.result`: waits for the outcome of a job that has its number. */
export class PendingOutcome extends PendingCall {
  private readonly operations: JobOperations;
  private readonly definition: JobDefinition;
  private readonly job: number;

  constructor(operations: JobOperations, definition: JobDefinition, job: number) {
    super();
    this.operations = operations;
    this.definition = definition;
    this.job = job;
  }

  override onJobEnded(outcome: JobOutcome): void {
    settle(this, this.definition, this.operations, outcome);
  }

  timeoutError(withinMs: number): Error {
    return new JobWaitError(this.operations.idOf(this.job), withinMs);
  }
}

/** `JobHandle.feed`: resolves when the item is in the log. */
export class PendingFeed extends PendingCall {
  private readonly operations: JobOperations;
  private readonly job: number;

  constructor(operations: JobOperations, job: number) {
    super();
    this.operations = operations;
    this.job = job;
  }

  override onFeedAnswer(refusal: FeedRefusal | undefined): void {
    if (refusal === undefined) return this.resolve(ACCEPTED);
    const { code, problem, retryAfterMs } = refusal;
    this.reject(new FeedRefusedError(this.operations.idOf(this.job), code, problem, retryAfterMs));
  }

  timeoutError(withinMs: number): Error {
    return new FeedWaitError(this.operations.idOf(this.job), withinMs);
  }
}

const ACCEPTED: FeedReceipt = { accepted: true };

/** An admin request. */
export class PendingRequest extends PendingCall {
  override onAnswer(answer: RequestAnswer): void {
    this.resolve(answer);
  }
}

function settle(
  call: PendingCall,
  definition: JobDefinition,
  operations: JobOperations,
  outcome: JobOutcome,
): void {
  try {
    call.resolve(outputOf(definition, outcome, operations));
  } catch (error) {
    call.reject(error as Error);
  }
}

function receiptOf({ lsn, duplicate }: Receipt, { level }: JobOperations): SubmitReceipt {
  return { lsn, level, duplicate };
}
