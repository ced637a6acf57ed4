// What a running log is made of, and how its parts call each other. It only wires.

import type { Blobs } from '../blob/blob-store.js';
import { CommitLoop } from '../commit/commit-loop.js';
import type { Committer } from '../commit/committer.js';
import type { Manifest } from '../format/manifest.js';
import { pacedReads, type ScrubReport } from '../maintenance/scrub.js';
import { ManifestKeeper } from '../manifest/manifest-file.js';
import { Removal } from '../segments/obsolete-files.js';
import { SegmentSupply } from '../segments/segment-preallocator.js';
import { SpareSegments } from '../segments/spare-segments.js';
import { ThreadSnapshotBuilder } from '../snapshot/node-thread-snapshot-builder.js';
import { Snapshots } from '../snapshot/snapshot-scheduler.js';
import { call, type Procedure } from '../storage/coroutine.js';
import { DiskSpace } from '../storage/disk-space.js';
import { isFatal } from '../storage/error-severity.js';
import { Chores } from '../storage/serial-task-queue.js';
import type { Done, Storage } from '../storage/storage.js';
import type { LogSettings } from './options.js';
import type { WalStatus } from './status.js';

const RETRY_MS = 5_000;
const SCRUB_SHARE = 0.05;

export interface LogLinks {
  readonly committer: Committer;
  readonly blobs: Blobs;
  readonly onRoom: () => void;
  readonly onFatal: (error: Error) => void;
  readonly onScrubDue: (done: () => void) => void;
}

export class LogParts {
  readonly keeper: ManifestKeeper;
  readonly chores = new Chores();
  readonly removal: Removal;
  readonly space: DiskSpace;
  readonly loop: CommitLoop;
  readonly snapshots: Snapshots | undefined;
  private readonly settings: LogSettings;
  private readonly links: LogLinks;
  private readonly supply: SegmentSupply;
  /** Ours to end; a builder that was given is not. */
  private readonly threads: ThreadSnapshotBuilder | undefined;
  private isSupplying = false;
  private isStopped = false;
  private isClosing = false;
  private retryTimer: unknown;
  private scrubTimer: unknown;

  constructor(settings: LogSettings, manifest: Manifest, links: LogLinks) {
    const { storage, host, segmentBytes, sealDelayMs } = settings;
    this.settings = settings;
    this.links = links;
    this.keeper = new ManifestKeeper(storage, manifest);
    this.space = new DiskSpace(settings);
    const spares = new SpareSegments(settings, this.space);
    this.removal = new Removal(storage, spares);
    this.supply = new SegmentSupply(storage, host, this.keeper, {
      committer: links.committer,
      segmentBytes,
      space: this.space,
      spares,
    });
    const events = {
      onSegmentsChanged: () => this.replenish(),
      onRoom: links.onRoom,
      onSlow: (ms: number) => settings.onEvent({ kind: 'sync-slow', ms }),
      onWaiterThrew: (error: unknown) => settings.onEvent({ kind: 'waiter-threw', error }),
      onFatal: links.onFatal,
    };
    this.loop = new CommitLoop(links.committer, storage, host, { sealDelayMs, events });
    this.threads = threadsFor(settings);
    this.snapshots = this.makeSnapshots();
  }

  start(): void {
    this.replenish();
    this.loop.pump();
    this.scheduleScrub();
  }

  /** Nothing more is written by us after this. */
  stop(): void {
    this.isStopped = true;
    this.loop.stop();
    this.settings.host.clearTimer(this.retryTimer);
    this.settings.host.clearTimer(this.scrubTimer);
    this.threads?.close();
  }

  close(done: Done<void>): void {
    const { committer } = this.links;
    this.isClosing = true;
    this.settings.host.clearTimer(this.scrubTimer);
    if (this.space.low !== undefined && committer.starved) this.loop.giveUp(this.space.low);
    this.loop.whenIdle(() => {
      committer.requestSeal();
      this.loop.whenIdle(() => this.chores.close(() => this.shutDown(), done));
    });
  }

  /** For a log that failed and a process that lives on: the directory can be opened again. */
  release(done: Done<void>): void {
    this.chores.close(() => this.giveBack(), done);
  }

