// When a snapshot is made, and how it comes to count: built beside the log, committed by a rename, and only then is what it
// replaces removed.

import { isBlobName } from '../blob/blob-file.js';
import type { BlobStore } from '../blob/blob-store.js';
import type { SnapshotEntry } from '../format/manifest.js';
import { SECTION_BLOBS, snapshotName } from '../format/snapshot-file.js';
import type { LogSettings } from '../log/options.js';
import type { ManifestFile } from '../manifest/manifest-file.js';
import { droppedFiles, lastSealedLsn, sealedBytesBehind, withSnapshot } from '../manifest/retention.js';
import type { ObsoleteFiles } from '../segments/obsolete-files.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { moveIntoPlace } from '../storage/file-operations.js';
import type { SerialTaskQueue } from '../storage/serial-task-queue.js';
import type { Callback } from '../storage/storage.js';
import type { BuiltSnapshot, SnapshotBuilder } from './fold.js';
import { readSnapshot } from './snapshot-reader.js';
import { decodeBlobRefs } from './snapshot-writer.js';

export interface SnapshotSchedulerOptions {
  readonly settings: LogSettings;
  readonly builder: SnapshotBuilder;
  readonly manifestFile: ManifestFile;
  readonly tasks: SerialTaskQueue;
  readonly obsoleteFiles: ObsoleteFiles;
  readonly blobs: BlobStore;
  /** Asks for the segment being written to be closed. */
  readonly rotate: () => void;
  /** An error after which nobody knows what is on the disk. */
  readonly onFatal: (error: Error) => void;
}

export class SnapshotScheduler {
  private readonly options: SnapshotSchedulerOptions;
  private requests: { readonly lsn: number; readonly done: Callback<SnapshotEntry> }[] = [];
  private isBuildRunning = false;
  private failures = 0;

  constructor(parts: SnapshotSchedulerOptions) {
    this.options = parts;
  }

  get isBuilding(): boolean {
    return this.isBuildRunning;
  }

  /** A snapshot that holds every record up to `lsn`. */
  make(lsn: number, done: Callback<SnapshotEntry>): void {
    this.requests.push({ lsn, done });
    if (lastSealedLsn(this.options.manifestFile.manifest) < lsn) this.options.rotate();
    this.buildIfDue();
  }

  /** CURRENT has changed: perhaps more is sealed now. */
  buildIfDue(): void {
    if (this.isBuildRunning) return;
    const { settings, manifestFile } = this.options;
    const sealed = lastSealedLsn(manifestFile.manifest);
    const newest = manifestFile.manifest.snapshots[0];
    if (newest !== undefined) this.completeRequests(newest);
    if (this.requests.some(({ lsn }) => lsn <= sealed)) {
      this.build(sealed);
      return;
    }
    const every = Math.max(settings.snapshotEveryBytes, 2 * (newest?.bytes ?? 0));
    if (settings.snapshotEveryBytes > 0 && sealedBytesBehind(manifestFile.manifest) > every)
      this.build(sealed);
  }

  /** Space is short: fold what is sealed, whatever its size, so that older segments can go. */
  buildToFreeSpace(): void {
    const { manifestFile } = this.options;
    const sealed = lastSealedLsn(manifestFile.manifest);
    if (
      !this.isBuildRunning &&
      sealed > (manifestFile.manifest.snapshots[0]?.lsn ?? manifestFile.manifest.start.lsn)
    )
      this.build(sealed);
  }

  private build(lsn: number): void {
    const { builder, obsoleteFiles, tasks, settings } = this.options;
    const startedAt = settings.host.now();
    const draft = `${snapshotName(lsn)}.tmp`;
    const unpin = obsoleteFiles.pin();
    this.isBuildRunning = true;
    builder.build({ lsn, draft }, (error, built) => {
      unpin();
      if (error !== null) return this.onFailed(error);
      tasks.add(
        () => this.commit(lsn, draft, built),
        (commitError, entry) => {
          if (commitError !== null) {
            this.onFailed(commitError);
            this.options.onFatal(commitError);
            return;
          }
          this.isBuildRunning = false;
          this.failures = 0;
          const ms = settings.host.now() - startedAt;
          settings.onEvent({ kind: 'snapshot-made', lsn, bytes: entry.bytes, ms });
          this.buildIfDue();
        },
      );
    });
  }

  private *commit(lsn: number, draft: string, built: BuiltSnapshot): Coroutine<SnapshotEntry> {
    const { settings, manifestFile, obsoleteFiles, blobs } = this.options;
    yield* manifestFile.assertNotFenced();
    yield* moveIntoPlace(settings.storage, draft, snapshotName(lsn));
    const entry: SnapshotEntry = { lsn, bytes: built.bytes, sha256: built.sha256 };
    const before = manifestFile.manifest;
    const after = yield* manifestFile.publish((manifest) => withSnapshot(manifest, entry));
    obsoleteFiles.add(droppedFiles(before, after));
    blobs.removeUnreferenced(yield* this.unlistedBlobs(), lsn);
    return entry;
  }

  /** Blobs that neither kept snapshot lists. */
  private *unlistedBlobs(): Coroutine<string[]> {
    const { settings, manifestFile } = this.options;
    const stored = (yield* call<string[]>((done) => settings.storage.list('blobs', done))).filter(isBlobName);
    const { snapshots } = manifestFile.manifest;
    // With one generation the whole log is still there, and any record of it may name a blob.
    if (stored.length === 0 || snapshots.length < 2) return [];
    const listed = new Set<string>();
    for (const { lsn } of snapshots) {
      let declares = false;
      yield* readSnapshot(settings.storage, snapshotName(lsn), (kind, payload) => {
        if (kind !== SECTION_BLOBS) return;
        declares = true;
        for (const ref of decodeBlobRefs(payload)) listed.add(ref.sha256);
      });
      if (!declares) return [];
    }
    return stored.filter((sha256) => !listed.has(sha256));
  }

  private onFailed(error: Error): void {
    this.isBuildRunning = false;
    this.failures += 1;
    this.options.settings.onEvent({ kind: 'snapshot-failed', error, consecutiveFailures: this.failures });
    const waiting = this.requests;
    this.requests = [];
    for (const { done } of waiting) done(error, undefined as never);
  }

  private completeRequests(entry: SnapshotEntry): void {
    const told = this.requests.filter(({ lsn }) => lsn <= entry.lsn);
    this.requests = this.requests.filter(({ lsn }) => lsn > entry.lsn);
    for (const { done } of told) done(null, entry);
  }
}
