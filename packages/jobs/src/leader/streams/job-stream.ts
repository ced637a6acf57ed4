// Hot path: `take` and `next` run once per chunk.
import type { StreamingMode } from '../../job/job-policy.js';
import type { Payload } from '../../job/payload.js';
import type { JobOutcome } from '../../protocol/client-messages.js';
import type { StreamItem } from '../../protocol/stream-messages.js';
import type { StreamReader } from './stream-reader.js';

/** Chunks of one stream that the leader holds. */
const STREAM_BYTES_MAX = 1024 * 1024;

/** No worker that keeps to its windows gets here. */
const OVERRUN_BYTES_MAX = 4 * STREAM_BYTES_MAX;

/**
 * The chunks of the latest attempt of one job, `base` up to `next`. A stream of `response` waits for its
 * furthest reader: `window` is 0 when it is full of chunks that no reader has consumed. A stream of
 * `internal` drops its oldest chunk instead. Chunks that a reader has consumed stay for others until the room
 * is needed.
 */
export class JobStream {
  readonly streaming: StreamingMode;
  readonly readers = new Set<StreamReader>();
  attempt: number;
  base = 0;
  next = 0;
  bytes = 0;
  /** Undefined while the job may go on. */
  outcome: JobOutcome | undefined = undefined;
  /** False after a restart of the leader, until the worker has named its next chunk. */
  isKnown: boolean;
  private chunks: Payload[] = [];
  /** The index of chunk `base`. */
  private head = 0;
  /** The furthest chunk that a reader has consumed is below this number. */
  private consumed = 0;
  private unreadBytes = 0;

  constructor(streaming: StreamingMode, attempt: number, options: { readonly isKnown: boolean }) {
    this.streaming = streaming;
    this.attempt = attempt;
    this.isKnown = options.isKnown;
  }

  /** Another attempt: the chunks of the last one are void. */
  restart(attempt: number): void {
    this.drop();
    this.attempt = attempt;
    this.base = 0;
    this.next = 0;
    this.consumed = 0;
    this.unreadBytes = 0;
    this.isKnown = true;
    this.outcome = undefined;
  }

  /** Chunks that are here already are skipped: a worker repeats what was not acknowledged. */
  take(first: number, chunks: readonly Payload[]): void {
    if (first > this.next) this.jump(first);
    this.isKnown = true;
    for (let at = this.next - first; at < chunks.length; at += 1) {
      const chunk = chunks[at] as Payload; // at < length
      this.chunks.push(chunk);
      this.bytes += chunk.length;
      this.unreadBytes += chunk.length;
      this.next += 1;
    }
    this.makeRoom();
  }

  get window(): number {
    if (this.streaming === 'internal') return STREAM_BYTES_MAX;
    return Math.max(0, STREAM_BYTES_MAX - this.unreadBytes);
  }

  /** A reader has given all chunks below `offset` to its caller. */
  consume(offset: number): void {
    const to = Math.min(offset, this.next);
    for (; this.consumed < to; this.consumed += 1)
      if (this.consumed >= this.base) this.unreadBytes -= this.at(this.consumed).length;
  }

  /** The chunks are gone, not their numbers: readers behind them get a gap. */
  drop(): void {
    this.chunks = [];
    this.head = 0;
    this.base = this.next;
    this.bytes = 0;
    this.unreadBytes = 0;
    this.consumed = this.next;
  }

  /** The next item for a reader that has room; undefined: nothing yet. */
  item(reader: StreamReader): StreamItem | undefined {
    const { attempt } = this;
    if (reader.attempt !== attempt) {
      const isFirst = reader.attempt === 0;
      reader.restart(attempt);
      if (!isFirst) return { kind: 'reset', attempt };
    }
    const from = reader.offset;
    if (from < this.base) {
      reader.jump(this.base);
      return { kind: 'gap', attempt, from, to: this.base };
    }
    if (from < this.next) {
      const chunk = this.at(from);
      reader.sent(chunk.length);
      return { kind: 'data', attempt, offset: from, chunk };
    }
    const { outcome, streaming } = this;
    if (outcome === undefined) return undefined;
    if (!this.isKnown && !reader.knowsLoss) {
      reader.knowsLoss = true;
      return { kind: 'gap', attempt, from, to: undefined };
    }
    // The output of a job is read by `Await`; only `internal` has it in the stream.
    const isOutputWanted = streaming === 'internal' || outcome.result === undefined;
    return { kind: 'end', streaming, outcome: isOutputWanted ? outcome : { ...outcome, result: undefined } };
  }

  private at(offset: number): Payload {
    return this.chunks[this.head + offset - this.base] as Payload; // base <= offset < next
  }

  /** The leader has restarted, and its earlier chunks are gone. */
  private jump(first: number): void {
    this.next = first;
    this.drop();
  }

  private makeRoom(): void {
    // A worker that ignores its window loses its chunks: they become a gap.
    const isOverrun = this.bytes > OVERRUN_BYTES_MAX;
    const mayDrop = this.streaming === 'internal' || isOverrun ? this.next : this.consumed;
    while (this.bytes > STREAM_BYTES_MAX && this.base < mayDrop) {
      const { length } = this.at(this.base);
      this.bytes -= length;
      if (this.base >= this.consumed) {
        this.unreadBytes -= length;
        this.consumed = this.base + 1;
      }
      this.chunks[this.head] = '';
      this.head += 1;
      this.base += 1;
    }
    if (this.head > 1_024 && this.head * 2 > this.chunks.length) {
      this.chunks = this.chunks.slice(this.head);
      this.head = 0;
    }
  }
}
