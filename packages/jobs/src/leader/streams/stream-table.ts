import { DEFAULT_STREAM } from '../../job/definition/stream-policy.js';
import { identityOf } from '../../ledger/identity-usage.js';
import type {
  HeldStream,
  ReadStream,
  StreamChunks,
  StreamConsumed,
  StreamItem,
  StreamRefusal,
  StreamWindow,
} from '../../protocol/stream-messages.js';
import type { SpillLoaded } from '../../spill/spill.js';
import { outcomeOf, unknownOutcome } from '../commit/outcome-waiters.js';
import type { Lease } from '../dispatch/lease.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import { JobStream } from './job-stream.js';
import type { FoundBlock } from './spill-block.js';
import { StreamDelivery } from './stream-delivery.js';
import { StreamReader } from './stream-reader.js';
import { StreamSpill } from './stream-spill.js';

/** Readers of one session. */
const READERS_MAX = 1_024;
/** Windows of one turn. */
export const WINDOWS_PER_TURN = 4_096;
/** Chunks of all streams. Beyond it ended streams lose theirs, oldest first. */
const TOTAL_BYTES_MAX = 64 * 1024 * 1024;
/** The window of a stream while there is no more room for all. */
const WINDOW_BYTES_LOW = 16 * 1024;
const SWEPT_PER_TICK = 1_024;

type StreamContext = LeaderParts<
  'clock' | 'diskLow' | 'effects' | 'ledger' | 'limits' | 'markDirty' | 'observe' | 'recordTime' | 'stage'
>;

/**
 * The streams of the jobs that were submitted with `streaming`. Chunks never enter the journal: they go from
 * the worker's session through a bounded buffer, and files where there is no room in it, to the readers. The
 * end of a stream is the durable end of its job.
 */
export class StreamTable {
  private readonly context: StreamContext;
  /** Undefined where the leader has no files for chunks. */
  private readonly spill: StreamSpill | undefined;
  private readonly streams = new Map<number, JobStream>();
  /** Jobs that have ended, oldest first: their streams go with their results. */
  private readonly ended = new Set<number>();
  /** Where the next tick goes on: streams behind many that stay are looked at too. */
  private sweeping = this.ended.values();
  private readonly delivery = new StreamDelivery({
    write: (reader, items) => this.write(reader, items),
    ended: ({ session, number }) => this.remove(session, number),
    needs: (stream, part) => this.spill?.load(stream, part),
    passed: (stream) => this.passed(stream),
  });
  /** Jobs whose worker needs another window. */
  private readonly taken = new Set<number>();
  private readonly windows = new Map<WorkerSession, StreamWindow[]>();
  private readonly unread = new Set<Lease>();
  private totalBytes = 0;

  constructor(context: StreamContext, { hasSpill }: { readonly hasSpill: boolean }) {
    this.context = context;
    this.spill = hasSpill ? this.openSpill() : undefined;
  }

  private openSpill(): StreamSpill {
    return new StreamSpill(this.context, {
      changed: (stream) => this.streamChanged(stream),
      loaded: (stream, part, chunks) => this.delivery.deliverPart(stream, part, chunks),
    });
  }

  /** Chunks can be made durable. */
  get hasSpill(): boolean {
    return this.spill !== undefined;
  }

  /** Bytes of the files. */
  get spillBytes(): number {
    return this.spill?.bytes ?? 0;
  }

  /** Blocks of before a restart, in the order of their files. Those of ended attempts are void. */
  restoreFile(file: number, bytes: number, blocks: Iterable<FoundBlock>): void {
    this.spill?.foundFile(file, bytes);
    for (const block of blocks) this.restoreBlock(file, block);
  }

  restored(files: readonly number[]): void {
    this.spill?.foundAll(files);
  }

  private restoreBlock(file: number, { job: no, attempt, ...block }: FoundBlock): void {
    const { ledger, recordTime } = this.context;
    const job = ledger.jobs.get(no);
    if (job === undefined || job.attempt !== attempt || ledger.isExpired(job, recordTime)) return;
    const stream = this.streamOf(job);
    // A block that was written twice counts once.
    if (stream !== undefined && block.first >= stream.parts.end)
      this.spill?.found(stream, { file, ...block });
  }

  spillFileNamed(file: number): void {
    this.spill?.named(file);
  }

  spillFilesDropped(files: readonly number[]): void {
    this.context.effects.removeSpill(files);
  }

  spillWritten(error: Error | null): void {
    this.spill?.written(error);
  }

  spillLoaded(loaded: SpillLoaded): void {
    this.spill?.loaded(loaded);
  }

  /** Its record is durable: an attempt begins. */
  assigned(job: LeaderJob, attempt: number): void {
    if (job.policy.streaming === undefined) return;
    const stream = this.streams.get(job.no);
    if (stream === undefined) {
      this.add(job, attempt, { isKnown: true });
      return;
    }
    const parts = stream.restart(attempt);
    this.spill?.release(stream, parts);
    this.ended.delete(job.no);
    this.delivery.add(stream);
  }

