// Writes a blob that arrives in chunks. In memory are the block being filled, the block being written, and
// the written ones while the cache has room for them.

import { createHash } from 'node:crypto';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import { removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import type { Callback, Storage, StorageFile } from '../storage/storage.js';
import type { BlobCache } from './blob-cache.js';
import type { BlobRef } from './blob-ref.js';
import type { BlockPool } from './block-pool.js';

export interface BlobWriterOptions {
  readonly storage: Storage;
  readonly pool: BlockPool;
  readonly cache: BlobCache;
  readonly tempName: string;
  /** Renames the synced temporary file to its final name. */
  readonly publish: (tempName: string, ref: BlobRef, done: Callback<void>) => void;
  /** The error to report for a failure, which may end the log. */
  readonly classifyError: (error: Error, bytes: number) => Error;
}

interface BlockedWrite {
  readonly chunk: Uint8Array;
  readonly done: (error: Error | null) => void;
}

export class BlobWriter {
  private readonly options: BlobWriterOptions;
  private readonly hash = createHash('sha256');
  private file: StorageFile | undefined;
  private block: Buffer | undefined;
  /** All blocks written so far; undefined once the cache had no room for one. */
  private cachedBlocks: Buffer[] | undefined = [];
  private filled = 0;
  private position = 0;
  private isWriting = true;
  private blockedWrites: BlockedWrite[] = [];
  private onFinished: Callback<BlobRef> | undefined;
  private error: Error | undefined;
  private isFinished = false;

  constructor(options: BlobWriterOptions) {
    this.options = options;
    options.storage.open(options.tempName, 'create', (error, file) => {
      if (error === null) this.file = file;
      this.onWritten(error);
    });
  }

  /** Copies the chunk. `done` is called, now or later, when the next chunk may follow. */
  write(chunk: Uint8Array, done: (error: Error | null) => void): void {
    if (this.error !== undefined || this.isFinished)
      return done(this.error ?? new Error('the blob is closed'));
    if (this.blockedWrites.length > 0) this.blockedWrites.push({ chunk, done });
    else this.accept({ chunk, done });
  }

  /** The blob is durable under its final name when `done` is called. Then a record may refer to it. */
  finish(done: Callback<BlobRef>): void {
    this.onFinished = done;
    this.advance();
  }

  /** Discards the bytes written so far. */
  abort(): void {
    this.error ??= new Error('the blob was aborted');
    this.advance();
  }

  private accept({ chunk, done }: BlockedWrite): void {
    let at = 0;
    while (at < chunk.length) {
      this.block ??= this.options.pool.acquire();
      const room = this.block.length - this.filled;
      const part = chunk.subarray(at, at + room);
      this.block.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
      if (this.filled < this.block.length) break;
      if (this.isWriting) {
        this.blockedWrites.unshift({ chunk: chunk.subarray(at), done });
        return;
      }
      this.writeBlock();
    }
    done(null);
  }

  /** The block is hashed while the disk works. */
  private writeBlock(): void {
    const block = this.block as Buffer;
    const bytes = block.subarray(0, this.filled);
    const position = this.position;
    this.block = undefined;
    this.filled = 0;
    this.position += bytes.length;
    this.isWriting = true;
    runCoroutine(writeFully(this.options.storage, this.file as StorageFile, bytes, position), (error) => {
      this.cacheBlock(block);
      this.onWritten(error);
    });
    this.hash.update(bytes);
  }

  private cacheBlock(block: Buffer): void {
    const { pool, cache } = this.options;
    if (this.cachedBlocks !== undefined && cache.reserveBlock()) {
      this.cachedBlocks.push(block);
      return;
    }
    pool.release(block);
    this.dropCachedBlocks();
  }

  private dropCachedBlocks(): void {
    if (this.cachedBlocks !== undefined) this.options.cache.recycle(this.cachedBlocks);
    this.cachedBlocks = undefined;
  }

  private onWritten(error: Error | null): void {
    this.isWriting = false;
    if (error !== null) this.error ??= this.options.classifyError(error, this.position);
    this.advance();
  }

  private advance(): void {
    if (this.isWriting || this.isFinished) return;
    if (this.error !== undefined) return this.discard(this.error);
    if (this.blockedWrites.length > 0) {
      this.writeBlock();
      // As many as fit into the next block; the others wait for this write.
      for (let next = this.blockedWrites.shift(); next !== undefined; next = this.blockedWrites.shift()) {
        const waiting = this.blockedWrites.length;
        this.accept(next);
        if (this.blockedWrites.length > waiting) return;
      }
      return;
    }
    if (this.onFinished === undefined) return;
    if (this.filled > 0) this.writeBlock();
    else this.publish(this.onFinished);
  }

  private publish(done: Callback<BlobRef>): void {
    const { storage, tempName, publish } = this.options;
    const file = this.file as StorageFile;
    this.isFinished = true;
    const ref: BlobRef = { sha256: this.hash.digest('hex'), bytes: this.position };
    const close = function* (): Coroutine<void> {
      yield* syncFile(storage, file);
      yield* call<void>((closed) => storage.close(file, closed));
    };
    const finished = (error: Error | null): void => {
      if (error !== null) {
        this.dropCachedBlocks();
        return done(this.options.classifyError(error, ref.bytes), ref);
      }
      if (this.cachedBlocks !== undefined) this.options.cache.add(ref, this.cachedBlocks);
      done(null, ref);
    };
    runCoroutine(close(), (error) => {
      if (error === null) publish(tempName, ref, finished);
      else finished(error);
    });
  }

  private discard(error: Error): void {
    this.isFinished = true;
    this.dropCachedBlocks();
    const { storage, tempName } = this.options;
    const file = this.file;
    const blockedWrites = this.blockedWrites;
    this.blockedWrites = [];
    const onFinished = this.onFinished;
    const notifyCallers = (): void => {
      for (const { done } of blockedWrites) done(error);
      onFinished?.(error, undefined as never);
    };
    if (file === undefined) return notifyCallers();
    // A temporary file that cannot be removed only takes space, and the next open removes it.
    storage.close(file, () => runCoroutine(removeIfThere(storage, tempName), notifyCallers));
  }
}
