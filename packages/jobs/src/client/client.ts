// Hot path: `submit` and `run` run once per job.
import type { Host } from '@troupe/core';
import { checkOption, wholeNumber } from '@troupe/core/option-check';
import type { JobDefinition, JobInput, JobOutput } from '../job/definition/define-job.js';
import { jobId, parseJobId } from '../job/job-id.js';
import { payloadOfFile } from '../job/payload/node-file-payload.js';
import { withSpoolFile } from '../job/payload/node-spool-file.js';
import type { TraceContext } from '../job/trace-context.js';
import { ClientClosedError, JobUnknownError } from '../jobs-error.js';
import type { JobsTimers } from '../jobs-host.js';
import { checkOptions, definitionError, plainName } from '../option-check.js';
import type { LeaderActors } from '../protocol/client/actors-view.js';
import {
  type AdminRequest,
  BULK_JOBS_MAX,
  INPUT_PART_BYTES_MAX,
  type JobView,
  type LeaderOverview,
  type QueueView,
} from '../protocol/client/admin-messages.js';
import type { DurabilityLevel } from '../protocol/client/client-messages.js';
import type { DeadLetterGroup } from '../protocol/client/dead-letter-messages.js';
import type { JobExplanation } from '../protocol/client/explain-messages.js';
import type {
  AuditView,
  ClientView,
  FoundJobs,
  LeaderStatsView,
} from '../protocol/client/operator-messages.js';
import type { JobFilter } from '../protocol/client/search-messages.js';
import type { StreamPosition } from '../protocol/stream-messages.js';
import { AdminCalls } from './calls/admin-calls.js';
import { CallOutbox } from './calls/call-outbox.js';
import type { CallTable } from './calls/call-table.js';
import {
  type AuditOptions,
  type CancelReport,
  type CancelWhereOptions,
  type GroupOptions,
  OperatorCalls,
  type RedriveOptions,
  type RedriveReport,
  type SearchOptions,
} from './calls/operator-calls.js';
import {
  PendingBatch,
  PendingFeed,
  PendingOutcome,
  PendingRequest,
  PendingRun,
  PendingSubmit,
  type PendingSubmitCall,
} from './calls/pending-calls.js';
import { limitWait, WAIT_OPTIONS, type WaitOptions } from './calls/wait-limit.js';
import type { ClientCalls } from './client-protocol.js';
import type { ClientTracing } from './client-tracing.js';
import type { ClientFeed, FeedReceipt } from './feed/client-feed.js';
import type { ClientFeeds } from './feed/client-feeds.js';
import { type FeedOptions, JobHandle, type JobOperations } from './handles/job-handle.js';
import { inputView, type JobInputView } from './handles/job-input-view.js';
import { QueueHandle } from './handles/queue-handle.js';
import { Schedules } from './handles/schedules.js';
import { Workers } from './handles/workers.js';
import type { RequestAnswer } from './machine/client-effects.js';
import { emptyDraft, emptyItem, type ItemDraft, type SubmitDraft } from './machine/submit-draft.js';
import type { OpenReader, ReaderTable } from './stream/reader-table.js';
import type { StreamHead } from './stream/stream-head.js';
import {
  NO_OPTIONS,
  SUBMIT_ALL_OPTIONS,
  SUBMIT_OPTIONS,
  type SubmitOptions,
  SubmitPreparer,
} from './submit/submit-preparer.js';

export interface ListOptions extends WaitOptions {
  /** The first job is the one behind this number. Default 0. */
  readonly after?: number | undefined;
  /** At most so many jobs. Default 100. */
  readonly max?: number | undefined;
}

const LIST_OPTIONS = { ...WAIT_OPTIONS, after: wholeNumber(0), max: wholeNumber(1) };

export interface ClientSetup {
  readonly host: JobsTimers & Pick<Host, 'soon' | 'wallNow'>;
  /** The way to the client's actor, and the way back. */
  readonly calls: ClientCalls;
  readonly table: CallTable;
  readonly readers: ReaderTable;
  readonly feeds: ClientFeeds;
  /** Large files are read while they are sent. */
  readonly streams?: boolean | undefined;
  readonly tree: () => string;
  readonly token: string;
  readonly tracing?: ClientTracing | undefined;
  /** The user that its requests name. */
  readonly principal?: string | undefined;
}