  /** Only the holder of the running attempt is believed, as with its end. */
  take(session: WorkerSession, all: readonly StreamChunks[]): void {
    for (const { job: no, attempt, first, chunks } of all) {
      const job = this.context.ledger.jobs.get(no);
      const lease = job?.lease;
      if (job === undefined || lease?.attempt !== attempt || lease.session.name !== session.name) continue;
      // The record of its end, which has the number of its chunks, is staged.
      if (job.pending) continue;
      const stream = this.streamOf(job);
      if (stream === undefined || stream.attempt !== attempt) continue;
      stream.take(first, chunks);
      this.count(stream);
      this.delivery.add(stream);
      this.taken.add(no);
      if (stream.policy.whenUnread === 'fail' && stream.isUnread) this.unread.add(lease);
    }
    this.makeRoom();
  }

  /** The job has ended, and its record is durable. */
  jobEnded(job: LeaderJob): void {
    const stream = this.streams.get(job.no);
    if (stream === undefined) return;
    stream.ended(job.chunks);
    stream.outcome = outcomeOf(job);
    this.ended.add(job.no);
    this.delivery.add(stream);
  }

  /** A dead job is queued again: its stream has not ended after all. */
  redriven({ no }: LeaderJob): void {
    const stream = this.streams.get(no);
    if (stream !== undefined) stream.outcome = undefined;
    this.ended.delete(no);
  }

  /** The worker is back: it names its next chunks, and has lost the windows of its last session. */
  reclaimed(session: WorkerSession, held: readonly HeldStream[]): void {
    for (const { job: no, attempt, first, next } of held) {
      const job = this.context.ledger.jobs.get(no);
      if (job?.lease?.session !== session || job.lease.attempt !== attempt || job.pending) continue;
      const stream = this.streamOf(job);
      if (stream === undefined || stream.attempt !== attempt) continue;
      stream.resumed(first, next);
      this.delivery.add(stream);
      this.addWindow(session, no, stream);
    }
  }

  /** Chunks of the running attempt; undefined: the job does not stream, or none is known. */
  countOf({ no, policy }: LeaderJob): number | undefined {
    const stream = policy.streaming === undefined ? undefined : this.streams.get(no);
    return stream?.isKnown === true ? stream.count : undefined;
  }

  /** Attempts whose chunks no reader takes, of jobs that are to fail then. */
  takeUnread(): readonly Lease[] {
    if (this.unread.size === 0) return [];
    const leases = [...this.unread];
    this.unread.clear();
    return leases.filter((lease) => lease.job.lease === lease && !lease.job.pending);
  }

  read(session: ClientSession, message: ReadStream): void {
    const reader = new StreamReader(session, message);
    const known = this.context.ledger.jobs.get(message.job);
    const isThere = known !== undefined && !this.context.ledger.isExpired(known, this.context.recordTime);
    const job = isThere && session.permits('observe', known) ? known : undefined;
    if (job === undefined) {
      const outcome = unknownOutcome(message.job);
      return this.write(reader, [{ kind: 'end', streaming: 'response', outcome }]);
    }
    const stream = this.streamOf(job);
    const problem = stream === undefined ? undefined : readProblem(stream, session, message);
    if (stream === undefined || problem !== undefined)
      return this.write(reader, [{ kind: 'refused', ...(problem ?? NOT_STREAMING) }]);
    this.remove(session, message.reader);
    session.readers.set(message.reader, reader);
    stream.readers.add(reader);
    // It has consumed what is before its position: the message that said so may be lost with a session.
    if (message.attempt === stream.attempt) stream.consume(message.offset);
    this.streamChanged(stream);
  }

  consumed(session: ClientSession, items: readonly StreamConsumed[]): void {
    for (const item of items) this.consumedBy(session, item);
  }

  private consumedBy(session: ClientSession, { reader: number, attempt, offset }: StreamConsumed): void {
    const reader = session.readers.get(number);
    const stream = reader === undefined ? undefined : this.streams.get(reader.job);
    if (reader === undefined || stream === undefined || !reader.consume(attempt, offset)) return;
    if (attempt === stream.attempt) stream.consume(offset);
    this.delivery.add(stream);
    this.taken.add(reader.job);
  }

  remove(session: ClientSession, number: number): void {
    const reader = session.readers.get(number);
    if (reader === undefined) return;
    session.readers.delete(number);
    const stream = this.streams.get(reader.job);
    if (stream?.readers.delete(reader) === true) this.streamChanged(stream);
  }

  sessionClosed(session: ClientSession): void {
    for (const number of [...session.readers.keys()]) this.remove(session, number);
  }

  /** At the end of a turn: items to readers, windows to workers. True: there is more. */
  flush(): boolean {
    this.delivery.step();
    const isStaged = this.spill?.flush() === true;
    this.flushWindows();
    return isStaged || !this.delivery.isEmpty || this.taken.size > 0;
  }

