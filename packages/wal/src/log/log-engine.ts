// Wires the parts of an open log: commit loop, segments, disk space, snapshots, scrubs, shutdown.

import type { BlobStore } from '../blob/blob-store.js';
import { CommitLoop } from '../commit/commit-loop.js';
import type { Committer } from '../commit/committer.js';
import type { ScrubReport } from '../maintenance/scrub.js';
import { throttleReads } from '../maintenance/throttle-reads.js';
import { ManifestFile } from '../manifest/manifest-file.js';
import { MarkWriter } from '../mark/mark-writer.js';
import type { OpenedStore } from '../recovery/open-store.js';
import { ObsoleteFileRemover } from '../segments/obsolete-file-remover.js';
import { RecycledSegments } from '../segments/recycled-segments.js';
import { SegmentRotator } from '../segments/segment-rotator.js';
import { ThreadSnapshotBuilder } from '../snapshot/node-thread-snapshot-builder.js';
import { SnapshotScheduler } from '../snapshot/snapshot-scheduler.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { DiskSpace } from '../storage/disk-space.js';
import { isFatal, isShortage } from '../storage/error-severity.js';
import { SerialTaskQueue } from '../storage/serial-task-queue.js';
import type { Callback, Storage } from '../storage/storage.js';
import type { LogSettings } from './wal-options.js';
import type { WalStatus } from './wal-status.js';

const SPACE_CHECK_MS = 5_000;
/** Share of the time that a scrub may spend reading. */
const SCRUB_SHARE = 0.05;

export interface LogEngineOptions {
  readonly committer: Committer;
  readonly blobs: BlobStore;
  readonly store: Pick<OpenedStore, 'manifest' | 'fence' | 'mark'>;
  readonly onBufferSpace: () => void;
  readonly onFatal: (error: Error) => void;
  /** The disk is not slow any more, or there are other segments. */
  readonly onChanged: () => void;
  readonly onScrubDue: (done: () => void) => void;
}

export class LogEngine {
  readonly manifestFile: ManifestFile;
  readonly tasks = new SerialTaskQueue();
  readonly obsoleteFileRemover: ObsoleteFileRemover;
  readonly diskSpace: DiskSpace;
  readonly commitLoop: CommitLoop;
  readonly snapshots: SnapshotScheduler | undefined;
  private readonly markWriter: MarkWriter;
  private readonly settings: LogSettings;
  private readonly options: LogEngineOptions;
  private readonly rotator: SegmentRotator;
  /** Closed with the log; a builder from the options is not. */
  private readonly threadBuilder: ThreadSnapshotBuilder | undefined;
  private isPreallocating = false;
  private isStopped = false;
  private isClosing = false;
  private spaceCheckTimer: unknown;
  private scrubTimer: unknown;

  constructor(settings: LogSettings, options: LogEngineOptions) {
    const { storage, host, segmentBytes, sealDelayMs } = settings;
    const { fence, manifest, mark } = options.store;
    this.settings = settings;
    this.options = options;
    this.manifestFile = new ManifestFile(fence, manifest);
    this.diskSpace = new DiskSpace(settings);
    const firstOwnSeq = options.committer.activeSeq;
    const recycledSegments = new RecycledSegments(settings, this.diskSpace, firstOwnSeq);
    this.obsoleteFileRemover = new ObsoleteFileRemover(storage, fence, recycledSegments);
    this.markWriter = new MarkWriter(storage, host, {
      mark,
      committer: options.committer,
      fence,
      onFatal: options.onFatal,
    });
    this.rotator = new SegmentRotator(storage, host, this.manifestFile, {
      committer: options.committer,
      fence,
      segmentBytes,
      diskSpace: this.diskSpace,
      recycledSegments,
    });
    const events = {
      onSegmentsChanged: () => this.preallocate(),
      onBufferSpace: options.onBufferSpace,
      onSlow: (ms: number) => settings.onEvent({ kind: 'sync-slow', ms }),
      onSlowEnded: options.onChanged,
      onCallbackThrew: (error: unknown) => settings.onEvent({ kind: 'callback-threw', error }),
      onAcknowledged: (isSeal: boolean) => (isSeal ? this.markWriter.writeNow() : this.markWriter.schedule()),
      onFatal: options.onFatal,
    };
    this.commitLoop = new CommitLoop(options.committer, storage, host, { sealDelayMs, fence, events });
    this.threadBuilder = threadBuilderFor(settings);
    this.snapshots = this.createSnapshotScheduler();
  }

  start(): void {
    this.markWriter.schedule();
    this.preallocate();
    this.commitLoop.pump();
    this.scheduleScrub();
  }

  /** Starts no more writes. */
  stop(): void {
    this.isStopped = true;
    this.commitLoop.stop();
    this.markWriter.stop();
    this.settings.host.clearTimer(this.spaceCheckTimer);
    this.settings.host.clearTimer(this.scrubTimer);
    this.threadBuilder?.close();
  }

  close(done: Callback<void>): void {
    const { committer } = this.options;
    this.isClosing = true;
    this.settings.host.clearTimer(this.scrubTimer);
    if (this.diskSpace.low !== undefined && committer.isWaitingForSegment)
      this.commitLoop.discardPending(this.diskSpace.low);
    this.commitLoop.whenIdle(() => {
      committer.requestSeal();
      this.commitLoop.whenIdle(() => this.tasks.close(() => this.recordCleanShutdown(), done));
    });
  }