  status(): Pick<
    WalStatus,
    | 'epoch'
    | 'segments'
    | 'sealedBytes'
    | 'snapshot'
    | 'isSnapshotBuilding'
    | 'batches'
    | 'batchBytes'
    | 'lastSyncMs'
    | 'disk'
  > {
    const { epoch, segments, snapshots } = this.keeper.manifest;
    const { batches, batchBytes, lastSyncMs, slowMs } = this.loop;
    return {
      epoch,
      segments: segments.length,
      sealedBytes: segments.reduce((bytes, { sealed }) => bytes + (sealed?.end ?? 0), 0),
      snapshot: snapshots[0],
      isSnapshotBuilding: this.snapshots?.isBuilding ?? false,
      batches,
      batchBytes,
      lastSyncMs,
      disk: this.space.low === undefined ? (slowMs > 0 ? 'slow' : 'ok') : 'low',
    };
  }

  pacedStorage(): Storage {
    return pacedReads(this.settings.storage, this.settings.host, SCRUB_SHARE);
  }

  reportScrub(report: ScrubReport): void {
    const { onEvent } = this.settings;
    for (const damage of report.damage) onEvent({ kind: 'scrub-damage', damage });
    onEvent({ kind: 'scrubbed', files: report.files, bytes: report.bytes });
  }

  private *shutDown(): Procedure<void> {
    const { committer } = this.links;
    this.stop();
    const { batch, lsn } = committer.durable;
    yield* this.keeper.publish((manifest) => ({ ...manifest, clean: { batch, lsn } }));
    yield* this.giveBack();
  }

  private *giveBack(): Procedure<void> {
    const { storage } = this.settings;
    for (const file of this.links.committer.openFiles) yield* call<void>((done) => storage.close(file, done));
    yield* call<void>((done) => storage.unlock(done));
  }

  private makeSnapshots(): Snapshots | undefined {
    const builder = this.settings.snapshotBuilder ?? this.threads;
    if (builder === undefined) return undefined;
    return new Snapshots({
      settings: this.settings,
      builder,
      keeper: this.keeper,
      chores: this.chores,
      removal: this.removal,
      blobs: this.links.blobs,
      rotate: () => {
        this.links.committer.requestRotate();
        this.loop.pump();
      },
      onFatal: (error) => {
        if (isFatal(error)) this.links.onFatal(error);
      },
    });
  }

  private replenish(): void {
    if (this.isSupplying || this.isStopped || this.retryTimer !== undefined || !this.supply.isDue) return;
    this.isSupplying = true;
    this.chores.add(
      () => this.supply.replenish(),
      (error) => {
        this.isSupplying = false;
        if (this.isStopped) return;
        if (error === null) this.supplied();
        else if (DiskSpace.isShortage(error)) this.retryLater(error);
        else if (isFatal(error)) this.links.onFatal(error);
      },
    );
  }

  private supplied(): void {
    this.space.supplied();
    this.loop.pump();
    this.replenish();
    this.snapshots?.onPublished();
    if (this.space.low !== undefined) this.recheckLater();
  }

  private retryLater(error: Error): void {
    this.space.shortage(error);
    if (this.isClosing && this.space.low !== undefined) this.loop.giveUp(this.space.low);
    else {
      this.snapshots?.relieve();
      this.recheckLater();
    }
  }

  private recheckLater(): void {
    if (this.retryTimer !== undefined || this.isStopped) return;
    this.retryTimer = this.settings.host.setTimer(RETRY_MS, () => {
      this.retryTimer = undefined;
      if (this.supply.isDue) this.replenish();
      else
        this.chores.add(
          () => this.space.check(0),
          () => {
            if (this.space.low !== undefined) this.recheckLater();
          },
        );
    });
  }

  private scheduleScrub(): void {
    const { scrubEveryMs, host } = this.settings;
    if (scrubEveryMs === 0 || this.isStopped) return;
    this.scrubTimer = host.setTimer(scrubEveryMs, () => this.links.onScrubDue(() => this.scheduleScrub()));
  }
}

function threadsFor({ snapshotBuilder, fold, dir }: LogSettings): ThreadSnapshotBuilder | undefined {
  if (snapshotBuilder !== undefined || fold === undefined || dir === undefined) return undefined;
  return new ThreadSnapshotBuilder(dir, fold);
}
