// The log with callbacks; PromiseLog and WalActor wrap it. It uses no promise and no clock of its own, so a
// simulator can drive it through its two ports, Storage and WalHost.

import type { BlobReader } from '../blob/blob-reader.js';
import type { BlobRef } from '../blob/blob-ref.js';
import type { BlobStore } from '../blob/blob-store.js';
import type { BlobWriter } from '../blob/blob-writer.js';
import { codecNamed } from '../codec/codec-lookup.js';
import type { RecordVisitor } from '../codec/record-codec.js';
import type { AppendCallback } from '../commit/append-callbacks.js';
import { Committer } from '../commit/committer.js';
import type { EpochFence } from '../fencing/epoch-fence.js';
import { BATCH_HEADER_BYTES, BATCH_TRAILER_BYTES } from '../format/batch.js';
import type { SnapshotEntry } from '../format/manifest.js';
import { type ScrubReport, scrub } from '../maintenance/scrub.js';
import { droppedFiles, trimLimit, withoutSegments } from '../manifest/retention.js';
import { integer } from '../option-check.js';
import type { OpenedStore } from '../recovery/open-store.js';
import type { Fold } from '../snapshot/state-fold.js';
import { type Coroutine, runCoroutine } from '../storage/coroutine.js';
import { isFatal, isShortage } from '../storage/error-severity.js';
import type { Callback } from '../storage/storage.js';
import {
  errnoOf,
  WalClosedError,
  WalDiskLowError,
  WalDiskSlowError,
  WalError,
  WalFencedError,
  WalIoError,
  WalRecordTooLargeError,
  WalSnapshotError,
} from '../wal-error.js';
import { isSameCondition, type LogCondition } from './log-condition.js';
import { LogEngine } from './log-engine.js';
import { LogReader, type ReplayRange } from './log-reader.js';
import type { WalEvent } from './wal-event.js';
import type { LogSettings } from './wal-options.js';
import type { WalStatus } from './wal-status.js';

export interface AppendOptions {
  /** The application's record type. Default 0. */
  readonly type?: number | undefined;
  /** A payload already stored with `putBlob`. */
  readonly blob?: BlobRef | undefined;
  /**
   * Accepted even when the disk is low: a completion, for example, which frees more space than it takes.
   * Default false.
   */
  readonly essential?: boolean | undefined;
}

/** Result of `append` while the buffer is full: try again from `onBufferSpace`. */
export const FULL = 0;
/** Result of `append` while records are refused: `refusal` returns the reason. */
export const REFUSED = -1;

const SLOW_REFUSE_MS = 30_000;
const DEFAULTS: AppendOptions = {};

export class Log {
  private readonly settings: LogSettings;
  private readonly committer: Committer;
  private readonly blobs: BlobStore;
  private readonly fence: EpochFence;
  private readonly engine: LogEngine;
  private readonly reader: LogReader;
  private state: WalStatus['state'] = 'open';
  private failure: WalError | undefined;
  private readonly cutBytes: number;
  private bufferSpaceCallbacks: (() => void)[] = [];
  private failedSnapshots = 0;
  private reported: LogCondition;
  private onCondition: (condition: LogCondition) => void = () => undefined;

  constructor(settings: LogSettings, store: OpenedStore, blobs: BlobStore) {
    this.settings = settings;
    this.blobs = blobs;
    this.fence = store.fence;
    this.cutBytes = store.torn === undefined ? 0 : store.torn.end - store.torn.offset;
    this.committer = new Committer({
      codec: codecNamed(settings.codec),
      epoch: store.manifest.epoch,
      position: store.position,
      segment: store.active,
      batchBytesMax: settings.batchBytesMax,
    });
    this.engine = new LogEngine(
      { ...settings, onEvent: (event) => this.onEngineEvent(event) },
      {
        committer: this.committer,
        blobs,
        store,
        onBufferSpace: () => this.notifyBufferSpace(),
        onFatal: (error) => this.fail(error),
        onChanged: () => this.reportCondition(),
        onScrubDue: (done) => this.scrub(() => done()),
      },
    );
    this.reader = new LogReader(settings.storage, settings.host, this.engine.manifestFile, this.committer);
    this.reported = this.condition;
    this.reportRecovery(store);
    this.engine.start();
  }

  /** LSN of the next record. */
  get nextLsn(): number {
    return this.committer.nextLsn;
  }

  /** The last LSN that is on the disk. */
  get durableLsn(): number {
    return this.reader.durableLsn;
  }

  /** Lowest LSN that `replay` can start from. */
  get firstLsn(): number {
    return this.reader.firstLsn;
  }

  /** The newest snapshot. */
  get snapshot(): SnapshotEntry | undefined {
    return this.reader.snapshot;
  }

  /** Payloads above this become blobs. */
  get inlineBytesMax(): number {
    return this.settings.inlineBytesMax;
  }

