// Hot path: `submit` and `run` run once per job.
import { wholeNumber } from '@troupe/core/option-check';
import type { JobDefinition, JobInput, JobOutput } from '../job/define-job.js';
import { jobId, parseJobId } from '../job/job-id.js';
import { payloadOfFile } from '../job/node-file-payload.js';
import { withSpoolFile } from '../job/node-spool-file.js';
import type { StoredPayload } from '../job/stored-payload.js';
import {
  ClientClosedError,
  JobUnknownError,
  LeaderChangedError,
  SessionRefusedError,
} from '../jobs-error.js';
import { checkOptions } from '../option-check.js';
import type { JobView, LeaderOverview } from '../protocol/admin-messages.js';
import type { ClientMessage, ToClient } from '../protocol/client-messages.js';
import { AdminCalls } from './admin-calls.js';
import { AwaitedOutcomes, OutcomeCall } from './awaited-outcomes.js';
import type { ClientSetup } from './client-link.js';
import { JobHandle, type JobOperations } from './job-handle.js';
import {
  emptyDraft,
  PendingBatch,
  type PendingCall,
  PendingRun,
  PendingSubmit,
  type SubmitDraft,
} from './pending-submits.js';
import {
  NO_OPTIONS,
  SUBMIT_ALL_OPTIONS,
  SUBMIT_OPTIONS,
  type SubmitOptions,
  SubmitPreparer,
} from './submit-preparer.js';
import { SubmitWindow } from './submit-window.js';
import { limitWait, WAIT_OPTIONS, type WaitOptions } from './wait-limit.js';

export interface ListOptions extends WaitOptions {
  /** The first job is the one behind this number; 0. */
  readonly after?: number | undefined;
  /** 100. */
  readonly max?: number | undefined;
}

const LIST_OPTIONS = { ...WAIT_OPTIONS, after: wholeNumber(0), max: wholeNumber(1) };

/**
 * The client as a state machine without I/O, with promises for its callers. Submits of one turn leave in one
 * message.
 */
export class Client implements JobOperations, AsyncDisposable {
  private readonly setup: ClientSetup;
  private readonly encoder = new SubmitPreparer((message) => this.write(message));
  private readonly window = new SubmitWindow({
    onEntered: () => this.scheduleFlush(),
    onRefused: (ref, refusal) => this.encoder.onRefused(ref, refusal),
  });
  private readonly outcomes = new AwaitedOutcomes((job) => this.idOf(job));
  private readonly calls: AdminCalls;
  private tag: string;
  private isConnected = false;
  private isFlushScheduled = false;
  private closedBy: Error | undefined = undefined;

  constructor(setup: ClientSetup) {
    this.setup = setup;
    this.tag = setup.tag ?? '';
    this.calls = new AdminCalls(setup.host, (message) => this.write(message));
  }

