// Storing, reading and removing blobs beside the log.

import type { BlobRef } from '../format/record.js';
import type { WalHost } from '../host/host.js';
import { type Procedure, run } from '../storage/coroutine.js';
import { moveIntoPlace, removeIfThere } from '../storage/file-operations.js';
import { Chores } from '../storage/serial-task-queue.js';
import type { Done, Storage } from '../storage/storage.js';
import { WarmBlobs } from './blob-cache.js';
import { blobName, readBlob, writeBlob } from './blob-file.js';
import { BlobReader } from './blob-reader.js';
import { BlobUse } from './blob-references.js';
import { BlobWriter, type BlobWriterParts } from './blob-writer.js';
import { BlockPool } from './block-pool.js';

export class Blobs {
  readonly use = new BlobUse();
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly draftPrefix: string;
  private readonly pool = new BlockPool();
  private readonly warm = new WarmBlobs(this.pool);
  /** Names in blobs/ change one at a time: else removing a blob could hit one that was just stored again. */
  private readonly door = new Chores();
  private drafts = 0;

  constructor(storage: Storage, host: WalHost, draftPrefix: string) {
    this.storage = storage;
    this.host = host;
    this.draftPrefix = draftPrefix;
  }

  write(judge: BlobWriterParts['judge']): BlobWriter {
    const publish: BlobWriterParts['publish'] = (draft, ref, done) =>
      this.door.add(() => this.publish(draft, ref), done);
    const memory = { pool: this.pool, warm: this.warm };
    return new BlobWriter({ storage: this.storage, ...memory, draft: this.draft(), publish, judge });
  }

  readInPieces(ref: BlobRef): BlobReader {
    return new BlobReader(this.storage, { pool: this.pool, warm: this.warm }, ref);
  }

  /** No record will refer to it, so nobody will read it. */
  release(ref: BlobRef): void {
    this.use.released(ref);
    this.warm.drop(this.warm.take(ref));
  }

  put(bytes: Uint8Array, done: Done<BlobRef>): void {
    const draft = this.draft();
    run(writeBlob(this.storage, this.host, bytes, draft), (error, ref) => {
      if (error !== null) return done(error, ref);
      this.door.add(
        () => this.publish(draft, ref),
        (moveError) => done(moveError, ref),
      );
    });
  }

  read(ref: BlobRef, done: Done<Buffer>): void {
    run(readBlob(this.storage, ref), done);
  }

  /** Removes these, except those a record behind `lsn`, or one still to come, may need. */
  removeUnless(sha256s: readonly string[], lsn: number): void {
    for (const sha256 of sha256s) {
      // What cannot be removed is only space; the next snapshot tries again.
      this.door.add(
        () => this.remove(sha256, lsn),
        () => undefined,
      );
    }
    this.door.add(
      () => this.forget(lsn),
      () => undefined,
    );
  }

  private draft(): string {
    this.drafts += 1;
    return `blobs/${this.draftPrefix}-${this.drafts}.tmp`;
  }

  private *publish(draft: string, ref: BlobRef): Procedure<void> {
    this.use.stored(ref);
    yield* moveIntoPlace(this.storage, draft, blobName(ref.sha256));
  }

  private *remove(sha256: string, lsn: number): Procedure<void> {
    if (!this.use.isNeededAfter(sha256, lsn)) yield* removeIfThere(this.storage, blobName(sha256));
  }

  // biome-ignore lint/correctness/useYield: it waits its turn like the others, but asks nothing of the disk
  private *forget(lsn: number): Procedure<void> {
    this.use.forgetUpTo(lsn);
  }
}