/**
 * The calls of a user and their promises. A call becomes a message to the client's actor, which knows it by
 * its number; the effects of that actor settle it. Submits of one moment are one message.
 */
export class Client implements JobOperations, AsyncDisposable {
  private readonly setup: ClientSetup;
  private readonly table: CallTable;
  private readonly outbox: CallOutbox;
  private readonly encoder: SubmitPreparer;
  private readonly admin: AdminCalls;
  /** The schedules of the leader. */
  readonly schedules: Schedules;
  /** Workers from afar. */
  readonly workers: Workers;
  private readonly operator: OperatorCalls;

  /** `origin`: the client whose submits and definitions it shares. */
  constructor(setup: ClientSetup, origin?: Client) {
    const { host, calls, table } = setup;
    this.setup = setup;
    this.table = table;
    this.outbox = origin?.outbox ?? new CallOutbox(host, calls, table);
    this.encoder =
      origin?.encoder ??
      new SubmitPreparer(
        table,
        (definition) => this.outbox.define(definition),
        () => host.wallNow(),
      );
    this.admin = new AdminCalls(host, (request, wait, timeoutError) =>
      this.request(request, wait, timeoutError),
    );
    this.schedules = new Schedules(this.admin);
    this.operator = new OperatorCalls(host, this.admin);
    this.workers = new Workers(this.operator);
  }

  /** Names it in the producer records of the leader's log; stays over reconnects. */
  get token(): string {
    return this.setup.token;
  }

  /**
   * This client for one of its own users: the audit of the leader has the name behind that of the client. Its
   * submits are not acts; it ends with this client.
   */
  actingFor(principal: string): Client {
    checkOption('actingFor', principal, plainName(128), definitionError);
    return new Client({ ...this.setup, principal }, this);
  }

