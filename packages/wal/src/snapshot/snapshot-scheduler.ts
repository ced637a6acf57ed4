// Decides when a snapshot is built and commits it: built while the log is in use, listed in CURRENT, and only
// then are the files that it replaces removed.

import { isBlobName } from '../blob/blob-file.js';
import type { BlobStore } from '../blob/blob-store.js';
import type { EpochFence } from '../fencing/epoch-fence.js';
import type { SnapshotEntry } from '../format/manifest.js';
import { SECTION_BLOBS, snapshotName } from '../format/snapshot-file.js';
import type { LogSettings } from '../log/wal-options.js';
import type { ManifestFile } from '../manifest/manifest-file.js';
import {
  droppedFiles,
  lastSealedLsn,
  sealedBytesAfterSnapshot,
  withSnapshot,
} from '../manifest/retention.js';
import type { ObsoleteFileRemover } from '../segments/obsolete-file-remover.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { moveIntoPlace } from '../storage/file-operations.js';
import type { SerialTaskQueue } from '../storage/serial-task-queue.js';
import type { Callback } from '../storage/storage.js';
import type { BuiltSnapshot, SnapshotBuilder } from './snapshot-builder.js';
import { readSnapshot } from './snapshot-reader.js';
import { decodeBlobRefs } from './snapshot-writer.js';

export interface SnapshotSchedulerOptions {
  readonly settings: Pick<LogSettings, 'storage' | 'host' | 'snapshotEveryBytes' | 'onEvent'>;
  readonly builder: SnapshotBuilder;
  readonly manifestFile: ManifestFile;
  readonly fence: EpochFence;
  readonly tasks: SerialTaskQueue;
  readonly obsoleteFileRemover: ObsoleteFileRemover;
  readonly blobs: BlobStore;
  /** Requests that the segment being written be closed. */
  readonly rotate: () => void;
  /** An error after which the content of the disk is unknown. */
  readonly onFatal: (error: Error) => void;
}

export class SnapshotScheduler {
  private readonly options: SnapshotSchedulerOptions;
  private requests: { readonly lsn: number; readonly done: Callback<SnapshotEntry> }[] = [];
  private isBuildRunning = false;
  private failures = 0;

  constructor(options: SnapshotSchedulerOptions) {
    this.options = options;
  }

  get isBuilding(): boolean {
    return this.isBuildRunning;
  }

  /** Makes a snapshot of all records up to `lsn`. */
  make(lsn: number, done: Callback<SnapshotEntry>): void {
    this.requests.push({ lsn, done });
    if (lastSealedLsn(this.options.manifestFile.manifest) < lsn) this.options.rotate();
    this.buildIfDue();
  }

  /** To be called whenever CURRENT has changed, since more records may be sealed. */
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
    if (settings.snapshotEveryBytes > 0 && sealedBytesAfterSnapshot(manifestFile.manifest) > every)
      this.build(sealed);
  }

  /** Space is short: builds a snapshot of any size, so that older segments can be removed. */
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
    const { builder, obsoleteFileRemover, tasks, settings } = this.options;
    const startedAt = settings.host.now();
    const tempName = `${snapshotName(lsn)}.tmp`;
    const unpin = obsoleteFileRemover.pin();
    this.isBuildRunning = true;
    builder.build({ lsn, tempName }, (error, built) => {
      unpin();
      if (error !== null) return this.onFailed(error);
      tasks.add(
        () => this.commit(lsn, tempName, built),
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

  private *commit(lsn: number, tempName: string, built: BuiltSnapshot): Coroutine<SnapshotEntry> {
    const { settings, manifestFile, fence, obsoleteFileRemover, blobs } = this.options;
    fence.assert();
    yield* moveIntoPlace(settings.storage, tempName, snapshotName(lsn));
    const entry: SnapshotEntry = { lsn, bytes: built.bytes, sha256: built.sha256 };
    const before = manifestFile.manifest;
    const after = yield* manifestFile.publish((manifest) => withSnapshot(manifest, entry));
    obsoleteFileRemover.add(droppedFiles(before, after));
    blobs.removeUnreferenced(yield* this.unlistedBlobs(), lsn);
    return entry;
  }

  /** Blobs that neither kept snapshot lists. */
  private *unlistedBlobs(): Coroutine<string[]> {
    const { settings, manifestFile } = this.options;
    const stored = (yield* call<string[]>((done) => settings.storage.list('blobs', done))).filter(isBlobName);
    const { snapshots } = manifestFile.manifest;
    // With one snapshot the whole log is still there, and any record may refer to a blob.
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
    const completed = this.requests.filter(({ lsn }) => lsn <= entry.lsn);
    this.requests = this.requests.filter(({ lsn }) => lsn > entry.lsn);
    for (const { done } of completed) done(null, entry);
  }
}
