import { EMPTY_PAYLOAD, type Payload } from '../../job/payload/payload.js';
import type { TraceContext } from '../../job/trace-context.js';
import { TRAILER_BYTES_MAX, type Trailer } from '../../job/trailer.js';
import type { AbortReason } from '../../jobs-error.js';
import { AttemptAbortedError, NonRetryableError } from '../../jobs-error.js';
import type { JobsClock } from '../../jobs-host.js';
import type { AttemptProgress } from '../../protocol/worker/progress-messages.js';
import type { Assignment, StreamEnd } from '../../protocol/worker/worker-messages.js';
import { FeedQueue } from '../feed/feed-queue.js';
import { ProgressLog } from '../progress/progress-log.js';
import { ChunkSender } from '../stream/chunk-sender.js';
import type { AttemptTrace } from '../worker-tracing.js';

/** One assignment in this worker, from its arrival to its end. */
export class Attempt {
  readonly job: number;
  readonly number: number;
  readonly exec: string;
  readonly client: string;
  readonly runMs: number;
  readonly outputBytes: number;
  /** Infinity: no limit. */
  readonly silenceMs: number;
  readonly payloadBytes: number;
  /** Undefined where its chunks have no readers. */
  readonly stream: ChunkSender | undefined;
  /** Undefined where clients do not feed it. */
  readonly feed: FeedQueue | undefined;
  /** For its handler. */
  trace: TraceContext | undefined;
  /** On a worker that traces, once it has begun. */
  traced: AttemptTrace | undefined = undefined;
  isOver = false;
  hasBegun = false;
  /** Its handler has returned a promise that is not settled. */
  isUnderWay = false;
  /** Monotonic, like all times here: its arrival, and once it has begun its beginning. */
  since: number;
  /** The end of its run time. */
  deadline = Number.POSITIVE_INFINITY;
  /** The metadata that the handler has set by `trailer`, as JSON. */
  private metadata: string | undefined = undefined;
  aborted: AbortReason | undefined = undefined;
  abortDetail = '';
  /** Set by the worker once it has begun: there is progress to report. */
  onProgress: ((attempt: Attempt) => void) | undefined = undefined;
  /** Set by the thread of its handler: its silence counts from now on, or not. */
  onSilence: ((isCounted: boolean) => void) | undefined = undefined;
  private progressLog: ProgressLog | undefined = undefined;
  private payload: Payload;
  private clock: Pick<JobsClock, 'now'> | undefined = undefined;
  /** The latest chunk of its generator; Infinity: it has none, or waits for a reader. */
  private chunkAt = Number.POSITIVE_INFINITY;
  private controller: AbortController | undefined = undefined;

  constructor(assignment: Assignment, now: number) {
    this.job = assignment.job;
    this.number = assignment.attempt;
    this.exec = assignment.exec;
    this.client = assignment.client;
    this.runMs = assignment.runMs;
    this.outputBytes = assignment.outputBytes;
    this.silenceMs = assignment.silenceMs ?? Number.POSITIVE_INFINITY;
    this.payload = assignment.payload;
    this.payloadBytes = assignment.payload.length;
    this.since = now;
    this.trace = assignment.trace;
    this.stream = assignment.streaming === true ? new ChunkSender(assignment) : undefined;
    this.feed = assignment.isFed === true ? new FeedQueue(assignment.job, assignment.attempt) : undefined;
  }

  begin(now: number, clock: Pick<JobsClock, 'now'>): void {
    this.clock = clock;
    this.hasBegun = true;
    this.since = now;
    this.deadline = now + this.runMs;
  }

  /** Its generator goes on: with its first chunk, or with the next one after it could be sent. */
  startSilence(): void {
    if (this.clock === undefined || this.silenceMs === Number.POSITIVE_INFINITY) return;
    this.chunkAt = this.clock.now();
    this.onSilence?.(true);
  }

  /** It waits for a reader. */
  stopSilence(): void {
    if (this.chunkAt === Number.POSITIVE_INFINITY) return;
    this.chunkAt = Number.POSITIVE_INFINITY;
    this.onSilence?.(false);
  }

