// A moving window over a segment file: what a reader holds in memory, whatever the size of the file.

import { begin, type Call, call, type Procedure } from '../storage/procedure.js';
import type { Storage, StorageFile } from '../storage/storage.js';

const CHUNK_BYTES = 1024 * 1024;

export class SegmentWindow {
  bytes: Buffer = Buffer.alloc(0);
  /** File offset of bytes[0]. */
  start = 0;
  readonly #storage: Storage;
  readonly #file: StorageFile;
  readonly #limit: number;
  #ahead: { readonly offset: number; readonly into: Buffer; readonly read: Call<number> } | undefined;

  constructor(storage: Storage, file: StorageFile, limit: number) {
    this.#storage = storage;
    this.#file = file;
    this.#limit = limit;
  }

  has(offset: number, bytes: number): boolean {
    return offset >= this.start && offset + bytes <= this.start + this.bytes.length;
  }

  /** Makes [offset, offset + bytes) present and forgets what lies before it; a shorter file leaves it absent. */
  *load(offset: number, bytes: number): Procedure<void> {
    let kept = this.bytes.subarray(Math.min(this.bytes.length, Math.max(0, offset - this.start)));
    if (offset < this.start) kept = Buffer.alloc(0);
    const chunks = [kept];
    let have = kept.length;
    while (have < bytes) {
      const chunk = yield* this.#next(offset + have);
      if (chunk.length === 0) break;
      chunks.push(chunk);
      have += chunk.length;
    }
    this.start = offset;
    this.bytes = chunks.length === 2 && kept.length === 0 ? (chunks[1] ?? kept) : Buffer.concat(chunks);
  }

  /** Completes the read that is under way, if any: the file may be closed after that. */
  *finish(): Procedure<void> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) yield* call(ahead.read);
  }

  *#next(offset: number): Procedure<Buffer> {
    if (this.#ahead !== undefined && this.#ahead.offset !== offset) yield* this.finish();
    const current = this.#ahead ?? this.#readAt(offset);
    this.#ahead = undefined;
    if (current === undefined) return Buffer.alloc(0);
    const count = yield* call(current.read);
    if (count === current.into.length) this.#ahead = this.#readAt(offset + count);
    return current.into.subarray(0, count);
  }

  /** The next chunk is read while this one is decoded. */
  #readAt(
    offset: number,
  ): { readonly offset: number; readonly into: Buffer; readonly read: Call<number> } | undefined {
    const bytes = Math.min(CHUNK_BYTES, this.#limit - offset);
    if (bytes <= 0) return undefined;
    const into = Buffer.allocUnsafeSlow(bytes);
    return { offset, into, read: begin((done) => this.#storage.read(this.#file, into, offset, done)) };
  }
}
