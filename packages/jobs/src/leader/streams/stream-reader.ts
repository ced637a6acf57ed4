// Hot path: `takeRun` runs once per run of chunks and reader.
import type { Payload } from '../../job/payload/payload.js';
import type { ReadStream } from '../../protocol/stream-messages.js';
import type { ClientSession } from '../sessions/client-session.js';

/** A run of chunks on the way to a reader: its end, and its bytes. */
interface SentRun {
  readonly end: number;
  readonly bytes: number;
}

/** Chunks of one run: the reader reports consumption by runs. */
const RUN_CHUNKS_MAX = 256;
const RUN_BYTES_MAX = 16 * 1024;

/** One reader of one stream: its next chunk, and the bytes on the way to it. */
export class StreamReader {
  readonly session: ClientSession;
  readonly number: number;
  readonly job: number;
  attempt: number;
  offset: number;
  /** It has given every chunk below this number to its caller. */
  consumed: number;
  /** It has been told that the chunks of before a restart are gone. */
  knowsLoss = false;
  private readonly window: number;
  private runs: SentRun[] = [];
  private unconsumedBytes = 0;

  constructor(session: ClientSession, { reader, job, attempt, offset, window }: ReadStream) {
    this.session = session;
    this.number = reader;
    this.job = job;
    this.attempt = attempt;
    this.offset = offset;
    this.consumed = offset;
    this.window = window;
  }

  get hasRoom(): boolean {
    return this.unconsumedBytes < this.window;
  }

  /** Takes its next run of the chunks that it has, from `offset` on; returns the end of the run. */
  takeRun(at: (offset: number) => Payload, end: number): number {
    const last = Math.min(end, this.offset + RUN_CHUNKS_MAX);
    let bytes = 0;
    let { offset } = this;
    while (offset < last && bytes < RUN_BYTES_MAX) {
      bytes += at(offset).length;
      offset += 1;
    }
    this.offset = offset;
    this.runs.push({ end: offset, bytes });
    this.unconsumedBytes += bytes;
    return offset;
  }

  /** False: of another attempt, or of chunks that it was never sent. */
  consume(attempt: number, offset: number): boolean {
    if (attempt !== this.attempt || offset > this.offset || offset <= this.consumed) return false;
    this.consumed = offset;
    let done = 0;
    while (done < this.runs.length && (this.runs[done] as SentRun).end <= offset) {
      this.unconsumedBytes -= (this.runs[done] as SentRun).bytes;
      done += 1;
    }
    this.runs.splice(0, done);
    return true;
  }

  /** Behind a gap. Chunks before it may still be on the way. */
  skipTo(offset: number): void {
    this.offset = offset;
  }

  restart(attempt: number): void {
    // A reader that named no attempt keeps its offset in the first that it meets.
    if (this.attempt !== 0) this.offset = 0;
    this.attempt = attempt;
    this.consumed = this.offset;
    this.runs = [];
    this.unconsumedBytes = 0;
  }
}