  /** Time that it waits for an item of its feed does not count as silence. */
  async withoutSilence<T>(waiting: Promise<T>): Promise<T> {
    const wasCounted = this.chunkAt < Number.POSITIVE_INFINITY;
    this.stopSilence();
    try {
      return await waiting;
    } finally {
      if (wasCounted) this.startSilence();
    }
  }

  isSilent(now: number): boolean {
    return this.chunkAt + this.silenceMs <= now;
  }

  /** When its limits are to be looked at next. */
  nextCheckAt(now: number): number {
    return Math.min(this.deadline, Math.min(this.chunkAt, now) + this.silenceMs);
  }

  /** For the record of its end; undefined where it neither streams nor has metadata. */
  get streamEnd(): StreamEnd | undefined {
    const { stream, metadata } = this;
    if (stream === undefined && metadata === undefined) return undefined;
    return {
      ...(stream === undefined ? {} : { chunks: stream.sentCount }),
      ...(metadata === undefined ? {} : { metadata }),
    };
  }

  /** Once: after it is parsed the raw payload need not stay in memory. */
  takePayload(): Payload {
    const { payload } = this;
    this.payload = EMPTY_PAYLOAD;
    return payload;
  }

  /** Once, for a handler on another thread. */
  takeAssignment(): Assignment {
    const { job, number, exec, client, runMs, outputBytes, silenceMs, trace } = this;
    const streaming = this.stream !== undefined;
    const isFed = this.feed !== undefined;
    const limits = { runMs, outputBytes, silenceMs };
    const payload = this.takePayload();
    return { job, attempt: number, exec, client, ...limits, trace, streaming, isFed, payload };
  }

  /** Made at its first use: most handlers never read it, and it costs more than a small job. */
  signal(jobId: string): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.aborted !== undefined) this.controller.abort(this.reason(jobId, this.aborted));
    }
    return this.controller.signal;
  }

  abort(jobId: string, reason: AbortReason, detail = ''): void {
    if (this.aborted !== undefined) return;
    this.aborted = reason;
    this.abortDetail = detail;
    this.controller?.abort(this.reason(jobId, reason));
    this.feed?.fail(this.reason(jobId, reason));
  }

  setProgress(share: number, note: string | undefined): void {
    if (typeof share !== 'number' || Number.isNaN(share) || (note !== undefined && typeof note !== 'string'))
      throw new TypeError(
        `progress is a share from 0 to 1 and a note, not ${String(share)}, ${String(note)}`,
      );
    this.changeProgress((log) => log.setProgress(Math.min(1, Math.max(0, share)), note));
  }

  addLine(line: string): void {
    this.changeProgress((log) => log.add(String(line)));
  }

  /** It waits for a warm runner; empty: not any more. */
  setRunnerWait(runner: string): void {
    this.changeProgress((log) => log.setWait(runner));
  }

  /** Undefined where it has said nothing. */
  takeProgress(): AttemptProgress | undefined {
    return this.progressLog?.take(this.job, this.number);
  }

  /** From the thread of its handler. */
  mergeProgress({ share, note, lines }: AttemptProgress): void {
    if (share !== undefined) this.setProgress(share, note);
    for (const line of lines) this.addLine(line);
  }

  get hasProgress(): boolean {
    return this.progressLog !== undefined;
  }

  private changeProgress(change: (log: ProgressLog) => void): void {
    if (this.isOver) return;
    this.progressLog ??= new ProgressLog();
    change(this.progressLog);
    this.onProgress?.(this);
  }

  addTrailer(trailer: Trailer): void {
    const before = this.metadata === undefined ? {} : (JSON.parse(this.metadata) as Trailer);
    const metadata = JSON.stringify({ ...before, ...trailer });
    const bytes = Buffer.byteLength(metadata);
    if (bytes > TRAILER_BYTES_MAX)
      throw new NonRetryableError(`trailer of ${bytes} bytes, at most ${TRAILER_BYTES_MAX}`);
    this.metadata = metadata;
  }

  private reason(jobId: string, reason: AbortReason): AttemptAbortedError {
    return new AttemptAbortedError(jobId, this.number, reason, this.abortDetail);
  }
}

/** One number for both. No worker holds two attempts of one job that are 1,024 apart. */
export function attemptKey(job: number, attempt: number): number {
  return job * 1_024 + (attempt & 1_023);
}
