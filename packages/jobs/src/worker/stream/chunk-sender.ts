// Hot path: `push` and `take` run once per chunk.
import type { Payload } from '../../job/payload/payload.js';
import type { HeldStream, StreamChunks, StreamWindow } from '../../protocol/stream-messages.js';
import type { Assignment } from '../../protocol/worker/worker-messages.js';

/** Before the leader has named a window. */
const FIRST_WINDOW_BYTES = 64 * 1024;

/**
 * The chunks of one attempt that the leader has not acknowledged, `base` first: those before `sent` are on
 * the way. A handler waits while they are more than the window. A reconnect repeats them all.
 */
export class ChunkSender {
  readonly job: number;
  readonly attempt: number;
  /** Its chunks must be on the leader's disk before its end. */
  private readonly isDurable: boolean;
  /** Set by the worker: there is something to send. */
  onChunk: () => void = () => undefined;
  /** At every change that `changed` resolves for. */
  onChange: (() => void) | undefined = undefined;
  private chunks: Payload[] = [];
  private base = 0;
  /** Index in `chunks` of the first that is not on the way. */
  private sent = 0;
  private heldBytes = 0;
  private sentBytes = 0;
  private window = FIRST_WINDOW_BYTES;
  private isClosed = false;
  private resume: (() => void) | undefined = undefined;

  constructor({ job, attempt, durable }: Pick<Assignment, 'job' | 'attempt' | 'durable'>) {
    this.job = job;
    this.attempt = attempt;
    this.isDurable = durable ?? false;
  }

  /** Chunks that have left the worker. */
  get sentCount(): number {
    return this.base + this.sent;
  }

  get held(): HeldStream {
    const { job, attempt, base } = this;
    return { job, attempt, first: base, next: base + this.chunks.length };
  }

  /** False: the attempt is over. */
  push(chunk: Payload): boolean {
    if (this.isClosed) return false;
    this.chunks.push(chunk);
    this.heldBytes += chunk.length;
    this.onChunk();
    return true;
  }

  get hasRoom(): boolean {
    return this.isClosed || this.heldBytes <= this.window;
  }

  /** Bytes that may still be pushed. */
  get room(): number {
    return this.isClosed ? Number.MAX_SAFE_INTEGER : Math.max(0, this.window - this.heldBytes);
  }

  /** The end may follow: every chunk has left, or is on the disk where that was requested. */
  get isDrained(): boolean {
    const { isClosed, isDurable, sent, chunks } = this;
    return isClosed || (isDurable ? chunks.length === 0 : sent === chunks.length);
  }

  /** Resolves at the next change of the window, of what is sent, or when the attempt is over. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.resume = resolve;
    });
  }

  /** The chunks that the window lets go; one at least while it is open. */
  take(): StreamChunks | undefined {
    const start = this.sent;
    while (this.sent < this.chunks.length) {
      const { length } = this.chunks[this.sent] as Payload; // sent < length
      const fits = this.sentBytes + length <= this.window || (this.sentBytes === 0 && this.window > 0);
      if (!fits) break;
      this.sent += 1;
      this.sentBytes += length;
    }
    if (this.sent === start) return undefined;
    this.wake();
    const { job, attempt, base } = this;
    return { job, attempt, first: base + start, chunks: this.chunks.slice(start, this.sent) };
  }

  opened({ taken, bytes }: StreamWindow): void {
    const count = Math.min(taken - this.base, this.sent);
    if (count < 0) return;
    let freed = 0;
    for (const chunk of this.chunks.splice(0, count)) freed += chunk.length;
    this.base += count;
    this.sent -= count;
    this.heldBytes -= freed;
    this.sentBytes -= freed;
    this.window = bytes;
    if (this.sent < this.chunks.length) this.onChunk();
    this.wake();
  }

  /** A new session: all that is not acknowledged leaves again, whatever the window was. */
  rewind(): void {
    this.sent = 0;
    this.sentBytes = 0;
    this.window = Math.max(FIRST_WINDOW_BYTES, this.heldBytes);
  }

  /** The attempt is over. Chunks on the way are kept until its end is acknowledged. */
  close(): void {
    this.isClosed = true;
    this.chunks.length = this.sent;
    this.heldBytes = this.sentBytes;
    this.wake();
  }

  private wake(): void {
    const { resume } = this;
    this.resume = undefined;
    resume?.();
    this.onChange?.();
  }
}