  private passed(stream: JobStream): void {
    this.count(stream);
    this.spill?.consider(stream);
  }

  private flushWindows(): void {
    let left = WINDOWS_PER_TURN;
    for (const no of this.taken) {
      if (left === 0) break;
      left -= 1;
      this.taken.delete(no);
      this.renewWindow(no);
    }
    for (const [session, items] of this.windows) {
      if (!session.open) continue;
      session.add({ kind: 'stream_windows', items });
      this.context.markDirty(session);
    }
    this.windows.clear();
  }

  /** Streams whose results are gone; chunks that have waited. */
  tick(): void {
    this.sweep();
    this.spill?.tick();
  }

  private sweep(): void {
    for (let left = SWEPT_PER_TICK; left > 0; left -= 1) {
      const { value: no, done } = this.sweeping.next();
      if (done === true) {
        this.sweeping = this.ended.values();
        return;
      }
      const job = this.context.ledger.jobs.get(no);
      if (job !== undefined && !this.context.ledger.isExpired(job, this.context.recordTime)) continue;
      const stream = this.streams.get(no);
      this.ended.delete(no);
      this.streams.delete(no);
      if (stream === undefined) continue;
      this.drop(stream);
    }
  }

  /** The result is gone: a reader that has not got all of the stream is told so. */
  private drop(stream: JobStream): void {
    const outcome = unknownOutcome(stream.job);
    for (const reader of stream.readers) {
      reader.session.readers.delete(reader.number);
      this.write(reader, [{ kind: 'end', streaming: stream.streaming, outcome }]);
    }
    this.delivery.remove(stream);
    this.totalBytes -= stream.countedBytes;
    this.spill?.remove(stream);
  }

  /** Made when it is needed for a job of before a restart; of an ended one there is only its end. */
  private streamOf(job: LeaderJob): JobStream | undefined {
    const { streaming } = job.policy;
    if (streaming === undefined) return undefined;
    const known = this.streams.get(job.no);
    if (known !== undefined) return known;
    const stream = this.add(job, job.attempt, { isKnown: job.attempt === 0 });
    // The record of the end of its attempt has the number of its chunks.
    stream.ended(job.chunks);
    if (job.end !== undefined) this.jobEnded(job);
    return stream;
  }

  private add(job: LeaderJob, attempt: number, { isKnown }: { readonly isKnown: boolean }): JobStream {
    const { streaming = 'response', stream: policy = DEFAULT_STREAM } = job.policy;
    const identity = identityOf(job.client);
    const stream = new JobStream({ job: job.no, streaming, policy, identity, attempt, isKnown });
    stream.isSpillFull = this.spill === undefined;
    this.streams.set(job.no, stream);
    return stream;
  }

  private count(stream: JobStream): void {
    this.totalBytes += stream.bytes - stream.countedBytes;
    stream.countedBytes = stream.bytes;
  }

  private streamChanged(stream: JobStream): void {
    this.delivery.add(stream);
    this.taken.add(stream.job);
  }

  private write({ session, number: reader }: StreamReader, items: readonly StreamItem[]): void {
    session.add({ kind: 'stream_items', reader, items });
    this.context.markDirty(session);
  }

  private renewWindow(no: number): void {
    const stream = this.streams.get(no);
    const lease = this.context.ledger.jobs.get(no)?.lease;
    if (stream !== undefined && lease?.attempt === stream.attempt) this.addWindow(lease.session, no, stream);
  }

  private addWindow(session: WorkerSession, job: number, stream: JobStream): void {
    const items = this.windows.get(session) ?? [];
    const isLow = this.totalBytes > TOTAL_BYTES_MAX;
    const bytes = isLow ? Math.min(stream.window, WINDOW_BYTES_LOW) : stream.window;
    items.push({ job, attempt: stream.attempt, taken: stream.taken, bytes });
    this.windows.set(session, items);
  }

  private makeRoom(): void {
    for (const no of this.ended) {
      if (this.totalBytes <= TOTAL_BYTES_MAX) return;
      const stream = this.streams.get(no);
      if (stream === undefined) continue;
      stream.dropBuffer();
      this.count(stream);
    }
  }
}

interface ReadProblem {
  readonly status: StreamRefusal;
  readonly problem: string;
}

const NOT_STREAMING: ReadProblem = {
  status: 'FAILED_PRECONDITION',
  problem: 'the job was submitted without streaming',
};

function readProblem(
  stream: JobStream,
  session: ClientSession,
  message: ReadStream,
): ReadProblem | undefined {
  if (session.readers.size >= READERS_MAX)
    return { status: 'RESOURCE_EXHAUSTED', problem: `more than ${READERS_MAX} readers of one client` };
  const { attempt, offset } = message;
  const isAhead = attempt > stream.attempt || (attempt === stream.attempt && stream.isAhead(offset));
  const problem = `position ${attempt}/${offset} is in the future`;
  return isAhead ? { status: 'INVALID_ARGUMENT', problem } : undefined;
}