  /** Resolves once the job is on the leader's disk. Waits while too many submits are unanswered. */
  submit<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    const call = new PendingSubmit(this, job, opensFeed(job, options));
    this.start(call, job, input, options);
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
    const call = new PendingSubmit(this, job, opensFeed(job, options));
    const draft = emptyDraft(this.table.add(call), RECEIPT_ONLY);
    draft.trace = this.traceOf(call, job, 1, options);
    this.limit(call, draft, options);
    const encoding = payloadOfFile(path, this.setup.streams === true).then((payload) =>
      this.encoder.usePayload(draft, job, payload, options),
    );
    this.enter(draft, encoding);
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
    options: Omit<SubmitOptions, 'key' | 'holdKey' | 'streaming'> = NO_OPTIONS,
  ): Promise<JobHandle<D>[]> {
    checkOptions('submitAll', options, SUBMIT_ALL_OPTIONS);
    const call = new PendingBatch(this, job);
    const trace = this.traceOf(call, job, inputs.length, options);
    try {
      const items = await this.encodeAll(job, inputs, options, trace);
      const draft = emptyDraft(this.table.add(call), RECEIPT_ONLY, items);
      this.limit(call, draft, options);
      this.enter(draft, undefined);
    } catch (error) {
      // An error of the input's schema or its key function is the caller's answer.
      call.reject(error as Error);
    }
    return call.promise as Promise<JobHandle<D>[]>;
  }

  private async encodeAll(
    job: JobDefinition,
    inputs: readonly unknown[],
    options: SubmitOptions,
    trace: TraceContext | undefined,
  ): Promise<ItemDraft[]> {
    const items: ItemDraft[] = [];
    for (const input of inputs) {
      const item = emptyItem();
      await this.encoder.encode(item, job, input, options);
      item.trace = trace;
      items.push(item);
    }
    this.encoder.mustFitRecord(items);
    return items;
  }

  /** Submit, and wait for the output. */
  run<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobOutput<D>> {
    const call = new PendingRun(this, job);
    this.start(call, job, input, options);
    // The output schema has checked the value.
    return call.promise as Promise<JobOutput<D>>;
  }

  /**
   * Submits with `streaming: 'response'`, and resolves with the handle once its first item or its end is
   * there. The handle is an AsyncIterable of chunks.
   */
  async stream<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: Omit<SubmitOptions, 'streaming'> = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    const handle = await this.submit(job, input, { ...options, streaming: 'response' });
    await handle.started(options);
    return handle;
  }

  /** For {@link JobHandle}, which decodes the items. */
  readStream(job: number, position: StreamPosition, head?: StreamHead): OpenReader {
    return this.setup.readers.open(this.setup.calls, job, position, head);
  }

  /** For {@link JobHandle}. This client has the feed open from now on. */
  feedOf(job: number): ClientFeed {
    const { feeds, calls } = this.setup;
    return feeds.of(
      job,
      (no) => this.idOf(no),
      (feed) => calls.openFeed(feed),
    );
  }

  /** For {@link JobHandle}: an item, or the end where the value is undefined. */
  async feed(
    feed: ClientFeed,
    definition: JobDefinition,
    value: unknown,
    options: FeedOptions,
  ): Promise<FeedReceipt> {
    const call = new PendingFeed(this, feed.job);
    const number = this.table.add(call);
    const { calls, host } = this.setup;
    const withdrawal = { feed: feed.number, call: number };
    const abandon = (error: Error): void => {
      if (this.table.reject(number, error)) calls.withdrawFeed(withdrawal);
    };
    const { final = false } = options;
    feed
      .encode(definition, value, final, (draft) => {
        if (this.table.has(number)) calls.feed({ ...withdrawal, ...draft });
      })
      .catch((error: unknown) => this.table.reject(number, error as Error));
    limitWait(host, options, call.promise, abandon, (withinMs) => call.timeoutError(withinMs));
    return call.promise as Promise<FeedReceipt>;
  }

  private start(call: PendingSubmitCall, job: JobDefinition, input: unknown, options: SubmitOptions): void {
    const draft = emptyDraft(this.table.add(call), call instanceof PendingRun ? THEN_OUTCOME : RECEIPT_ONLY);
    try {
      const encoding = this.encoder.encode(draft, job, input, options);
      draft.trace = this.traceOf(call, job, 1, options);
      if (options !== NO_OPTIONS) this.limit(call, draft, options);
      this.enter(draft, encoding);
    } catch (error) {
      // An error of the input's schema or its key function is the caller's answer.
      this.table.reject(draft.call, error as Error);
    }
  }

  /** Before the call awaits anything: the active context is the caller's. */
  private traceOf(
    call: PendingSubmitCall,
    { exec }: JobDefinition,
    jobs: number,
    { trace }: SubmitOptions,
  ): TraceContext | undefined {
    const { tracing } = this.setup;
    if (tracing === undefined) return trace;
    const traced = tracing.submit({ exec, call: call instanceof PendingRun ? 'run' : 'submit', jobs, trace });
    call.promise.then(
      () => traced.ended({ jobs: call.jobs, error: undefined }),
      (error: Error) => traced.ended({ jobs: call.jobs, error }),
    );
    return traced.trace;
  }

  private enter(draft: SubmitDraft, encoding: Promise<void> | undefined): void {
    if (encoding === undefined) return this.outbox.submit(draft);
    encoding.then(
      () => this.outbox.submit(draft),
      (error: unknown) => this.table.reject(draft.call, error as Error),
    );
  }

  private limit(call: PendingSubmitCall, draft: SubmitDraft, options: WaitOptions): void {
    const abandon = (error: Error): void => {
      if (!this.table.reject(draft.call, error)) return;
      const job = call instanceof PendingRun ? call.job : 0;
      if (job === 0) this.outbox.withdraw(draft);
      else this.outbox.stopAwaiting({ call: draft.call, job });
    };
    limitWait(this.setup.host, options, call.promise, abandon, (withinMs) => call.timeoutError(withinMs));
  }

  /** A handle on a job submitted earlier, perhaps by another process. */
  open<D extends JobDefinition>(job: D, id: string): JobHandle<D> {
    return new JobHandle(this, job, parseJobId(this.table.tag, id), undefined);
  }

  /**
   * A handle on the job of an idempotency key, within the key window of the leader. Undefined: there is no
   * such job, or not yet.
   */
  async openByKey<D extends JobDefinition>(
    job: D,
    key: string,
    options: WaitOptions = {},
  ): Promise<JobHandle<D> | undefined> {
    checkOptions('openByKey', options, WAIT_OPTIONS);
    const view = await this.admin.findKey(job.exec, key, options);
    return view === undefined ? undefined : new JobHandle(this, job, view.job, undefined);
  }

  /**
   * The keys of submits with `holdKey` expire with the key window from now on: what was to be submitted once
   * is not submitted again.
   */
  async releaseKeys(job: JobDefinition, keys: readonly string[], options: WaitOptions = {}): Promise<void> {
    checkOptions('releaseKeys', options, WAIT_OPTIONS);
    for (let at = 0; at < keys.length; at += BULK_JOBS_MAX)
      await this.admin.releaseKeys(job.exec, keys.slice(at, at + BULK_JOBS_MAX), options);
  }

  /** For {@link JobHandle}: the durability of receipts. */
  get level(): DurabilityLevel {
    return this.table.level;
  }

  idOf(job: number): string {
    return jobId(this.table.tag, job);
  }

  outcome(definition: JobDefinition, job: number, options: WaitOptions): Promise<unknown> {
    const call = new PendingOutcome(this, definition, job);
    const wait = { call: this.table.add(call), job };
    if (this.table.endedBy !== undefined) return call.promise;
    this.outbox.awaitOutcome(wait);
    const abandon = (error: Error): void => {
      if (this.table.reject(wait.call, error)) this.outbox.stopAwaiting(wait);
    };
    limitWait(this.setup.host, options, call.promise, abandon, (withinMs) => call.timeoutError(withinMs));
    return call.promise;
  }

  private request(
    request: AdminRequest,
    wait: WaitOptions,
    timeoutError: (ms: number) => Error,
  ): Promise<RequestAnswer> {
    const call = new PendingRequest();
    const number = this.table.add(call);
    if (this.table.endedBy === undefined) {
      const { calls, host, principal } = this.setup;
      calls.request({
        call: number,
        request: principal === undefined ? request : { ...request, principal },
      });
      const abandon = (error: Error): void => {
        if (this.table.reject(number, error)) calls.abandonRequest(number);
      };
      limitWait(host, wait, call.promise, abandon, timeoutError);
    }
    return call.promise as Promise<RequestAnswer>;
  }

  async cancel(job: number, reason: string, options: WaitOptions = {}): Promise<JobView['state']> {
    const state = await this.admin.cancel(job, reason, options);
    if (state !== undefined) return state;
    throw new JobUnknownError(this.idOf(job));
  }

  async inspect(job: number, options: WaitOptions = {}): Promise<JobView> {
    const view = await this.admin.inspect(job, options);
    if (view !== undefined) return view;
    throw new JobUnknownError(this.idOf(job));
  }

  async input(job: number, bytesMax: number, options: WaitOptions): Promise<JobInputView> {
    const parts: Uint8Array[] = [];
    for (let at = 0; ; ) {
      const part = await this.admin.input(job, at, Math.min(INPUT_PART_BYTES_MAX, bytesMax - at), options);
      if (part === undefined) throw new JobUnknownError(this.idOf(job));
      parts.push(part.bytes);
      at += part.bytes.length;
      if (part.bytes.length === 0 || at >= Math.min(part.total, bytesMax))
        return inputView(Buffer.concat(parts), part.total);
    }
  }

  /** Rejects with CallWaitError after `withinMs`; as for every call below, 30 s unless given. */
  async overview(options: WaitOptions = {}): Promise<LeaderOverview> {
    checkOptions('overview', options, WAIT_OPTIONS);
    return this.admin.overview(options);
  }

  /** The actors of the leader's process, its recent messages and its log. Needs `admin` on `leader.admin`. */
  async actors(options: WaitOptions = {}): Promise<LeaderActors> {
    checkOptions('actors', options, WAIT_OPTIONS);
    return this.admin.actors(options);
  }

  /** Dead letters, oldest number first. */
  deadLetters(options: ListOptions = {}): Promise<readonly JobView[]> {
    return this.list('dead', options);
  }

  /** Jobs in one state, oldest number first. */
  async list(state: JobView['state'], options: ListOptions = {}): Promise<readonly JobView[]> {
    checkOptions('list', options, LIST_OPTIONS);
    const { after = 0, max = 100 } = options;
    return this.admin.list(state, after, max, options);
  }

  /** Jobs that fit every field of the filter, page by page, in the order of their numbers. */
  search(filter: JobFilter, options: SearchOptions = {}): Promise<FoundJobs> {
    return this.operator.search(filter, options);
  }

  /** Dead letters by their failure, the largest groups first. */
  deadLetterGroups(options: GroupOptions = {}): Promise<readonly DeadLetterGroup[]> {
    return this.operator.deadLetterGroups(options);
  }

  /** Puts the dead letters that fit back into their queues, at a rate, or counts them. */
  redriveWhere(filter: JobFilter, options: RedriveOptions = {}): Promise<RedriveReport> {
    return this.operator.redriveWhere(filter, options);
  }

  /** Cancels the queued and running jobs that fit every field of the filter, or counts them. */
  cancelWhere(filter: JobFilter, options: CancelWhereOptions = {}): Promise<CancelReport> {
    return this.operator.cancelWhere(filter, options);
  }

  /** Puts one dead letter back into its queue with another input. */
  redriveEdited<D extends JobDefinition>(
    job: D,
    id: string,
    input: JobInput<D>,
    options: WaitOptions = {},
  ): Promise<void> {
    return this.operator.redriveEdited(parseJobId(this.table.tag, id), job, input, options);
  }

  /** Acts of clients and operators: the latest ones, or those behind a number. */
  audit(options: AuditOptions = {}): Promise<readonly AuditView[]> {
    return this.operator.audit(options);
  }

  /** The clients that are connected, with their limits and refusals. */
  clients(options: WaitOptions = {}): Promise<readonly ClientView[]> {
    return this.operator.clients(options);
  }

  /** Depth, age, rates and times of every definition with jobs. */
  stats(options: WaitOptions = {}): Promise<LeaderStatsView> {
    return this.operator.stats(options);
  }

  /**
   * Puts dead letters back into the queue, with fresh counts. Resolves with their number. Each is driven
   * once, also where the answer was lost with its connection.
   */
  async redrive(ids: readonly string[], options: WaitOptions = {}): Promise<number> {
    checkOptions('redrive', options, WAIT_OPTIONS);
    return this.admin.redrive(this.numbersOf(ids), options);
  }

  /** Deletes dead letters. Resolves with their number. */
  async purge(ids: readonly string[], options: WaitOptions = {}): Promise<number> {
    checkOptions('purge', options, WAIT_OPTIONS);
    return this.admin.redriveOrPurge('purge', this.numbersOf(ids), options);
  }

  /** Why a job does not run, with numbers and an estimate (docs/guides/control.md). */
  async explain(id: string, options: WaitOptions = {}): Promise<JobExplanation> {
    checkOptions('explain', options, WAIT_OPTIONS);
    return this.explainJob(parseJobId(this.table.tag, id), options);
  }

  /** For {@link JobHandle}. */
  async explainJob(job: number, options: WaitOptions): Promise<JobExplanation> {
    const explanation = await this.admin.explain(job, options);
    if (explanation !== undefined) return explanation;
    throw new JobUnknownError(this.idOf(job));
  }

  /** Queues with jobs, limits or a mode, by name. */
  async queues(options: WaitOptions = {}): Promise<readonly QueueView[]> {
    checkOptions('queues', options, WAIT_OPTIONS);
    return this.admin.queues(options);
  }

  /** One queue, for its limits and modes: an exec, `group/exec`, or `*` for all queues together. */
  queue(name: string): QueueHandle {
    return new QueueHandle(this.admin, name);
  }

  /** The actors of this client's system as text, for an operator. */
  tree(): string {
    return this.setup.tree();
  }

  /** Unanswered submits may or may not have been accepted. */
  close(): void {
    if (this.table.endedBy !== undefined) return;
    this.table.ended(new ClientClosedError());
    this.setup.readers.ended(new ClientClosedError());
    this.setup.feeds.ended(new ClientClosedError());
    this.setup.calls.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  private numbersOf(ids: readonly string[]): number[] {
    return ids.map((id) => parseJobId(this.table.tag, id));
  }
}

/**
 * A client that submits a job to be fed has its feed open, so that its grace does not begin. `job` is not
 * checked yet.
 */
function opensFeed(
  job: JobDefinition | undefined,
  { streaming = false }: SubmitOptions,
): { readonly opensFeed: boolean } {
  return { opensFeed: job?.feed !== undefined && streaming !== false };
}

const RECEIPT_ONLY = { wantsOutcome: false };
const THEN_OUTCOME = { wantsOutcome: true };
