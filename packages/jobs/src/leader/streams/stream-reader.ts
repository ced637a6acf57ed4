// Hot path: `sent` runs once per run of chunks and reader.
import type { Payload } from '../../job/payload.js';
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
  /** A part of the spill is being read for it. */
  isLoading = false;
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

  /** Room for so many bytes; one part at least. */
  hasRoomFor(bytes: number): boolean {
    return this.unconsumedBytes === 0 || this.unconsumedBytes + bytes <= this.window;
  }

  /** How many of these chunks are its next run. */
  runLength(at: (offset: number) => Payload, end: number): number {
    const last = Math.min(end, this.offset + RUN_CHUNKS_MAX);
    let bytes = 0;
    let offset = this.offset;
    while (offset < last && bytes < RUN_BYTES_MAX) {
      bytes += at(offset).length;
      offset += 1;
    }
    return offset - this.offset;
  }

  sent(chunks: readonly Payload[]): void {
    let bytes = 0;
    for (const chunk of chunks) bytes += chunk.length;
    this.offset += chunks.length;
    this.runs.push({ end: this.offset, bytes });
    this.unconsumedBytes += bytes;
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
