// Hot path: `submit` and `run` run once per job.
import type { JobDefinition, JobInput, JobOutput } from '../job/define-job.js';
import { jobId, parseJobId } from '../job/job-id.js';
import { payloadOfFile, withSpooled } from '../job/node-payload-file.js';
import type { StoredPayload } from '../job/stored-payload.js';
import {
  ClientClosedError,
  JobUnknownError,
  LeaderChangedError,
  SessionRefusedError,
} from '../jobs-error.js';
import { checkOptions } from '../option-check.js';
import type { ClientMessage, JobView, LeaderOverview, ToClient } from '../protocol/client-messages.js';
import { AdminCalls } from './admin-calls.js';
import type { ClientSetup } from './client-link.js';
import { PromiseGrip } from './deferred.js';
import { JobHandle, type JobOperations } from './job-handle.js';
import { Outcomes } from './outcomes.js';
import type { Draft } from './outstanding.js';
import { PendingBatch, PendingRun, PendingSubmit } from './pending.js';
import {
  Drafter,
  NO_OPTIONS,
  SUBMIT_ALL_OPTIONS,
  SUBMIT_OPTIONS,
  type SubmitOptions,
} from './submit-encoder.js';
import { Entrance } from './submit-gate.js';
import { Submitter } from './submitter.js';
import { limitWait, type WaitOptions } from './wait-limit.js';

/** The client as a machine with promises on its face. Collects what one turn submits and sends it in one message. */
export class Client implements JobOperations, AsyncDisposable {
  private readonly setup: ClientSetup;
  private readonly submitter = new Submitter((ref, refusal) => this.drafter.refused(ref, refusal));
  private readonly outcomes: Outcomes;
  private readonly drafter = new Drafter((message) => this.send(message));
  private readonly calls = new AdminCalls((message) => this.send(message));
  private readonly entrance: Entrance;
  private readonly grip = new PromiseGrip();
  private tag = '';
  private connected = false;
  private flushScheduled = false;
  /** Why nothing more can be asked of it. */
  private closedBy: Error | undefined = undefined;

  constructor(setup: ClientSetup) {
    this.setup = setup;
    this.outcomes = new Outcomes((job) => this.idOf(job));
    this.entrance = new Entrance({
      host: setup.host,
      drafter: this.drafter,
      submitter: this.submitter,
      closedBy: () => this.closedBy,
      onEntered: () => this.scheduleFlush(),
    });
  }

