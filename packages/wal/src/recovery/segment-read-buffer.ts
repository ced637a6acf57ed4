// A buffer that moves over a segment file, with one chunk of read-ahead. Memory does not grow with the file.

import { type Call, type Coroutine, call, startCall } from '../storage/coroutine.js';
import { withOpenFile } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';

const CHUNK_BYTES = 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** A read in flight into the chunk buffer. */
interface ReadAhead {
  readonly offset: number;
  readonly read: Call<number>;
}

/** Opens a segment file of at least `limit` bytes and closes it after `use`. */
export function* withSegmentReadBuffer<T>(
  storage: Storage,
  name: string,
  limit: number,
  use: (buffer: SegmentReadBuffer) => Coroutine<T>,
): Coroutine<T> {
  return yield* withOpenFile(storage, name, function* (file) {
    const buffer = new SegmentReadBuffer(storage, file, limit);
    try {
      return yield* use(buffer);
    } finally {
      // A read-ahead in flight must end before the file is closed.
      yield* buffer.finish();
    }
  });
}

/** Both buffers are reused: `bytes` is valid until the next `load`. */
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

  /** Loads [offset, offset + bytes), less at the end of the file, and drops the bytes before it. */
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

  /** Waits for the read in flight, if any, so that the file may be closed. */
  *finish(): Coroutine<void> {
    const ahead = this.readAhead;
    this.readAhead = undefined;
    if (ahead !== undefined) yield* call(ahead.read);
  }

  /** Moves the kept bytes to the front of a buffer of at least so many bytes. */
  private makeRoom(kept: Buffer, bytes: number): void {
    const buffer = this.buffer.length < bytes ? Buffer.allocUnsafeSlow(bytes) : this.buffer;
    kept.copy(buffer);
    this.buffer = buffer;
  }

  /** The number of bytes read into the chunk buffer. */
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