  /** For a log that failed in a process that lives on: the directory can be opened again. */
  release(done: Callback<void>): void {
    this.tasks.close(() => this.closeFilesAndUnlock(), done);
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
    const { epoch, segments, snapshots } = this.manifestFile.manifest;
    const { batches, batchBytes, lastSyncMs, slowWriteMs } = this.commitLoop;
    return {
      epoch,
      segments: segments.length,
      sealedBytes: segments.reduce((bytes, { sealed }) => bytes + (sealed?.end ?? 0), 0),
      snapshot: snapshots[0],
      isSnapshotBuilding: this.snapshots?.isBuilding ?? false,
      batches,
      batchBytes,
      lastSyncMs,
      disk: this.diskSpace.low === undefined ? (slowWriteMs > 0 ? 'slow' : 'ok') : 'low',
    };
  }

  throttledStorage(): Storage {
    return throttleReads(this.settings.storage, this.settings.host, SCRUB_SHARE);
  }

  reportScrub(report: ScrubReport): void {
    const { onEvent } = this.settings;
    for (const damage of report.damage) onEvent({ kind: 'scrub-damage', damage });
    onEvent({ kind: 'scrub-finished', files: report.files, bytes: report.bytes });
  }

  private *recordCleanShutdown(): Coroutine<void> {
    const { committer } = this.options;
    this.stop();
    const { batch, lsn } = committer.durable;
    yield* this.markWriter.close();
    yield* this.manifestFile.publish((manifest) => ({ ...manifest, clean: { batch, lsn } }));
    yield* this.closeFilesAndUnlock();
  }

  private *closeFilesAndUnlock(): Coroutine<void> {
    const { storage } = this.settings;
    yield* this.markWriter.waitForWrite();
    const { threadBuilder } = this;
    if (threadBuilder !== undefined) yield* call<void>((done) => threadBuilder.whenEnded(() => done(null)));
    const { committer, store } = this.options;
    for (const file of [...committer.openFiles, this.markWriter.file, store.fence.file])
      yield* call<void>((done) => storage.close(file, done));
    yield* call<void>((done) => storage.unlock(done));
  }

  private createSnapshotScheduler(): SnapshotScheduler | undefined {
    const builder = this.settings.snapshotBuilder ?? this.threadBuilder;
    if (builder === undefined) return undefined;
    return new SnapshotScheduler({
      settings: this.settings,
      builder,
      manifestFile: this.manifestFile,
      fence: this.options.store.fence,
      tasks: this.tasks,
      obsoleteFileRemover: this.obsoleteFileRemover,
      blobs: this.options.blobs,
      rotate: () => {
        this.options.committer.requestRotate();
        this.commitLoop.pump();
      },
      onFatal: (error) => {
        if (isFatal(error)) this.options.onFatal(error);
      },
    });
  }

  private preallocate(): void {
    if (this.isPreallocating || this.isStopped || this.spaceCheckTimer !== undefined || !this.rotator.isDue)
      return;
    this.isPreallocating = true;
    this.tasks.add(
      () => this.rotator.provideNext(),
      (error) => {
        this.isPreallocating = false;
        if (this.isStopped) return;
        if (error === null) this.onPreallocated();
        else if (isShortage(error)) this.onShortage(error);
        else if (isFatal(error)) this.options.onFatal(error);
      },
    );
  }

  private onPreallocated(): void {
    this.diskSpace.segmentPrepared();
    this.options.onChanged();
    this.commitLoop.pump();
    this.preallocate();
    this.snapshots?.buildIfDue();
    if (this.diskSpace.low !== undefined) this.scheduleSpaceCheck();
  }

  private onShortage(error: Error): void {
    this.diskSpace.reportShortage(error);
    if (this.isClosing && this.diskSpace.low !== undefined)
      this.commitLoop.discardPending(this.diskSpace.low);
    else {
      this.snapshots?.buildToFreeSpace();
      this.scheduleSpaceCheck();
    }
  }

  private scheduleSpaceCheck(): void {
    if (this.spaceCheckTimer !== undefined || this.isStopped) return;
    this.spaceCheckTimer = this.settings.host.setTimer(SPACE_CHECK_MS, () => {
      this.spaceCheckTimer = undefined;
      if (this.rotator.isDue) this.preallocate();
      else
        this.tasks.add(
          () => this.diskSpace.check(0),
          () => {
            if (this.diskSpace.low !== undefined) this.scheduleSpaceCheck();
          },
        );
    });
  }

  private scheduleScrub(): void {
    const { scrubEveryMs, host } = this.settings;
    if (scrubEveryMs === 0 || this.isStopped) return;
    this.scrubTimer = host.setTimer(scrubEveryMs, () => this.options.onScrubDue(() => this.scheduleScrub()));
  }
}

function threadBuilderFor({ snapshotBuilder, fold, dir }: LogSettings): ThreadSnapshotBuilder | undefined {
  if (snapshotBuilder !== undefined || fold === undefined || dir === undefined) return undefined;
  return new ThreadSnapshotBuilder(dir, fold);
}
