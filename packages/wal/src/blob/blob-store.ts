// Stores, reads and removes blobs: large payloads, each in a file named after its SHA-256.

import type { WalHost } from '../host/wal-host.js';
import { type Coroutine, runCoroutine } from '../storage/coroutine.js';
import { moveIntoPlace, removeIfThere } from '../storage/file-operations.js';
import { SerialTaskQueue } from '../storage/serial-task-queue.js';
import type { Callback, Storage } from '../storage/storage.js';
import { BlobCache } from './blob-cache.js';
import { blobName, readBlob, writeBlob } from './blob-file.js';
import { BlobReader } from './blob-reader.js';
import type { BlobRef } from './blob-ref.js';
import { BlobReferences } from './blob-references.js';
import { BlobWriter, type BlobWriterOptions } from './blob-writer.js';
import { BlockPool } from './block-pool.js';

export class BlobStore {
  readonly references = new BlobReferences();
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly tempPrefix: string;
  private readonly pool = new BlockPool();
  private readonly cache = new BlobCache(this.pool);
  /** Names in blobs/ change one at a time, so that a removal cannot hit a blob that was just stored again. */
  private readonly renameQueue = new SerialTaskQueue();
  private tempCount = 0;

  constructor(storage: Storage, host: WalHost, tempPrefix: string) {
    this.storage = storage;
    this.host = host;
    this.tempPrefix = tempPrefix;
  }

  createWriter(classifyError: BlobWriterOptions['classifyError']): BlobWriter {
    const publish: BlobWriterOptions['publish'] = (tempName, ref, done) =>
      this.renameQueue.add(() => this.publish(tempName, ref), done);
    const memory = { pool: this.pool, cache: this.cache };
    return new BlobWriter({
      storage: this.storage,
      ...memory,
      tempName: this.nextTempName(),
      publish,
      classifyError,
    });
  }

  createReader(ref: BlobRef): BlobReader {
    return new BlobReader(this.storage, { pool: this.pool, cache: this.cache }, ref);
  }

  /** Releases a blob to which no record will refer. */
  release(ref: BlobRef): void {
    this.references.releasePending(ref);
    this.cache.recycle(this.cache.take(ref));
  }

  put(bytes: Uint8Array, done: Callback<BlobRef>): void {
    const tempName = this.nextTempName();
    runCoroutine(writeBlob(this.storage, this.host, bytes, tempName), (error, ref) => {
      if (error !== null) return done(error, ref);
      this.renameQueue.add(
        () => this.publish(tempName, ref),
        (moveError) => done(moveError, ref),
      );
    });
  }

  read(ref: BlobRef, done: Callback<Buffer>): void {
    runCoroutine(readBlob(this.storage, ref), done);
  }

  /** Removes these blobs, except those that a record after `lsn` may need. */
  removeUnreferenced(sha256s: readonly string[], lsn: number): void {
    for (const sha256 of sha256s) {
      // A blob that cannot be removed only takes space; the next snapshot tries again.
      this.renameQueue.add(
        () => this.removeUnlessNeeded(sha256, lsn),
        () => undefined,
      );
    }
    this.renameQueue.add(
      () => this.pruneReferences(lsn),
      () => undefined,
    );
  }

  private nextTempName(): string {
    this.tempCount += 1;
    return `blobs/${this.tempPrefix}-${this.tempCount}.tmp`;
  }

  private *publish(tempName: string, ref: BlobRef): Coroutine<void> {
    this.references.addPending(ref);
    yield* moveIntoPlace(this.storage, tempName, blobName(ref.sha256));
  }

  private *removeUnlessNeeded(sha256: string, lsn: number): Coroutine<void> {
    if (!this.references.isNeededAfter(sha256, lsn)) yield* removeIfThere(this.storage, blobName(sha256));
  }

  // biome-ignore lint/correctness/useYield: a task of the queue that calls no storage
  private *pruneReferences(lsn: number): Coroutine<void> {
    this.references.pruneUpTo(lsn);
  }
}
