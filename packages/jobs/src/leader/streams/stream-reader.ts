// Hot path: `sent` runs once per chunk and reader.
import type { ReadStream } from '../../protocol/stream-messages.js';
import type { ClientSession } from '../sessions/client-session.js';

/** One reader of one stream: its next chunk, and the bytes on the way to it. */
export class StreamReader {
  readonly session: ClientSession;
  readonly number: number;
  readonly job: number;
  attempt: number;
  offset: number;
  /** It has been told that the chunks of before a restart are gone. */
  knowsLoss = false;
  private readonly window: number;
  /** Sizes of the chunks that it has not consumed, from `consumed` on. */
  private sizes: number[] = [];
  private consumed: number;
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

  sent(bytes: number): void {
    this.offset += 1;
    this.sizes.push(bytes);
    this.unconsumedBytes += bytes;
  }

  /** False: of another attempt, or of chunks that it was never sent. */
  consume(attempt: number, offset: number): boolean {
    if (attempt !== this.attempt || offset > this.offset || offset <= this.consumed) return false;
    for (const bytes of this.sizes.splice(0, offset - this.consumed)) this.unconsumedBytes -= bytes;
    this.consumed = offset;
    return true;
  }

  restart(attempt: number): void {
    // A reader that named no attempt keeps its offset in the first that it meets.
    const offset = this.attempt === 0 ? this.offset : 0;
    this.attempt = attempt;
    this.jump(offset);
  }

  jump(offset: number): void {
    this.offset = offset;
    this.consumed = offset;
    this.sizes = [];
    this.unconsumedBytes = 0;
  }
}
