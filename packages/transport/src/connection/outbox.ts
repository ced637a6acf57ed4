import { FrameWriter } from '../frame/frame-writer.js';
import type { BodySource } from './body-source.js';

/** Handed to the socket at once at most. Small enough that a peer must take this much within the write deadline, or is gone. */
const WRITE_BYTES_MAX = 256 * 1024;
const NOTHING: readonly Buffer[] = [];

/** A chunk that travels by reference, and where its last byte stands among all bytes ever written to this peer. */
interface Lent {
  readonly endsAt: number;
  readonly chunk: Uint8Array;
  readonly source: BodySource;
}

/** Everything that waits to be written to one peer, in order, counted. The socket's own share counts until it has drained. */
export class Outbox {
  readonly writer = new FrameWriter();
  #queue: Buffer[] = [];
  #first = 0;
  #queuedBytes = 0;
  #inSocketBytes = 0;
  #handedBytes = 0;
  #lent: Lent[] = [];

  get bytes(): number {
    return this.writer.bytes + this.#queuedBytes + this.#inSocketBytes;
  }

  /** The pieces for one write to the socket; empty when there is nothing. */
  next(): readonly Buffer[] {
    this.#gather();
    if (this.#queuedBytes === 0) return NOTHING;
    if (this.#first === 0 && this.#queuedBytes <= WRITE_BYTES_MAX) return this.#everything();
    const pieces: Buffer[] = [];
    let room = WRITE_BYTES_MAX;
    while (room > 0 && this.#first < this.#queue.length) {
      const piece = this.#queue[this.#first] as Buffer; // first < length
      if (piece.length > room) {
        pieces.push(piece.subarray(0, room));
        this.#queue[this.#first] = piece.subarray(room);
        room = 0;
      } else {
        pieces.push(piece);
        this.#first += 1;
        room -= piece.length;
      }
    }
    this.#queuedBytes -= WRITE_BYTES_MAX - room;
    this.#handedBytes += WRITE_BYTES_MAX - room;
    return pieces;
  }

  /** The chunk just written is told back to its source when it has left. */
  lend(chunk: Uint8Array, source: BodySource): void {
    const endsAt = this.#handedBytes + this.#queuedBytes + this.writer.bytes;
    if (source.release !== undefined) this.#lent.push({ endsAt, chunk, source });
  }

  /** The socket holds nothing of what it was given. */
  left(): void {
    let count = 0;
    for (const { endsAt, chunk, source } of this.#lent) {
      if (endsAt > this.#handedBytes) break;
      count += 1;
      source.release?.(chunk);
    }
    if (count > 0) this.#lent.splice(0, count);
    if (this.#queuedBytes === 0) this.writer.reuse();
  }

  /** The socket said it has enough: what it was given still counts. */
  stalled(pieces: readonly Buffer[]): void {
    for (const piece of pieces) this.#inSocketBytes += piece.length;
  }

  drained(): void {
    this.#inSocketBytes = 0;
    this.left();
  }

  #everything(): readonly Buffer[] {
    const pieces = this.#queue;
    this.#queue = [];
    this.#handedBytes += this.#queuedBytes;
    this.#queuedBytes = 0;
    return pieces;
  }

  #gather(): void {
    if (this.writer.bytes === 0) return;
    this.#queuedBytes += this.writer.bytes;
    const pieces = this.writer.take();
    if (this.#first === this.#queue.length) {
      this.#queue = pieces;
      this.#first = 0;
      return;
    }
    for (const piece of pieces) this.#queue.push(piece);
  }
}
