// Reads durable records while the log is in use.

import type { RecordVisitor } from '../codec/record-codec.js';
import type { Committer } from '../commit/committer.js';
import type { SnapshotEntry } from '../format/manifest.js';
import type { WalHost } from '../host/wal-host.js';
import { yieldToLoop } from '../host/yield-to-loop.js';
import type { ManifestFile } from '../manifest/manifest-file.js';
import { manifestForReaders } from '../manifest/manifest-for-readers.js';
import { integer } from '../option-check.js';
import { replaySegments } from '../recovery/replay-segments.js';
import { restoreSnapshot } from '../snapshot/build-snapshot.js';
import type { Fold } from '../snapshot/state-fold.js';
import type { Call, Coroutine } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';

export interface ReplayRange {
  /** First LSN. Default: the first one after the snapshot. */
  readonly from?: number | undefined;
  /** Last LSN. Default: the last durable one. */
  readonly to?: number | undefined;
}

export class LogReader {
  private readonly storage: Storage;
  private readonly manifestFile: ManifestFile;
  private readonly committer: Committer;
  private readonly pause: Call<void>;

  constructor(storage: Storage, host: WalHost, manifestFile: ManifestFile, committer: Committer) {
    this.storage = storage;
    this.pause = (done) => yieldToLoop(host, () => done(null));
    this.manifestFile = manifestFile;
    this.committer = committer;
  }

  get durableLsn(): number {
    return this.committer.durable.lsn;
  }

  get firstLsn(): number {
    return this.manifestFile.manifest.start.lsn + 1;
  }

  get snapshot(): SnapshotEntry | undefined {
    return this.manifestFile.manifest.snapshots[0];
  }

  *replay(range: ReplayRange, visit: RecordVisitor): Coroutine<void> {
    const from = integer('from', range.from ?? (this.snapshot?.lsn ?? this.firstLsn - 1) + 1, 0);
    const to = Math.min(integer('to', range.to ?? this.durableLsn, 0), this.durableLsn);
    const manifest = manifestForReaders(this.manifestFile.manifest, this.committer);
    yield* replaySegments(this.storage, manifest, { from, to }, visit, this.pause);
  }

  *restore<S>(fold: Fold<S>): Coroutine<S> {
    const state = fold.empty();
    const lsn = this.snapshot?.lsn ?? 0;
    if (lsn > 0) yield* restoreSnapshot(this.storage, fold, state, lsn);
    const from = Math.max(lsn + 1, this.firstLsn);
    yield* this.replay({ from }, (at, payload, type, blob) => fold.apply(state, at, payload, type, blob));
    return state;
  }
}
