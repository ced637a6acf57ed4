// Hot path: `submit` and `settle` run once per job.
import type { JobsHost } from '../host.js';
import type { JobDefinition, JobInput, JobOutput } from '../job/define-job.js';
import { jobId, parseJobId } from '../job/job-id.js';
import { checkOptions, numberWithin, text } from '../job/option-check.js';
import { type Payload, payloadOfText } from '../job/payload.js';
import { checkValue } from '../job/schema-check.js';
import { ClientClosedError, JobDefinitionError, JobUnknownError } from '../jobs-error.js';
import type {
  ClientHello,
  ClientMessage,
  DeskAnswer,
  DeskRequest,
  JobView,
  LeaderOverview,
  Receipt,
  ToClient,
} from '../protocol/client-messages.js';
import { type HandleDesk, JobHandle } from './job-handle.js';
import { Outcomes } from './outcomes.js';
import { CLOSED, type Pending, PendingRun, PendingSubmit, problemOf, receiptOf } from './pending.js';
import { type Draft, Submitter } from './submitter.js';

/** How a client reaches its leader. */
export interface ClientLink {
  open(hello: ClientHello): void;
  send(message: ClientMessage): void;
  /** The client was closed and will send nothing more. */
  close?(): void;
}

export interface SubmitOptions {
  /** Idempotency key: the same key within the window is the same job. */
  readonly key?: string;
  /** Not before this many milliseconds from now. */
  readonly runAfterMs?: number;
}

const SUBMIT_OPTIONS = { key: text(512), runAfterMs: numberWithin(0, 366 * 24 * 3_600_000) };
const DEFAULT_OUTSTANDING_MAX = 1_024;

export interface ClientSetup {
  readonly client: string;
  readonly token: string;
  readonly host: JobsHost;
  readonly link: ClientLink;
}

/** The client as a machine with promises on its face. Collects what one turn submits and sends it in one message. */
export class Client implements HandleDesk, AsyncDisposable {
  private readonly setup: ClientSetup;
  private readonly submitter = new Submitter();
  private readonly outcomes: Outcomes;
  private readonly refs = new Map<JobDefinition, number>();
  private readonly calls = new Map<
    number,
    { request: DeskRequest; settle: (answer: DeskAnswer | undefined) => void }
  >();
  private readonly blocked: (() => void)[] = [];
  private outstandingMax = DEFAULT_OUTSTANDING_MAX;
  private nextCall = 1;
  private tag = '';
  private connected = false;
  private flushScheduled = false;
  private closed = false;

  constructor(setup: ClientSetup) {
    this.setup = setup;
    this.outcomes = new Outcomes(setup.host, (job) => this.idOf(job));
  }

  /** Resolves once the job is on the leader's disk. Waits while too many submits are unanswered. */
  submit<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobHandle<D>> {
    return new Promise((resolve, reject) => {
      this.offer(job, input, options, new PendingSubmit(this, job, resolve, reject));
    });
  }

  /** All or none, in one record. */
  async submitAll<D extends JobDefinition>(
    job: D,
    inputs: readonly JobInput<D>[],
    options: Omit<SubmitOptions, 'key'> = NO_OPTIONS,
  ): Promise<JobHandle<D>[]> {
    checkOptions('submitAll', options, { runAfterMs: SUBMIT_OPTIONS.runAfterMs });
    const items: Draft[] = [];
    for (const input of inputs) items.push(await this.item(job, input, options, false));
    await this.room();
    return new Promise((resolve, reject) => {
      const settled = (receipt: Receipt): void => {
        const error = problemOf(receipt);
        if (error !== undefined) reject(error);
        else resolve(receipt.jobs.map((no) => new JobHandle(this, job, no, receiptOf(receipt))));
      };
      this.submitter.addAll(items, { settled });
      this.scheduleFlush();
    });
  }