  /**
   * Appends one record and returns its LSN, FULL or REFUSED. `done` is called once the record is on the disk,
   * in the order of the appends. The payload is copied before this returns.
   */
  append(payload: Uint8Array, done?: AppendCallback, options: AppendOptions = DEFAULTS): number {
    if (this.refusal(options) !== undefined) return REFUSED;
    if (payload.length > this.settings.inlineBytesMax) {
      throw new WalRecordTooLargeError(payload.length, this.settings.inlineBytesMax);
    }
    const lsn = this.committer.append(payload, recordTypeOf(options), options.blob, done);
    if (lsn === FULL) return FULL;
    if (options.blob !== undefined) this.blobs.references.addRecord(options.blob, lsn);
    this.engine.commitLoop.scheduleFlush();
    return lsn;
  }

  /** As `append` for several records that survive a crash together or not at all; the last LSN. */
  appendAll(
    payloads: readonly Uint8Array[],
    done?: AppendCallback,
    options: AppendOptions = DEFAULTS,
  ): number {
    if (this.refusal(options) !== undefined) return REFUSED;
    const encoded = this.committer.encodedMax(payloads);
    const bytesMax = this.settings.batchBytesMax - BATCH_HEADER_BYTES - BATCH_TRAILER_BYTES;
    if (encoded > bytesMax || payloads.length === 0) throw new WalRecordTooLargeError(encoded, bytesMax);
    const lsn = this.committer.appendAll(payloads, recordTypeOf(options), done);
    if (lsn !== FULL) this.engine.commitLoop.scheduleFlush();
    return lsn;
  }

  /** The reason why `append` with these options would be refused now, if it would. */
  refusal(options: AppendOptions = DEFAULTS): WalError | undefined {
    if (this.state !== 'open') return this.failure ?? new WalClosedError(this.state);
    if (options.essential === true) return undefined;
    const { diskSpace, commitLoop } = this.engine;
    if (diskSpace.low !== undefined) return diskSpace.low;
    return commitLoop.slowWriteMs > SLOW_REFUSE_MS ? new WalDiskSlowError(commitLoop.slowWriteMs) : undefined;
  }

  /** Its condition as of now. */
  get condition(): LogCondition {
    const refusal = this.refusal();
    const isLow = refusal instanceof WalDiskLowError;
    const isSlow = refusal instanceof WalDiskSlowError;
    const { sealedBytes, segments, snapshot } = this.engine.status();
    const { cutBytes, failedSnapshots } = this;
    return {
      disk: isLow ? 'low' : isSlow ? 'slow' : 'ok',
      reason: isLow || isSlow ? refusal.reason : undefined,
      sealedBytes,
      cutBytes,
      failedSnapshots,
      segments,
      snapshot: snapshot === undefined ? undefined : { lsn: snapshot.lsn, bytes: snapshot.bytes },
      freeBytes: this.engine.diskSpace.freeBytes,
    };
  }

  /** Calls with every condition that differs from the one before. The latest call replaces earlier ones. */
  watchCondition(run: (condition: LogCondition) => void): void {
    this.onCondition = run;
  }

  /** Calls once when the buffer may have space again after FULL. */
  onBufferSpace(run: () => void): void {
    this.bufferSpaceCallbacks.push(run);
  }

  /** Stores a payload of any size; durable when `done` is called. Then a record may refer to it. */
  putBlob(bytes: Uint8Array, done: Callback<BlobRef>, options: AppendOptions = DEFAULTS): void {
    const refusal = this.refusal(options);
    if (refusal !== undefined) return done(refusal, undefined as never);
    this.blobs.put(bytes, (error, ref) => {
      done(error === null ? null : this.classifyBlobError(error, bytes.length), ref);
    });
  }

  /** As `putBlob` for content that arrives in chunks; undefined while blobs are refused, see `refusal`. */
  openBlobWriter(): BlobWriter | undefined {
    return this.refusal() === undefined
      ? this.blobs.createWriter((error, bytes) => this.classifyBlobError(error, bytes))
      : undefined;
  }

  /** Releases a stored blob to which no record will refer. */
  releaseBlob(ref: BlobRef): void {
    this.blobs.release(ref);
  }

  /** Reads a blob in chunks. */
  openBlobReader(ref: BlobRef): BlobReader {
    return this.blobs.createReader(ref);
  }

  /** Reads a whole blob into memory. */
  readBlob(ref: BlobRef, done: Callback<Buffer>): void {
    this.blobs.read(ref, done);
  }

  /** Visits durable records in order. An error thrown by `visit` ends the replay and is passed to `done`. */
  replay(range: ReplayRange, visit: RecordVisitor, done: Callback<void>): void {
    this.readPinned(this.reader.replay(range, visit), done);
  }

  /** The state after the last durable record: the snapshot, and the records after it. */
  restore<S>(fold: Fold<S>, done: Callback<S>): void {
    this.readPinned(this.reader.restore(fold), done);
  }

  /** Makes a snapshot of all records that are durable now. */
  makeSnapshot(done: Callback<SnapshotEntry>): void {
    const { snapshots } = this.engine;
    const refusal = this.refusal({ essential: true });
    if (refusal !== undefined) done(refusal, undefined as never);
    else if (snapshots === undefined) done(new WalSnapshotError('no fold was given'), undefined as never);
    else snapshots.make(this.durableLsn, done);
  }

