// A blob read in pieces. Its last piece is given only when all of it was what its name says.

import { createHash } from 'node:crypto';
import type { BlobRef } from '../format/record.js';
import { call, type Procedure, run } from '../storage/procedure.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalBlobError } from '../wal-error.js';
import { blobName } from './blob-store.js';

const BLOCK_BYTES = 1024 * 1024;

export class BlobReader {
  readonly length: number;
  readonly #storage: Storage;
  readonly #ref: BlobRef;
  readonly #hash = createHash('sha256');
  #file: StorageFile | undefined;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;
  #position = 0;
  #isReading = false;
  #isClosed = false;

  constructor(storage: Storage, ref: BlobRef) {
    this.#storage = storage;
    this.#ref = ref;
    this.length = ref.bytes;
  }

  /** Calls `done` once, now or later, with at most `bytesMax`, with null at the end, or with a WalBlobError or what the disk said. */
  read(bytesMax: number, done: (error: Error | null, chunk: Uint8Array | null) => void): void {
    if (this.#at < this.#block.length) return done(null, this.#next(bytesMax));
    if (this.#position === this.#ref.bytes) return done(null, null);
    this.#isReading = true;
    run(this.#readBlock(), (error) => {
      this.#isReading = false;
      if (this.#isClosed) this.#letGo();
      done(error, error === null ? this.#next(bytesMax) : null);
    });
  }

  close(): void {
    this.#isClosed = true;
    if (!this.#isReading) this.#letGo();
  }

  #next(bytesMax: number): Uint8Array {
    const chunk = this.#block.subarray(this.#at, this.#at + bytesMax);
    this.#at += chunk.length;
    return chunk;
  }

  *#readBlock(): Procedure<void> {
    const { sha256, bytes } = this.#ref;
    this.#file ??= yield* this.#open();
    const file = this.#file;
    const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, bytes - this.#position));
    const count = yield* call<number>((done) => this.#storage.read(file, block, this.#position, done));
    if (count !== block.length)
      throw new WalBlobError(sha256, `ends ${block.length - count} bytes too early`);
    this.#hash.update(block);
    this.#position += count;
    if (this.#position === bytes && this.#hash.digest('hex') !== sha256)
      throw new WalBlobError(sha256, 'the content is not what its name says');
    this.#block = block;
    this.#at = 0;
  }

  *#open(): Procedure<StorageFile> {
    const { sha256, bytes } = this.#ref;
    const name = blobName(sha256);
    const size = yield* call<number | undefined>((done) => this.#storage.size(name, done));
    if (size === undefined) throw new WalBlobError(sha256, 'the file is missing');
    if (size !== bytes) throw new WalBlobError(sha256, `${size} bytes long, ${bytes} are recorded`);
    return yield* call<StorageFile>((done) => this.#storage.open(name, 'read', done));
  }

  #letGo(): void {
    const file = this.#file;
    this.#file = undefined;
    // Read only: whatever closing says changes nothing.
    if (file !== undefined) this.#storage.close(file, () => undefined);
  }
}
