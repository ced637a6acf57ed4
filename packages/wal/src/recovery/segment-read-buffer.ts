// A moving window over a segment file: what a reader holds in memory, whatever the size of the file.

import { type Call, type Coroutine, call, startCall } from '../storage/coroutine.js';
import type { Storage, StorageFile } from '../storage/storage.js';

const CHUNK_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** A read under way into the front of the chunk buffer. */
interface ReadAhead {
  readonly offset: number;
  readonly read: Call<number>;
}

/** Both buffers are used again and again: what `bytes` shows is valid until the next `load`. */
export class SegmentReadBuffer {
  bytes: Buffer = EMPTY;
  /** File offset of bytes[0]. */
  start = 0;
  private readonly storage: Storage;
  private readonly file: StorageFile;
  private readonly limit: number;
  private readonly chunk: Buffer;
  private buffer: Buffer = EMPTY;
  private readAhead: ReadAhead | undefined;

  constructor(storage: Storage, file: StorageFile, limit: number) {
    this.storage = storage;
    this.file = file;
    this.limit = limit;
    this.chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, limit));
  }

  has(offset: number, bytes: number): boolean {
    return offset >= this.start && offset + bytes <= this.start + this.bytes.length;
  }

  /** Makes [offset, offset + bytes) present and forgets what lies before it; a shorter file leaves it absent. */
  *load(offset: number, bytes: number): Coroutine<void> {
    const isBehind = offset < this.start;
    const kept = isBehind ? EMPTY : this.bytes.subarray(Math.min(this.bytes.length, offset - this.start));
    let have = kept.length;
    this.makeRoom(kept, bytes + this.chunk.length);
    while (have < bytes) {
      const count = yield* this.readChunk(offset + have);
      if (count === 0) break;
      this.chunk.copy(this.buffer, have, 0, count);
      have += count;
      // The next chunk is read while this one is decoded.
      if (count === this.chunk.length) this.readAhead = this.startRead(offset + have);
    }
    this.start = offset;
    this.bytes = this.buffer.subarray(0, have);
  }

  /** Completes the read that is under way, if any: the file may be closed after that. */
  *finish(): Coroutine<void> {
    const ahead = this.readAhead;
    this.readAhead = undefined;
    if (ahead !== undefined) yield* call(ahead.read);
  }

  /** What is kept goes to the front of a room of at least so many bytes. */
  private makeRoom(kept: Buffer, bytes: number): void {
    const room = this.buffer.length < bytes ? Buffer.allocUnsafeSlow(bytes) : this.buffer;
    kept.copy(room);
    this.buffer = room;
  }

  /** Bytes that stand in the chunk buffer now. */
  private *readChunk(offset: number): Coroutine<number> {
    if (this.readAhead !== undefined && this.readAhead.offset !== offset) yield* this.finish();
    const current = this.readAhead ?? this.startRead(offset);
    this.readAhead = undefined;
    return current === undefined ? 0 : yield* call(current.read);
  }

  private startRead(offset: number): ReadAhead | undefined {
    const bytes = Math.min(this.chunk.length, this.limit - offset);
    if (bytes <= 0) return undefined;
    const into = this.chunk.subarray(0, bytes);
    return { offset, read: startCall((done) => this.storage.read(this.file, into, offset, done)) };
  }
}