  /** Resolves once the job is on the leader's disk. Waits while too many submits are unanswered. */
  submit<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    const promise = new Promise<JobHandle<D>>(this.grip.take);
    this.entrance.offer(input, options, promise, new PendingSubmit(this, job, this.grip));
    return promise;
  }

  /**
   * The file holds the input as JSON. A large one is read while it is sent, and again if the connection is lost meanwhile: it must not change before
   * the promise settles. Only the worker checks the input.
   */
  async submitFile<D extends JobDefinition>(
    job: D,
    path: string,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    checkOptions('submitFile', options, SUBMIT_OPTIONS);
    const promise = new Promise<JobHandle<D>>(this.grip.take);
    const pending = new PendingSubmit(this, job, this.grip);
    this.entrance.watch(options, promise, pending);
    const filling = payloadOfFile(path, this.setup.streams === true).then((payload) =>
      this.drafter.fillWith(pending.item, job, payload, options),
    );
    this.entrance.enter(filling, pending);
    return promise;
  }

  /** As `submitFile` for what can be read only once: it goes through a file in the folder for temporary ones. */
  submitStream<D extends JobDefinition>(
    job: D,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    return withSpooled(chunks, (path) => this.submitFile(job, path, options));
  }

  /** All or none, in one record. */
  async submitAll<D extends JobDefinition>(
    job: D,
    inputs: readonly JobInput<D>[],
    options: Omit<SubmitOptions, 'key'> = NO_OPTIONS,
  ): Promise<JobHandle<D>[]> {
    checkOptions('submitAll', options, SUBMIT_ALL_OPTIONS);
    const items: Draft[] = [];
    for (const input of inputs) {
      const item = { seq: 0, ref: 0, payload: '', key: '', delayMs: 0, wantsOutcome: false };
      await this.drafter.fill(item, job, input, options);
      items.push(item);
    }
    const promise = new Promise<JobHandle<D>[]>(this.grip.take);
    const pending = new PendingBatch(this, items, job, this.grip);
    this.entrance.watch(options, promise, pending);
    this.entrance.enter(undefined, pending);
    return promise;
  }

  /** Submit, and wait for the output. */
  run<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobOutput<D>> {
    const promise = new Promise<JobOutput<D>>(this.grip.take);
    // The schema vouches for the type.
    this.entrance.offer(input, options, promise, new PendingRun(this.outcomes, job, this.grip));
    return promise;
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
    const promise = new Promise<unknown>(this.grip.take);
    const { resolve, reject } = this.grip;
    const waiter = { definition, resolve, reject, next: undefined };
    if (this.outcomes.add(job, waiter)) this.send({ kind: 'await', jobs: [job] });
    const leave = (error: Error): void => {
      this.outcomes.remove(job, waiter);
      reject(error);
    };
    limitWait(this.setup.host, options, promise, leave, (withinMs) => this.outcomes.late(job, withinMs));
    return promise;
  }

  async cancel(job: number, reason: string): Promise<JobView['state']> {
    const state = await this.calls.cancel(job, reason);
    if (state !== undefined) return state;
    throw new JobUnknownError(this.idOf(job));
  }

  async inspect(job: number): Promise<JobView> {
    const view = await this.calls.inspect(job);
    if (view !== undefined) return view;
    throw new JobUnknownError(this.idOf(job));
  }

  overview(): Promise<LeaderOverview> {
    return this.calls.overview();
  }

  /** Dead letters, oldest number first. */
  deadLetters(options: { readonly after?: number; readonly max?: number } = {}): Promise<readonly JobView[]> {
    return this.list('dead', options);
  }

  /** Jobs in one state, oldest number first, from the one behind `after` on. */
  list(
    state: JobView['state'],
    options: { readonly after?: number; readonly max?: number } = {},
  ): Promise<readonly JobView[]> {
    const { after = 0, max = 100 } = options;
    return this.calls.list(state, after, max);
  }

  /** Sends dead letters back to wait, with fresh counts. Resolves with how many there were. */
  async redrive(ids: readonly string[]): Promise<number> {
    return this.calls.redriveOrPurge('redrive', this.numbersOf(ids));
  }

  async purge(ids: readonly string[]): Promise<number> {
    return this.calls.redriveOrPurge('purge', this.numbersOf(ids));
  }

  connect(): void {
    const { client, token, link } = this.setup;
    this.connected = false;
    link.open({ client, token });
  }

  disconnected(): void {
    this.connected = false;
  }

  fromLeader(message: ToClient): void {
    switch (message.kind) {
      case 'receipts':
        this.submitter.receipts(message.items);
        this.submitter.letIn();
        return;
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

  /** What cannot be read cannot be sent, however often. */
  payloadLost(payload: StoredPayload, error: Error): void {
    this.submitter.giveUp(payload, error.message);
  }

  /** What is unanswered may or may not have been taken. */
  close(): void {
    if (this.closedBy === undefined) this.send({ kind: 'close' });
    this.end(new ClientClosedError());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  private numbersOf(ids: readonly string[]): number[] {
    return ids.map((id) => parseJobId(this.tag, id));
  }

  /** A session that was replaced starts again; one that was malformed would be so again. */
  private refused(message: ToClient & { kind: 'refused' }): void {
    this.connected = false;
    if (message.code === 'ERR_SESSION_MALFORMED')
      return this.end(new SessionRefusedError(message.code, message.problem));
    this.setup.host.setTimer(message.code === 'ERR_SESSION_REPLACED' ? 0 : 1_000, () => {
      if (this.closedBy === undefined) this.connect();
    });
  }

  private end(error: Error): void {
    if (this.closedBy !== undefined) return;
    this.closedBy = error;
    this.connected = false;
    this.outcomes.abandon(error);
    for (const one of this.submitter.abandon()) one.reject(error);
    this.calls.close(error);
    this.setup.link.close?.();
  }

  private welcomed(message: ToClient & { kind: 'welcome' }): void {
    // The same numbers are other jobs there, and what the last leader may have taken must not be taken twice (A43).
    if (this.tag !== '' && this.tag !== message.tag)
      return this.end(new LeaderChangedError(this.tag, message.tag));
    this.connected = true;
    this.tag = message.tag;
    this.submitter.outstandingMax = message.outstandingMax;
    this.drafter.payloadBytesMax = message.payloadBytesMax;
    this.drafter.announce();
    this.submitter.rewind();
    this.scheduleFlush();
    const jobs = this.outcomes.jobs();
    if (jobs.length > 0) this.send({ kind: 'await', jobs });
    this.calls.askAgain();
  }

  private send(message: ClientMessage): void {
    if (this.connected) this.setup.link.write(message);
  }

  private scheduleFlush(): void {
    if (this.flushScheduled || !this.connected) return;
    this.flushScheduled = true;
    this.setup.host.soon(() => {
      this.flushScheduled = false;
      if (this.connected) for (const message of this.submitter.take()) this.setup.link.write(message);
    });
  }
}
