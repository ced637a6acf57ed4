import type { JobDefinition, JobOutput } from '../job/define-job.js';
import { checkOptions } from '../option-check.js';
import type { JobView } from '../protocol/admin-messages.js';
import { WAIT_OPTIONS, type WaitOptions } from './wait-limit.js';

/** The durability of a submit. */
export interface SubmitReceipt {
  /** Position in the leader's log. */
  readonly lsn: number;
  /** Always on the disk. */
  readonly level: 'fsync';
  /** The job existed already: same key, or the same submit sent twice. */
  readonly duplicate: boolean;
}

/** The part of a client that a handle uses. */
export interface JobOperations {
  idOf(job: number): string;
  outcome(definition: JobDefinition, job: number, options: WaitOptions): Promise<unknown>;
  cancel(job: number, reason: string, options: WaitOptions): Promise<JobView['state']>;
  inspect(job: number, options: WaitOptions): Promise<JobView>;
}

/** One job. Can be opened again by its id, by another process, after a restart. */
export class JobHandle<D extends JobDefinition> {
  /** The durability of the submit; undefined for a handle of `open`. */
  readonly receipt: SubmitReceipt | undefined;
  private readonly operations: JobOperations;
  private readonly definition: D;
  private readonly job: number;

  constructor(operations: JobOperations, definition: D, job: number, receipt: SubmitReceipt | undefined) {
    this.operations = operations;
    this.definition = definition;
    this.job = job;
    this.receipt = receipt;
  }

  /** For people and for `client.open`. */
  get id(): string {
    return this.operations.idOf(this.job);
  }

  /**
   * The output, once there is one. Rejects with JobFailedError, JobCancelledError, JobUnknownError or
   * JobWaitError.
   */
  async result(options: WaitOptions = {}): Promise<JobOutput<D>> {
    checkOptions('result', options, WAIT_OPTIONS);
    // The output schema of this definition has checked the value.
    return this.operations.outcome(this.definition, this.job, options) as Promise<JobOutput<D>>;
  }

  /**
   * Idempotent. Resolves with the state of the job: 'cancelled', unless it had ended before. Rejects with
   * CallWaitError after `withinMs`, 30 s unless given.
   */
  async cancel(reason = '', options: WaitOptions = {}): Promise<JobView['state']> {
    checkOptions('cancel', options, WAIT_OPTIONS);
    return this.operations.cancel(this.job, reason, options);
  }

  /** Rejects with CallWaitError after `withinMs`, 30 s unless given. */
  async inspect(options: WaitOptions = {}): Promise<JobView> {
    checkOptions('inspect', options, WAIT_OPTIONS);
    return this.operations.inspect(this.job, options);
  }
}