  /** Drops whole segments up to `lsn` that no kept snapshot needs. Passes the first LSN left. */
  trim(lsn: number, done: Callback<number>): void {
    const { manifestFile, tasks, obsoleteFileRemover, snapshots } = this.engine;
    const trimmed = function* (): Coroutine<number> {
      const before = manifestFile.manifest;
      const limit = trimLimit(before, lsn, snapshots !== undefined);
      if (withoutSegments(before, limit).segments.length === before.segments.length)
        return before.start.lsn + 1;
      const after = yield* manifestFile.publish((manifest) => withoutSegments(manifest, limit));
      obsoleteFileRemover.add(droppedFiles(before, after));
      return after.start.lsn + 1;
    };
    tasks.add(trimmed, (error, first) => {
      if (error !== null && isFatal(error)) this.fail(error);
      done(error, first);
    });
  }

  /** Reads all sealed segments, snapshots and blobs at a twentieth of the disk's time, and reports damage. */
  scrub(done: Callback<ScrubReport>): void {
    const { manifestFile } = this.engine;
    this.readPinned(scrub(this.engine.throttledStorage(), manifestFile.manifest), (error, report) => {
      if (error === null) this.engine.reportScrub(report);
      done(error, report);
    });
  }

  /** False: another process has opened the directory. The log has failed then, as by an append. */
  isOwner(): boolean {
    if (this.state === 'failed') return false;
    const problem = this.state === 'closed' ? undefined : this.fence.problem();
    if (problem !== undefined) this.fail(problem);
    return problem === undefined;
  }

  /** Positions, sizes and the state of the disk, as of now. */
  status(): WalStatus {
    return {
      state: this.state,
      firstLsn: this.firstLsn,
      durableLsn: this.durableLsn,
      nextLsn: this.nextLsn,
      bufferedBytes: this.committer.bufferedBytes,
      segmentsReady: this.committer.segmentsReady,
      cutBytes: this.cutBytes,
      ...this.engine.status(),
    };
  }

  /** Writes pending records and a seal, records the clean shutdown, unlocks. A failed log only unlocks. */
  close(done: Callback<void>): void {
    if (this.state === 'failed') return this.engine.release(done);
    if (this.state !== 'open') return done(null);
    this.state = 'closing';
    this.engine.close((error) => {
      if (error === null) this.state = 'closed';
      else this.fail(error);
      done(this.failure ?? null);
    });
  }

  /** Obsolete files are kept while the coroutine reads them. */
  private readPinned<T>(coroutine: Coroutine<T>, done: Callback<T>): void {
    const unpin = this.engine.obsoleteFileRemover.pin();
    runCoroutine(coroutine, (error, value) => {
      unpin();
      done(error, value);
    });
  }

  private reportRecovery(store: OpenedStore): void {
    const { onEvent } = this.settings;
    if (store.torn !== undefined) {
      const { file, offset, end } = store.torn;
      onEvent({ kind: 'torn-tail', file, offset, bytes: end - offset });
    }
    if (store.snapshotFallback !== undefined)
      onEvent({ kind: 'snapshot-fallback', reason: store.snapshotFallback });
  }

  private onEngineEvent(event: WalEvent): void {
    if (event.kind === 'snapshot-failed') this.failedSnapshots = event.consecutiveFailures;
    else if (event.kind === 'snapshot-made') this.failedSnapshots = 0;
    this.settings.onEvent(event);
    this.reportCondition();
  }

  private reportCondition(): void {
    const { condition } = this;
    if (this.state !== 'open' || isSameCondition(condition, this.reported)) return;
    this.reported = condition;
    this.onCondition(condition);
  }

  /** A full disk does not end the log; any other error does. */
  private classifyBlobError(error: Error, bytes: number): WalError {
    if (isShortage(error)) return new WalDiskLowError(undefined, bytes, errnoOf(error));
    const fatal = error instanceof WalError ? error : new WalIoError('storing a blob', error);
    this.fail(fatal);
    return fatal;
  }

  private notifyBufferSpace(): void {
    if (this.bufferSpaceCallbacks.length === 0) return;
    const callbacks = this.bufferSpaceCallbacks;
    this.bufferSpaceCallbacks = [];
    for (const run of callbacks) run();
  }

  /** A second process removes files of this one: its presence is the reason, not the call that failed. */
  private fatalError(cause: Error): WalError {
    const fenced = this.fence.problem();
    if (fenced instanceof WalFencedError) return fenced;
    return cause instanceof WalError ? cause : new WalIoError('writing the log', cause);
  }

  /** Nothing is retried or flushed: callers learn of the failure from the end of the process. */
  private fail(cause: Error): void {
    if (this.state === 'failed') return;
    const error = this.fatalError(cause);
    this.state = 'failed';
    this.failure = error;
    this.engine.stop();
    this.settings.onFatal(error);
    this.settings.exit(error.exitCode ?? 74);
    // Reached only where the host did not end the process.
    for (const callbacks of this.committer.pendingCallbacks()) callbacks.invokeAll(error, () => undefined);
    this.notifyBufferSpace();
  }
}

function recordTypeOf({ type = 0 }: AppendOptions): number {
  return integer('type', type, 0, 255);
}
