import type { BodySource } from '../body/body-source.js';
import { FrameWriter } from '../frame/frame-writer.js';

/** The largest single write to the socket: a healthy peer reads this much within the write deadline. */
const WRITE_BYTES_MAX = 256 * 1024;
const NOTHING: readonly Buffer[] = [];

/** A chunk in use by reference, and the offset of its end among all bytes ever written to this peer. */
interface LentChunk {
  readonly endsAt: number;
  readonly chunk: Uint8Array;
  readonly source: BodySource;
}

/** The bytes to be written to one peer, in order. Bytes in a full socket count until it is writable. */
export class Outbox {
  readonly writer = new FrameWriter();
  private queue: Buffer[] = [];
  private firstQueued = 0;
  private queuedBytes = 0;
  private socketBytes = 0;
  private writtenBytes = 0;
  private lentChunks: LentChunk[] = [];

  get bytes(): number {
    return this.writer.pendingBytes + this.queuedBytes + this.socketBytes;
  }

  /** The pieces for one write to the socket; empty where nothing waits. */
  takeNext(): readonly Buffer[] {
    this.collect();
    if (this.queuedBytes === 0) return NOTHING;
    if (this.firstQueued === 0 && this.queuedBytes <= WRITE_BYTES_MAX) return this.takeAll();
    const pieces: Buffer[] = [];
    let room = WRITE_BYTES_MAX;
    while (room > 0 && this.firstQueued < this.queue.length) {
      const piece = this.queue[this.firstQueued] as Buffer; // first < length
      if (piece.length > room) {
        pieces.push(piece.subarray(0, room));
        this.queue[this.firstQueued] = piece.subarray(room);
        room = 0;
      } else {
        pieces.push(piece);
        this.firstQueued += 1;
        room -= piece.length;
      }
    }
    this.queuedBytes -= WRITE_BYTES_MAX - room;
    this.writtenBytes += WRITE_BYTES_MAX - room;
    return pieces;
  }

  /** The chunk just encoded is released to its source when it has left the process. */
  lend(chunk: Uint8Array, source: BodySource): void {
    const endsAt = this.writtenBytes + this.queuedBytes + this.writer.pendingBytes;
    if (source.release !== undefined) this.lentChunks.push({ endsAt, chunk, source });
  }

  /** The socket's buffer is empty: all chunks written so far are released. */
  socketEmpty(): void {
    let count = 0;
    for (const { endsAt, chunk, source } of this.lentChunks) {
      if (endsAt > this.writtenBytes) break;
      count += 1;
      source.release?.(chunk);
    }
    if (count > 0) this.lentChunks.splice(0, count);
    if (this.queuedBytes === 0) this.writer.reuseSlab();
  }

  /** The socket's buffer is full: the bytes of the last write still count. */
  socketFull(pieces: readonly Buffer[]): void {
    for (const piece of pieces) this.socketBytes += piece.length;
  }

  socketWritable(): void {
    this.socketBytes = 0;
    this.socketEmpty();
  }

  private takeAll(): readonly Buffer[] {
    const pieces = this.queue;
    this.queue = [];
    this.writtenBytes += this.queuedBytes;
    this.queuedBytes = 0;
    return pieces;
  }

  private collect(): void {
    if (this.writer.pendingBytes === 0) return;
    this.queuedBytes += this.writer.pendingBytes;
    const pieces = this.writer.takePieces();
    if (this.firstQueued === this.queue.length) {
      this.queue = pieces;
      this.firstQueued = 0;
      return;
    }
    for (const piece of pieces) this.queue.push(piece);
  }
}
