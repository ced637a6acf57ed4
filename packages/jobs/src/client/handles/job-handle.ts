import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { flag, oneOf, rule, wholeNumber } from '@troupe/core/option-check';
import type { FeedInput, JobChunk, JobDefinition, JobOutput } from '../../job/definition/define-job.js';
import { FeedRefusedError, StreamRefusedError } from '../../jobs-error.js';
import { checkOptions } from '../../option-check.js';
import type { JobProgress, JobView } from '../../protocol/client/admin-messages.js';
import type { DurabilityLevel } from '../../protocol/client/client-messages.js';
import type { JobExplanation } from '../../protocol/client/explain-messages.js';
import type { StreamPosition } from '../../protocol/stream-messages.js';
import { WAIT_OPTIONS, type WaitOptions } from '../calls/wait-limit.js';
import type { ClientFeed, FeedReceipt } from '../feed/client-feed.js';
import {
  type ChunksOptions,
  type ItemsOptions,
  JobChunks,
  type JobItem,
  JobItems,
  type ReadJob,
} from '../stream/job-items.js';
import { readableOf, webStreamOf } from '../stream/node-chunk-streams.js';
import type { OpenReader } from '../stream/reader-table.js';
import { readHead, type StreamHead } from '../stream/stream-head.js';
import type { JobInputView } from './job-input-view.js';

/** The durability of a submit. */
export interface SubmitReceipt {
  /** Position in the leader's log. */
  readonly lsn: number;
  /** Its durability: `fsync` survives the end of the machine, `replicated` the loss of its disk. */
  readonly level: DurabilityLevel;
  /** The job existed already: same key, or the same submit sent twice. */
  readonly duplicate: boolean;
}

/** The part of a client that a handle uses. */
export interface JobOperations {
  /** The durability of what the leader has acknowledged. */
  readonly level: DurabilityLevel;
  idOf(job: number): string;
  outcome(definition: JobDefinition, job: number, options: WaitOptions): Promise<unknown>;
  cancel(job: number, reason: string, options: WaitOptions): Promise<JobView['state']>;
  inspect(job: number, options: WaitOptions): Promise<JobView>;
  explainJob(job: number, options: WaitOptions): Promise<JobExplanation>;
  input(job: number, bytesMax: number, options: WaitOptions): Promise<JobInputView>;
  readStream(job: number, position: StreamPosition, head?: StreamHead): OpenReader;
  feedOf(job: number): ClientFeed;
  feed(
    feed: ClientFeed,
    definition: JobDefinition,
    value: unknown,
    options: FeedOptions,
  ): Promise<FeedReceipt>;
}

export interface FeedOptions extends WaitOptions {
  /** The feed ends behind this item. Default false. */
  readonly final?: boolean | undefined;
}

export interface InputOptions extends WaitOptions {
  /** At most so many bytes of it. Default 65,536. */
  readonly bytesMax?: number | undefined;
}

const INPUT_OPTIONS = { ...WAIT_OPTIONS, bytesMax: wholeNumber(1, 256 * 1024 * 1024) };
const FEED_OPTIONS = { ...WAIT_OPTIONS, final: flag };

const position = rule('an attempt and an offset', (value) => {
  const { attempt, offset } = (value ?? {}) as Partial<StreamPosition>;
  return isCount(attempt) && isCount(offset);
});
const ITEMS_OPTIONS = { from: position, signal: WAIT_OPTIONS.signal };
const onEvent = oneOf(['error', 'follow']);
const CHUNKS_OPTIONS = { ...ITEMS_OPTIONS, onReset: onEvent, onGap: onEvent };
const START: StreamPosition = { attempt: 0, offset: 0 };

/** One job. Can be opened again by its id, by another process, after a restart. */
export class JobHandle<D extends JobDefinition> {
  /** The durability of the submit; undefined for a handle of `open`. */
  readonly receipt: SubmitReceipt | undefined;
  private readonly operations: JobOperations;
  private readonly definition: D;
  private readonly job: number;
  private openFeed: ClientFeed | undefined;
  /** Until the first iterator takes it. */
  private head: StreamHead | undefined = undefined;

