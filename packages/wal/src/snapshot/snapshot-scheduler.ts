// When a snapshot is made, and how it comes to count: built beside the log, committed by a rename, and only then is what it
// replaces removed.

import { isBlobName } from '../blob/blob-file.js';
import type { Blobs } from '../blob/blob-store.js';
import type { SnapshotEntry } from '../format/manifest.js';
import { SECTION_BLOBS, snapshotName } from '../format/snapshot-file.js';
import type { LogSettings } from '../log/options.js';
import type { ManifestKeeper } from '../manifest/manifest-file.js';
import { droppedFiles, lastSealedLsn, sealedBytesBehind, withSnapshot } from '../manifest/retention.js';
import type { Removal } from '../segments/obsolete-files.js';
import { call, type Procedure } from '../storage/coroutine.js';
import { moveIntoPlace } from '../storage/file-operations.js';
import type { Chores } from '../storage/serial-task-queue.js';
import type { Done } from '../storage/storage.js';
import type { BuiltSnapshot, SnapshotBuilder } from './fold.js';
import { readSnapshot } from './snapshot-reader.js';
import { decodeBlobRefs } from './snapshot-writer.js';

export interface SnapshotParts {
  readonly settings: LogSettings;
  readonly builder: SnapshotBuilder;
  readonly keeper: ManifestKeeper;
  readonly chores: Chores;
  readonly removal: Removal;
  readonly blobs: Blobs;
  /** Asks for the segment being written to be closed. */
  readonly rotate: () => void;
  /** An error after which nobody knows what is on the disk. */
  readonly onFatal: (error: Error) => void;
}

export class Snapshots {
  private readonly parts: SnapshotParts;
  private waiting: { readonly lsn: number; readonly done: Done<SnapshotEntry> }[] = [];
  private building = false;
  private failures = 0;

  constructor(parts: SnapshotParts) {
    this.parts = parts;
  }

  get isBuilding(): boolean {
    return this.building;
  }

  /** A snapshot that holds every record up to `lsn`. */
  make(lsn: number, done: Done<SnapshotEntry>): void {
    this.waiting.push({ lsn, done });
    if (lastSealedLsn(this.parts.keeper.manifest) < lsn) this.parts.rotate();
    this.onPublished();
  }

  /** CURRENT has changed: perhaps more is sealed now. */
  onPublished(): void {
    if (this.building) return;
    const { settings, keeper } = this.parts;
    const sealed = lastSealedLsn(keeper.manifest);
    const newest = keeper.manifest.snapshots[0];
    if (newest !== undefined) this.tellThoseUpTo(newest);
    if (this.waiting.some(({ lsn }) => lsn <= sealed)) {
      this.build(sealed);
      return;
    }
    const every = Math.max(settings.snapshotEveryBytes, 2 * (newest?.bytes ?? 0));
    if (settings.snapshotEveryBytes > 0 && sealedBytesBehind(keeper.manifest) > every) this.build(sealed);
  }

  /** Space is short: fold what is sealed, whatever its size, so that older segments can go. */
  relieve(): void {
    const { keeper } = this.parts;
    const sealed = lastSealedLsn(keeper.manifest);
    if (!this.building && sealed > (keeper.manifest.snapshots[0]?.lsn ?? keeper.manifest.start.lsn))
      this.build(sealed);
  }

  private build(lsn: number): void {
    const { builder, removal, chores, settings } = this.parts;
    const startedAt = settings.host.now();
    const draft = `${snapshotName(lsn)}.tmp`;
    const unpin = removal.pin();
    this.building = true;
    builder.build({ lsn, draft }, (error, built) => {
      unpin();
      if (error !== null) return this.failed(error);
      chores.add(
        () => this.commit(lsn, draft, built),
        (commitError, entry) => {
          if (commitError !== null) {
            this.failed(commitError);
            this.parts.onFatal(commitError);
            return;
          }
          this.building = false;
          this.failures = 0;
          const ms = settings.host.now() - startedAt;
          settings.onEvent({ kind: 'snapshot-made', lsn, bytes: entry.bytes, ms });
          this.onPublished();
        },
      );
    });
  }

  private *commit(lsn: number, draft: string, built: BuiltSnapshot): Procedure<SnapshotEntry> {
    const { settings, keeper, removal, blobs } = this.parts;
    yield* keeper.assertOurs();
    yield* moveIntoPlace(settings.storage, draft, snapshotName(lsn));
    const entry: SnapshotEntry = { lsn, bytes: built.bytes, sha256: built.sha256 };
    const before = keeper.manifest;
    const after = yield* keeper.publish((manifest) => withSnapshot(manifest, entry));
    removal.doom(droppedFiles(before, after));
    blobs.removeUnless(yield* this.unlistedBlobs(), lsn);
    return entry;
  }

  /** Blobs that neither kept snapshot lists. */
  private *unlistedBlobs(): Procedure<string[]> {
    const { settings, keeper } = this.parts;
    const stored = (yield* call<string[]>((done) => settings.storage.list('blobs', done))).filter(isBlobName);
    const { snapshots } = keeper.manifest;
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

  private failed(error: Error): void {
    this.building = false;
    this.failures += 1;
    this.parts.settings.onEvent({ kind: 'snapshot-failed', error, timesInARow: this.failures });
    const waiting = this.waiting;
    this.waiting = [];
    for (const { done } of waiting) done(error, undefined as never);
  }

  private tellThoseUpTo(entry: SnapshotEntry): void {
    const told = this.waiting.filter(({ lsn }) => lsn <= entry.lsn);
    this.waiting = this.waiting.filter(({ lsn }) => lsn > entry.lsn);
    for (const { done } of told) done(null, entry);
  }
}
