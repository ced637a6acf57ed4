// Reads a blob in chunks, from the cache or from its file. The last chunk of a file is returned only after
// the SHA-256 of the whole was checked.

import { createHash } from 'node:crypto';
import type { BlobRef } from '../codec/record.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalBlobError } from '../wal-error.js';
import type { BlobCache } from './blob-cache.js';
import { blobName } from './blob-file.js';
import { BLOCK_BYTES, type BlockPool } from './block-pool.js';

const EMPTY = Buffer.alloc(0);

export interface BlobMemory {
  readonly pool: BlockPool;
  readonly cache: BlobCache;
}

export class BlobReader {
  readonly length: number;
  private readonly storage: Storage;
  private readonly memory: BlobMemory;
  private readonly ref: BlobRef;
  private readonly hash = createHash('sha256');
  /** Blocks from the cache still to be read. */
  private readonly cachedBlocks: Buffer[];
  /** Blocks from the cache not yet released. */
  private cachedUnreleased: number;
  /** Blocks read and not released, oldest first. The last one may be read in part. */
  private readonly unreleased: Buffer[] = [];
  private releasedBlocks = 0;
  private releasedBytes = 0;
  private file: StorageFile | undefined;
  private block: Buffer = EMPTY;
  private blockOffset = 0;
  private position = 0;
  private isReading = false;
  private isClosed = false;

  constructor(storage: Storage, memory: BlobMemory, ref: BlobRef) {
    this.storage = storage;
    this.memory = memory;
    this.ref = ref;
    this.length = ref.bytes;
    this.cachedBlocks = memory.cache.take(ref);
    this.cachedUnreleased = this.cachedBlocks.length;
  }

  /** Calls `done` once, now or later: at most `bytesMax` bytes, null at the end, or an error. */
  read(bytesMax: number, done: (error: Error | null, chunk: Uint8Array | null) => void): void {
    if (this.blockOffset < this.block.length) return done(null, this.next(bytesMax));
    if (this.position === this.ref.bytes) return done(null, null);
    const cached = this.cachedBlocks.shift();
    if (cached !== undefined) {
      this.startBlock(cached);
      return done(null, this.next(bytesMax));
    }
    this.isReading = true;
    runCoroutine(this.readBlock(), (error) => {
      this.isReading = false;
      if (this.isClosed) this.closeFile();
      done(error, error === null ? this.next(bytesMax) : null);
    });
  }

  /** Returns the memory of a chunk, in the order of the reads. Without it, the garbage collector does. */
  release(chunk: Uint8Array): void {
    this.releasedBytes += chunk.length;
    const blockEnd = Math.min((this.releasedBlocks + 1) * BLOCK_BYTES, this.length);
    if (this.releasedBytes < blockEnd) return;
    this.releasedBlocks += 1;
    this.memory.pool.release(this.unreleased.shift() as Buffer); // its chunks were read, so it is there
    if (this.cachedUnreleased === 0) return;
    this.cachedUnreleased -= 1;
    this.memory.cache.unreserve(1);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const unread = this.cachedBlocks.splice(0);
    this.memory.cache.recycle(unread);
    // Chunks still in use may never be released.
    this.memory.cache.unreserve(this.cachedUnreleased - unread.length);
    this.cachedUnreleased = 0;
    if (!this.isReading) this.closeFile();
  }

  private next(bytesMax: number): Uint8Array {
    const chunk = this.block.subarray(this.blockOffset, this.blockOffset + bytesMax);
    this.blockOffset += chunk.length;
    return chunk;
  }

  private startBlock(memory: Buffer): void {
    this.block = memory.subarray(0, Math.min(BLOCK_BYTES, this.ref.bytes - this.position));
    this.blockOffset = 0;
    this.position += this.block.length;
    this.unreleased.push(memory);
  }

  private *readBlock(): Coroutine<void> {
    const { sha256, bytes } = this.ref;
    this.file ??= yield* this.open();
    const file = this.file;
    const position = this.position;
    const memory = this.memory.pool.acquire();
    const block = memory.subarray(0, Math.min(BLOCK_BYTES, bytes - position));
    const count = yield* call<number>((done) => this.storage.read(file, block, position, done));
    if (count !== block.length)
      throw new WalBlobError(sha256, `ends ${block.length - count} bytes too early`);
    this.hash.update(block);
    if (position + count === bytes && this.hash.digest('hex') !== sha256)
      throw new WalBlobError(sha256, 'the content does not match its SHA-256');
    this.startBlock(memory);
  }

  private *open(): Coroutine<StorageFile> {
    const { sha256, bytes } = this.ref;
    const name = blobName(sha256);
    const size = yield* call<number | undefined>((done) => this.storage.size(name, done));
    if (size === undefined) throw new WalBlobError(sha256, 'the file is missing');
    if (size !== bytes) throw new WalBlobError(sha256, `${size} bytes long, ${bytes} are recorded`);
    return yield* call<StorageFile>((done) => this.storage.open(name, 'read', done));
  }

  private closeFile(): void {
    const file = this.file;
    this.file = undefined;
    // An error from closing a file that was only read has no consequence.
    if (file !== undefined) this.storage.close(file, () => undefined);
  }
}