  /** Resolves once the job is on the leader's disk. Waits while too many submits are unanswered. */
  submit<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    const call = new PendingSubmit(this, job);
    this.start(call, input, options);
    return call.promise as Promise<JobHandle<D>>;
  }

  /**
   * The file holds the input as JSON. A large one is read while it is sent, and again if the connection is
   * lost meanwhile: it must not change before the promise settles. Only the worker checks the input.
   */
  async submitFile<D extends JobDefinition>(
    job: D,
    path: string,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    checkOptions('submitFile', options, SUBMIT_OPTIONS);
    const call = new PendingSubmit(this, job);
    this.limit(call, options);
    const encoding = payloadOfFile(path, this.setup.streams === true).then((payload) =>
      this.encoder.usePayload(call.item, job, payload, options),
    );
    this.window.enter(call, encoding);
    return call.promise as Promise<JobHandle<D>>;
  }

  /** As `submitFile` for an input that can be read only once: it goes through a temporary file. */
  submitStream<D extends JobDefinition>(
    job: D,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    return withSpoolFile(chunks, (path) => this.submitFile(job, path, options));
  }

  /** All or none, in one record. */
  async submitAll<D extends JobDefinition>(
    job: D,
    inputs: readonly JobInput<D>[],
    options: Omit<SubmitOptions, 'key'> = NO_OPTIONS,
  ): Promise<JobHandle<D>[]> {
    checkOptions('submitAll', options, SUBMIT_ALL_OPTIONS);
    const items: SubmitDraft[] = [];
    for (const input of inputs) {
      const item = emptyDraft();
      await this.encoder.encode(item, job, input, options);
      items.push(item);
    }
    const call = new PendingBatch(this, job, items);
    this.limit(call, options);
    this.window.enter(call);
    return call.promise as Promise<JobHandle<D>[]>;
  }

  /** Submit, and wait for the output. */
  run<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobOutput<D>> {
    const call = new PendingRun(this.outcomes, job);
    this.start(call, input, options);
    // The output schema has checked the value.
    return call.promise as Promise<JobOutput<D>>;
  }

  private start(call: PendingCall, input: unknown, options: SubmitOptions): void {
    try {
      const encoding = this.encoder.encode(call.item, call.definition, input, options);
      if (options !== NO_OPTIONS) this.limit(call, options);
      this.window.enter(call, encoding);
    } catch (error) {
      // An error of the input's schema or its key function is the caller's answer.
      call.reject(error as Error);
    }
  }

  private limit(call: PendingCall, options: WaitOptions): void {
    const abandon = (error: Error): void => {
      this.window.withdraw(call);
      call.abandon(error);
    };
    limitWait(this.setup.host, options, call.promise, abandon, (withinMs) => call.timeoutError(withinMs));
  }

  /** A handle on a job submitted earlier, perhaps by another process. */
  open<D extends JobDefinition>(job: D, id: string): JobHandle<D> {
    return new JobHandle(this, job, parseJobId(this.tag, id), undefined);
  }

  idOf(job: number): string {
    return jobId(this.tag, job);
  }

  outcome(definition: JobDefinition, job: number, options: WaitOptions): Promise<unknown> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    const call = new OutcomeCall(definition);
    if (this.outcomes.add(job, call)) this.write({ kind: 'await', jobs: [job] });
    const abandon = (error: Error): void => {
      this.outcomes.remove(job, call);
      call.reject(error);
    };
    const timeoutError = (withinMs: number): Error => this.outcomes.timeoutError(job, withinMs);
    limitWait(this.setup.host, options, call.promise, abandon, timeoutError);
    return call.promise;
  }

  async cancel(job: number, reason: string, options: WaitOptions = {}): Promise<JobView['state']> {
    const state = await this.calls.cancel(job, reason, options);
    if (state !== undefined) return state;
    throw new JobUnknownError(this.idOf(job));
  }

  async inspect(job: number, options: WaitOptions = {}): Promise<JobView> {
    const view = await this.calls.inspect(job, options);
    if (view !== undefined) return view;
    throw new JobUnknownError(this.idOf(job));
  }

  /** Rejects with CallWaitError after `withinMs`; as for every call below, 30 s unless given. */
  async overview(options: WaitOptions = {}): Promise<LeaderOverview> {
    checkOptions('overview', options, WAIT_OPTIONS);
    return this.calls.overview(options);
  }

  /** Dead letters, oldest number first. */
  deadLetters(options: ListOptions = {}): Promise<readonly JobView[]> {
    return this.list('dead', options);
  }

  /** Jobs in one state, oldest number first. */
  async list(state: JobView['state'], options: ListOptions = {}): Promise<readonly JobView[]> {
    checkOptions('list', options, LIST_OPTIONS);
    const { after = 0, max = 100 } = options;
    return this.calls.list(state, after, max, options);
  }

  /**
   * Puts dead letters back into the queue, with fresh counts. Resolves with their number. Each is driven
   * once, also where the answer was lost with its connection.
   */
  async redrive(ids: readonly string[], options: WaitOptions = {}): Promise<number> {
    checkOptions('redrive', options, WAIT_OPTIONS);
    return this.calls.redriveOrPurge('redrive', this.numbersOf(ids), options);
  }

  async purge(ids: readonly string[], options: WaitOptions = {}): Promise<number> {
    checkOptions('purge', options, WAIT_OPTIONS);
    return this.calls.redriveOrPurge('purge', this.numbersOf(ids), options);
  }

  connect(): void {
    const { client, token, link } = this.setup;
    this.isConnected = false;
    link.open({ client, token });
  }

  disconnected(): void {
    this.isConnected = false;
  }

  fromLeader(message: ToClient): void {
    switch (message.kind) {
      case 'receipts':
        return this.window.receipts(message.items);
      case 'outcomes':
        return this.outcomes.settleAll(message.items);
      case 'answer':
        return this.calls.answered(message.call, message.answer);
      case 'welcome':
        return this.welcomed(message);
      case 'refused':
        return this.refused(message);
      case 'heartbeat':
        return;
      default:
        return message satisfies never;
    }
  }

  /** A file that cannot be read cannot be sent. */
  payloadLost(payload: StoredPayload, error: Error): void {
    this.window.payloadLost(payload, error.message);
  }

  /** Unanswered submits may or may not have been accepted. */
  close(): void {
    if (this.closedBy === undefined) this.write({ kind: 'close' });
    this.end(new ClientClosedError());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  private numbersOf(ids: readonly string[]): number[] {
    return ids.map((id) => parseJobId(this.tag, id));
  }

  /** A replaced session starts again; a malformed one would be malformed again. */
  private refused(message: ToClient & { kind: 'refused' }): void {
    this.isConnected = false;
    if (message.code === 'ERR_SESSION_MALFORMED')
      return this.end(new SessionRefusedError(message.code, message.problem));
    this.setup.host.setTimer(0, () => {
      if (this.closedBy === undefined) this.connect();
    });
  }

  private end(error: Error): void {
    if (this.closedBy !== undefined) return;
    this.closedBy = error;
    this.isConnected = false;
    this.outcomes.close(error);
    this.window.close(error);
    this.calls.close(error);
    this.setup.link.close?.();
  }

  private welcomed(message: ToClient & { kind: 'welcome' }): void {
    // The same numbers are other jobs there, and a submit that the last leader may have taken must not be
    // taken twice.
    if (this.tag !== '' && this.tag !== message.tag)
      return this.end(new LeaderChangedError(this.tag, message.tag));
    this.isConnected = true;
    this.tag = message.tag;
    this.window.aheadMax = message.outstandingMax;
    this.window.outstandingMax = Math.min(message.outstandingMax, message.inFlightMax ?? Infinity);
    this.encoder.payloadBytesMax = message.payloadBytesMax;
    this.encoder.defineAll();
    this.window.rewind();
    this.scheduleFlush();
    const jobs = this.outcomes.jobs();
    if (jobs.length > 0) this.write({ kind: 'await', jobs });
    this.calls.repeat();
  }

  private write(message: ClientMessage): void {
    if (this.isConnected) this.setup.link.write(message);
  }

  private scheduleFlush(): void {
    if (this.isFlushScheduled || !this.isConnected) return;
    this.isFlushScheduled = true;
    this.setup.host.soon(() => {
      this.isFlushScheduled = false;
      if (this.isConnected) for (const message of this.window.take()) this.setup.link.write(message);
    });
  }
}