  constructor(
    operations: JobOperations,
    definition: D,
    job: number,
    receipt: SubmitReceipt | undefined,
    feed?: ClientFeed,
  ) {
    this.operations = operations;
    this.definition = definition;
    this.job = job;
    this.receipt = receipt;
    this.openFeed = feed;
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
   * Everything that the job streams, up to its end. Also of a handle of `open`, and again from any position
   * that the leader still holds. A job that was submitted without streaming is refused with
   * StreamRefusedError.
   */
  items(options: ItemsOptions = {}): AsyncGenerator<JobItem<D>, void, void> {
    checkOptions('items', options, ITEMS_OPTIONS);
    return new JobItems(this.readJob, () => this.open(options), options.signal);
  }

  /**
   * The chunks alone. A failure of the job, a gap or a new attempt is an error with the position to go on
   * from.
   */
  stream(options: ChunksOptions = {}): AsyncGenerator<JobChunk<D>, void, void> {
    checkOptions('stream', options, CHUNKS_OPTIONS);
    return new JobChunks(this.readJob, () => this.open(options), options);
  }

  /** The chunks, as {@link stream} without options. */
  [Symbol.asyncIterator](): AsyncGenerator<JobChunk<D>, void, void> {
    return this.stream();
  }

  /** The chunks as a stream of Node, in object mode; it is destroyed with the errors of {@link stream}. */
  readable(options: ChunksOptions = {}): Readable {
    return readableOf(this.stream(options));
  }

  /** The chunks as a stream of the web; it fails with the errors of {@link stream}. */
  web(options: ChunksOptions = {}): ReadableStream<JobChunk<D>> {
    return webStreamOf(this.stream(options));
  }

  /** The first item or the end of its stream is there; the first iterator begins with it. */
  async started({ signal }: Pick<WaitOptions, 'signal'> = {}): Promise<void> {
    const head = await readHead(this.operations.readStream(this.job, START), START, signal);
    const [first] = head.items;
    if (first?.kind === 'refused') throw new StreamRefusedError(this.id, first.status, first.problem);
    this.head = head;
  }

  private get readJob(): ReadJob<D> {
    const { definition, id, operations } = this;
    return { definition, id, idOf: (job) => operations.idOf(job) };
  }

  private open({ from }: ItemsOptions): OpenReader {
    const { head } = this;
    if (from !== undefined || head === undefined) {
      const { attempt, offset } = from ?? START;
      return this.operations.readStream(this.job, { attempt, offset });
    }
    this.head = undefined;
    return this.operations.readStream(this.job, head.next, head);
  }

  /**
   * Idempotent. Resolves with the state of the job: 'cancelled', unless it had ended before. Rejects with
   * CallWaitError after `withinMs`, 30 s unless given.
   */
  async cancel(reason = '', options: WaitOptions = {}): Promise<JobView['state']> {
    checkOptions('cancel', options, WAIT_OPTIONS);
    return this.operations.cancel(this.job, reason, options);
  }

  /**
   * Gives an item to the runner. Resolves when it is on the leader's disk; waits while the runner is too far
   * behind. A job that waits for a worker keeps its items. Rejects with FeedRefusedError or FeedWaitError.
   */
  async feed(item: FeedInput<D>, options: FeedOptions = {}): Promise<FeedReceipt> {
    checkOptions('feed', options, FEED_OPTIONS);
    if (item === undefined && options.final !== true)
      throw new FeedRefusedError(this.id, 'ERR_FEED_EMPTY', 'no item, and not final', 0);
    return this.operations.feed(this.feedInUse(), this.definition, item, options);
  }

  /** Ends the feed: the runner takes what is there, and then its loop ends. */
  async endFeed(options: WaitOptions = {}): Promise<FeedReceipt> {
    checkOptions('endFeed', options, WAIT_OPTIONS);
    const { signal, withinMs } = options;
    return this.operations.feed(this.feedInUse(), this.definition, undefined, {
      signal,
      withinMs,
      final: true,
    });
  }

  /** Items that the runner has taken, as far as this client knows: from its first use of the feed on. */
  get fed(): number {
    return this.openFeed?.taken ?? 0;
  }

  /** Resolves when the job runs: its handler has begun. Rejects with FeedRefusedError if it has no feed. */
  get ready(): Promise<void> {
    return this.feedInUse().ready;
  }

  private feedInUse(): ClientFeed {
    if (this.openFeed === undefined || this.openFeed.isOver) this.openFeed = this.operations.feedOf(this.job);
    return this.openFeed;
  }

  /**
   * How far its latest attempt is, by `progress` and `log` of its handler; undefined where they were not
   * called. Rejects with CallWaitError after `withinMs`, 30 s unless given.
   */
  async progress(options: WaitOptions = {}): Promise<JobProgress | undefined> {
    return (await this.inspect(options)).progress;
  }

  /** Why it does not run, with numbers and an estimate. */
  async explain(options: WaitOptions = {}): Promise<JobExplanation> {
    checkOptions('explain', options, WAIT_OPTIONS);
    return this.operations.explainJob(this.job, options);
  }

  /**
   * The input as its leader keeps it, for people: up to its end the job has it. Rejects with CallWaitError
   * after `withinMs` for each part, 30 s unless given.
   */
  async input(options: InputOptions = {}): Promise<JobInputView> {
    checkOptions('input', options, INPUT_OPTIONS);
    const { bytesMax = 65_536, ...wait } = options;
    return this.operations.input(this.job, bytesMax, wait);
  }

  /** Rejects with CallWaitError after `withinMs`, 30 s unless given. */
  async inspect(options: WaitOptions = {}): Promise<JobView> {
    checkOptions('inspect', options, WAIT_OPTIONS);
    return this.operations.inspect(this.job, options);
  }
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