  /** Submit, and wait for the output. */
  run<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options: SubmitOptions = NO_OPTIONS,
  ): Promise<JobOutput<D>> {
    return new Promise((resolve, reject) => {
      // The schema vouches for the type.
      const waiter = new PendingRun(this.outcomes, job, resolve as (value: unknown) => void, reject);
      this.offer(job, input, options, waiter);
    });
  }

  /** A handle on a job submitted earlier, perhaps by another process. */
  open<D extends JobDefinition>(job: D, id: string): JobHandle<D> {
    return new JobHandle(this, job, parseJobId(this.tag, id), undefined);
  }

  idOf(job: number): string {
    return jobId(this.tag, job);
  }

  outcome(definition: JobDefinition, job: number, withinMs: number | undefined): Promise<unknown> {
    if (this.closed) return Promise.reject(new ClientClosedError());
    return new Promise((resolve, reject) => {
      const isFirst =
        withinMs === undefined
          ? this.outcomes.attach(definition, job, resolve, reject)
          : this.outcomes.attachWithin(definition, job, withinMs, resolve, reject);
      if (isFirst) this.send({ kind: 'await', jobs: [job] });
    });
  }

  async cancel(job: number, reason: string): Promise<JobView['state']> {
    const answer = await this.call({ ask: 'cancel', job, reason });
    if (answer.answer === 'cancelled') return answer.state;
    throw new JobUnknownError(this.idOf(job));
  }

  async inspect(job: number): Promise<JobView> {
    const answer = await this.call({ ask: 'inspect', job });
    if (answer.answer === 'job') return answer.view;
    throw new JobUnknownError(this.idOf(job));
  }

  async overview(): Promise<LeaderOverview> {
    const answer = await this.call({ ask: 'overview' });
    if (answer.answer !== 'overview')
      throw new JobDefinitionError('overview', 'the leader gave another answer');
    return answer.overview;
  }

  /** Dead letters, oldest number first. */
  deadLetters(options: { readonly after?: number; readonly max?: number } = {}): Promise<readonly JobView[]> {
    return this.list('dead', options);
  }

  /** Jobs in one state, oldest number first, from the one behind `after` on. */
  async list(
    state: JobView['state'],
    options: { readonly after?: number; readonly max?: number } = {},
  ): Promise<readonly JobView[]> {
    const { after = 0, max = 100 } = options;
    const answer = await this.call({ ask: 'list', state, after, max });
    return answer.answer === 'jobs' ? answer.views : [];
  }

  /** Sends dead letters back to wait, with fresh counts. Resolves with how many there were. */
  redrive(ids: readonly string[]): Promise<number> {
    return this.treat('redrive', ids);
  }

  purge(ids: readonly string[]): Promise<number> {
    return this.treat('purge', ids);
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
        while (this.blocked.length > 0 && this.submitter.outstanding < this.outstandingMax)
          this.blocked.shift()?.();
        return;
      case 'outcomes':
        for (const outcome of message.items) this.outcomes.settle(outcome);
        return;
      case 'answer': {
        const call = this.calls.get(message.call);
        this.calls.delete(message.call);
        return call?.settle(message.answer);
      }
      case 'welcome':
        return this.welcomed(message);
      case 'refused':
        return this.refused(message);
      case 'beat':
        return;
      default:
        return message satisfies never;
    }
  }

  /** What is unanswered may or may not have been taken. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.connected = false;
    const error = new ClientClosedError();
    this.outcomes.abandon(error);
    for (const one of this.submitter.abandon()) one.settled(CLOSED);
    for (const { settle } of this.calls.values()) settle(undefined);
    this.calls.clear();
    for (const wake of this.blocked.splice(0)) wake();
    this.setup.link.close?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** What the input's schema throws rejects the promise this is called in. */
  private offer(job: JobDefinition, input: unknown, options: SubmitOptions, pending: Pending): void {
    const item = this.item(job, input, options, pending.want);
    const isFull = this.submitter.outstanding >= this.outstandingMax;
    if (item instanceof Promise || isFull) {
      this.offerLater(item, pending).catch((error: unknown) => pending.reject(error as Error));
      return;
    }
    if (this.closed) throw new ClientClosedError();
    this.submitter.add(item, pending);
    this.scheduleFlush();
  }

  private async offerLater(item: Draft | Promise<Draft>, pending: Pending): Promise<void> {
    const ready = await item;
    await this.room();
    this.submitter.add(ready, pending);
    this.scheduleFlush();
  }

  private item(
    job: JobDefinition,
    input: unknown,
    options: SubmitOptions,
    want: boolean,
  ): Draft | Promise<Draft> {
    if (options !== NO_OPTIONS) checkOptions('submit', options, SUBMIT_OPTIONS);
    const checked = checkValue(job.exec, 'input', job.input, input);
    if (checked instanceof Promise)
      return checked.then((value) => this.itemOf(job, input, value, options, want));
    return this.itemOf(job, input, checked, options, want);
  }

  /** The input travels as it was given; the worker's schema transforms it once. The key is of the checked value. */
  private itemOf(
    job: JobDefinition,
    input: unknown,
    checked: unknown,
    options: SubmitOptions,
    want: boolean,
  ): Draft {
    const key = options.key ?? job.key?.(checked) ?? '';
    return {
      seq: 0,
      ref: this.refOf(job),
      payload: encodeInput(job, input),
      key,
      delayMs: options.runAfterMs ?? 0,
      want,
    };
  }

  private refOf(job: JobDefinition): number {
    let ref = this.refs.get(job);
    if (ref === undefined) {
      ref = this.refs.size + 1;
      this.refs.set(job, ref);
      this.send({ kind: 'define', ref, spec: job.spec });
    }
    return ref;
  }

  private async room(): Promise<void> {
    while (this.submitter.outstanding >= this.outstandingMax && !this.closed) {
      await new Promise<void>((resolve) => this.blocked.push(resolve));
    }
    if (this.closed) throw new ClientClosedError();
  }

  private async call(request: DeskRequest): Promise<DeskAnswer> {
    if (this.closed) throw new ClientClosedError();
    const call = this.nextCall;
    this.nextCall += 1;
    const answer = await new Promise<DeskAnswer | undefined>((settle) => {
      this.calls.set(call, { request, settle });
      this.send({ kind: 'call', call, request });
    });
    if (answer === undefined) throw new ClientClosedError();
    return answer;
  }

  private async treat(ask: 'redrive' | 'purge', ids: readonly string[]): Promise<number> {
    const jobs = ids.map((id) => parseJobId(this.tag, id));
    const answer = await this.call({ ask, jobs });
    return answer.answer === 'count' ? answer.count : 0;
  }

  /** A session that was replaced starts again; one that was malformed would be so again. */
  private refused(message: ToClient & { kind: 'refused' }): void {
    this.connected = false;
    if (message.code === 'ERR_SESSION_MALFORMED') return this.close();
    this.setup.host.setTimer(message.code === 'ERR_SESSION_REPLACED' ? 0 : 1_000, () => {
      if (!this.closed) this.connect();
    });
  }

  private welcomed(message: ToClient & { kind: 'welcome' }): void {
    this.connected = true;
    this.tag = message.tag;
    this.outstandingMax = message.outstandingMax;
    for (const [job, ref] of this.refs) this.send({ kind: 'define', ref, spec: job.spec });
    this.submitter.rewind();
    this.scheduleFlush();
    const jobs = this.outcomes.jobs();
    if (jobs.length > 0) this.send({ kind: 'await', jobs });
    for (const [call, { request }] of this.calls) this.send({ kind: 'call', call, request });
  }

  private send(message: ClientMessage): void {
    if (this.connected) this.setup.link.send(message);
  }

  private scheduleFlush(): void {
    if (this.flushScheduled || !this.connected) return;
    this.flushScheduled = true;
    this.setup.host.soon(() => {
      this.flushScheduled = false;
      if (this.connected) for (const message of this.submitter.take()) this.setup.link.send(message);
    });
  }
}

const NO_OPTIONS: SubmitOptions = {};

function encodeInput(job: JobDefinition, input: unknown): Payload {
  const json = JSON.stringify(input);
  if (json === undefined)
    throw new JobDefinitionError(`job '${job.exec}'`, 'its input cannot be written as JSON');
  return payloadOfText(json);
}
