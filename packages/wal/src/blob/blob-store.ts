// Storing, reading and removing blobs beside the log.

import type { BlobRef } from '../format/record.js';
import type { WalHost } from '../host/host.js';
import { type Coroutine, runCoroutine } from '../storage/coroutine.js';
import { moveIntoPlace, removeIfThere } from '../storage/file-operations.js';
import { SerialTaskQueue } from '../storage/serial-task-queue.js';
import type { Callback, Storage } from '../storage/storage.js';
import { BlobCache } from './blob-cache.js';
import { blobName, readBlob, writeBlob } from './blob-file.js';
import { BlobReader } from './blob-reader.js';
import { BlobReferences } from './blob-references.js';
import { BlobWriter, type BlobWriterOptions } from './blob-writer.js';
import { BlockPool } from './block-pool.js';

export class BlobStore {
  readonly references = new BlobReferences();
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly draftPrefix: string;
  private readonly pool = new BlockPool();
  private readonly cache = new BlobCache(this.pool);
  /** Names in blobs/ change one at a time: else removing a blob could hit one that was just stored again. */
  private readonly renameQueue = new SerialTaskQueue();
  private drafts = 0;

  constructor(storage: Storage, host: WalHost, draftPrefix: string) {
    this.storage = storage;
    this.host = host;
    this.draftPrefix = draftPrefix;
  }

  createWriter(classifyError: BlobWriterOptions['classifyError']): BlobWriter {
    const publish: BlobWriterOptions['publish'] = (nextDraft, ref, done) =>
      this.renameQueue.add(() => this.publish(nextDraft, ref), done);
    const memory = { pool: this.pool, cache: this.cache };
    return new BlobWriter({ storage: this.storage, ...memory, draft: this.draft(), publish, classifyError });
  }

  createReader(ref: BlobRef): BlobReader {
    return new BlobReader(this.storage, { pool: this.pool, cache: this.cache }, ref);
  }

  /** No record will refer to it, so nobody will read it. */
  release(ref: BlobRef): void {
    this.references.releasePending(ref);
    this.cache.recycle(this.cache.take(ref));
  }

  put(bytes: Uint8Array, done: Callback<BlobRef>): void {
    const draft = this.draft();
    runCoroutine(writeBlob(this.storage, this.host, bytes, draft), (error, ref) => {
      if (error !== null) return done(error, ref);
      this.renameQueue.add(
        () => this.publish(draft, ref),
        (moveError) => done(moveError, ref),
      );
    });
  }

  read(ref: BlobRef, done: Callback<Buffer>): void {
    runCoroutine(readBlob(this.storage, ref), done);
  }

  /** Removes these, except those a record behind `lsn`, or one still to come, may need. */
  removeUnreferenced(sha256s: readonly string[], lsn: number): void {
    for (const sha256 of sha256s) {
      // What cannot be removed is only space; the next snapshot tries again.
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

  private draft(): string {
    this.drafts += 1;
    return `blobs/${this.draftPrefix}-${this.drafts}.tmp`;
  }

  private *publish(draft: string, ref: BlobRef): Coroutine<void> {
    this.references.addPending(ref);
    yield* moveIntoPlace(this.storage, draft, blobName(ref.sha256));
  }

  private *removeUnlessNeeded(sha256: string, lsn: number): Coroutine<void> {
    if (!this.references.isNeededAfter(sha256, lsn)) yield* removeIfThere(this.storage, blobName(sha256));
  }

  // biome-ignore lint/correctness/useYield: it waits its turn like the others, but asks nothing of the disk
  private *pruneReferences(lsn: number): Coroutine<void> {
    this.references.pruneUpTo(lsn);
  }
}
