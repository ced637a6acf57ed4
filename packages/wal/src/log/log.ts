// The log with callbacks: what the Promise face and the actor are shells of. It knows no promise and no real time, so a
// simulator can drive it through the two ports.

import type { Durable } from '../commit/batch-buffer.js';
import { Committer } from '../commit/committer.js';
import { BATCH_HEADER_BYTES, BATCH_TRAILER_BYTES } from '../format/batch.js';
import { codecNamed } from '../format/codecs.js';
import type { SnapshotEntry } from '../format/manifest.js';
import type { BlobRef, RecordVisitor } from '../format/record.js';
import { type OpenedStore, openStore } from '../recovery/open-store.js';
import { call, type Procedure, run } from '../storage/procedure.js';
import type { Done } from '../storage/storage.js';
import {
  errnoOf,
  WalClosedError,
  WalDiskLowError,
  WalDiskSlowError,
  WalError,
  WalIoError,
  WalRecordTooLargeError,
} from '../wal-error.js';
import { Chores } from './chores.js';
import { CommitLoop } from './commit-loop.js';
import { ManifestKeeper } from './manifest-keeper.js';
import { type LogSettings, readOptions, type WalOptions } from './options.js';
import { durableSegments, replaySegments } from './replay.js';
import { SegmentSupply } from './segment-supply.js';

export interface AppendOptions {
  /** The application's own kind of record, 0 to 255. */
  readonly type?: number;
  /** A payload already stored with `putBlob`. */
  readonly blob?: BlobRef;
  /** Taken even when the disk is low: a completion, say, which frees more than it needs. */
  readonly essential?: boolean;
}

/** `append` took nothing because the buffer is full: ask again from `onRoom`. */
export const FULL = 0;
/** `append` took nothing and will not for now: `refusal` says why. */
export const REFUSED = -1;

export interface ReplayRange {
  /** First LSN wanted. Default: the first one behind the snapshot. */
  readonly from?: number;
  /** Last LSN wanted. Default: the last durable one. */
  readonly to?: number;
}

const RETRY_MS = 5_000;
const SLOW_REFUSE_MS = 30_000;
const RESOURCE_ERRNOS = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);
const DEFAULTS: AppendOptions = {};

type State = 'open' | 'closing' | 'closed' | 'failed';

/** Opens the directory and recovers it. Nothing is served, and no timer runs, before `done`. */
export function openLog(options: WalOptions, done: Done<Log>): void {
  let settings: LogSettings;
  try {
    settings = readOptions(options);
  } catch (error) {
    done(error as Error, undefined as never);
    return;
  }
  run(open(settings), (error, log) => {
    if (error === null) done(null, log);
    else done(error instanceof WalError ? error : new WalIoError('open', error), log);
  });
}

function* open(settings: LogSettings): Procedure<Log> {
  const { storage, host } = settings;
  yield* call<void>((done) => storage.lock(done));
  try {
    const store = yield* openStore(storage, host, {
      segmentBytes: settings.firstSegmentBytes,
      onBatch: () => undefined,
    });
    return new Log(settings, store);
  } catch (error) {
    yield* call<void>((done) => storage.unlock(done));
    throw error;
  }
}

export class Log {
  readonly #settings: LogSettings;
  readonly #committer: Committer;
  readonly #loop: CommitLoop;
  readonly #keeper: ManifestKeeper;
  readonly #supply: SegmentSupply;
  readonly #chores = new Chores();
  readonly #snapshot: SnapshotEntry | undefined;
  #state: State = 'open';
  #diskLow: WalDiskLowError | undefined;
  #failure: WalError | undefined;
  #supplying = false;
  #retryTimer: unknown;
  #roomWaiters: (() => void)[] = [];

  constructor(settings: LogSettings, store: OpenedStore) {
    this.#settings = settings;
    this.#snapshot = store.snapshot;
    const { storage, host } = settings;
    this.#committer = new Committer({
      codec: codecNamed(settings.codec),
      epoch: store.manifest.epoch,
      position: store.position,
      segment: store.active,
      batchBytesMax: settings.batchBytesMax,
    });
    this.#keeper = new ManifestKeeper(storage, store.manifest);
    const { segmentBytes, sealDelayMs } = settings;
    this.#supply = new SegmentSupply(storage, host, this.#keeper, {
      committer: this.#committer,
      segmentBytes,
    });
    const events = {
      onSegmentsChanged: () => this.#replenish(),
      onRoom: () => this.#tellRoom(),
      onSlow: (ms: number) => settings.onEvent({ kind: 'sync-slow', ms }),
      onWaiterThrew: (error: unknown) => settings.onEvent({ kind: 'waiter-threw', error }),
      onFatal: (error: WalIoError) => this.#fail(error),
    };
    this.#loop = new CommitLoop(this.#committer, storage, host, { sealDelayMs, events });
    if (store.torn !== undefined) {
      const { file, offset, end } = store.torn;
      settings.onEvent({ kind: 'torn-tail', file, offset, bytes: end - offset });
    }
    if (store.snapshotFellBack !== undefined) {
      settings.onEvent({ kind: 'snapshot-fell-back', reason: store.snapshotFellBack });
    }
    this.#replenish();
    this.#loop.pump();
  }

  /** LSN the next record will get. */
  get nextLsn(): number {
    return this.#committer.nextLsn;
  }

  /** The last LSN known to be on the disk. */
  get durableLsn(): number {
    return this.#committer.durable.lsn;
  }

  /** Lowest LSN that `replay` can start from. */
  get firstLsn(): number {
    return this.#keeper.manifest.start.lsn + 1;
  }

  /** The snapshot this log was opened with. */
  get snapshot(): SnapshotEntry | undefined {
    return this.#snapshot;
  }

  get inlineBytesMax(): number {
    return this.#settings.inlineBytesMax;
  }

  /**
   * Takes one record and returns its LSN, FULL or REFUSED. `done` is called once the record is on the disk, in the order of the
   * appends. The payload is copied before this returns.
   */
  append(payload: Uint8Array, done?: Durable, options: AppendOptions = DEFAULTS): number {
    if (this.#refusalFor(options) !== undefined) return REFUSED;
    if (payload.length > this.#settings.inlineBytesMax) {
      throw new WalRecordTooLargeError(payload.length, this.#settings.inlineBytesMax);
    }
    const lsn = this.#committer.append(payload, options.type ?? 0, options.blob, done);
    if (lsn !== FULL) this.#loop.touch();
    return lsn;
  }

  /** As `append` for several records that survive a crash together or not at all. Returns the last one's LSN. */
  appendAll(payloads: readonly Uint8Array[], done?: Durable, options: AppendOptions = DEFAULTS): number {
    if (this.#refusalFor(options) !== undefined) return REFUSED;
    const encoded = this.#committer.encodedMax(payloads);
    const bytesMax = this.#settings.batchBytesMax - BATCH_HEADER_BYTES - BATCH_TRAILER_BYTES;
    if (encoded > bytesMax) throw new WalRecordTooLargeError(encoded, bytesMax);
    const lsn = this.#committer.appendAll(payloads, options.type ?? 0, done);
    if (lsn !== FULL) this.#loop.touch();
    return lsn;
  }

  /** Why `append` with these options would be refused now. */
  refusal(options: AppendOptions = DEFAULTS): WalError | undefined {
    return this.#refusalFor(options);
  }

  /** Calls once when there may be room again after FULL. */
  onRoom(run: () => void): void {
    this.#roomWaiters.push(run);
  }

  /** Visits durable records in order. What `visit` throws ends the replay and is passed on. */
  replay(range: ReplayRange, visit: RecordVisitor, done: Done<void>): void {
    const from = range.from ?? (this.#snapshot?.lsn ?? this.firstLsn - 1) + 1;
    const to = Math.min(range.to ?? this.durableLsn, this.durableLsn);
    const manifest = {
      ...this.#keeper.manifest,
      segments: durableSegments(this.#keeper.manifest, this.#committer),
    };
    run(replaySegments(this.#settings.storage, manifest, { from, to }, visit), done);
  }

  /** Writes what was appended, seals the log, records the clean shutdown, gives the directory back. */
  close(done: Done<void>): void {
    if (this.#state !== 'open') {
      done(this.#state === 'failed' ? (this.#failure ?? null) : null);
      return;
    }
    this.#state = 'closing';
    this.#settings.host.clearTimer(this.#retryTimer);
    this.#loop.whenIdle(() => {
      this.#committer.requestSeal();
      this.#loop.whenIdle(() => this.#chores.add(() => this.#shutDown(), done));
    });
  }

  *#shutDown(): Procedure<void> {
    const { storage } = this.#settings;
    this.#loop.stop();
    const { batch } = this.#committer.durable;
    try {
      yield* this.#keeper.publish((manifest) => ({ ...manifest, clean: { batch } }));
    } catch (error) {
      this.#failure = error instanceof WalError ? error : new WalIoError('close', error);
      throw this.#failure;
    } finally {
      this.#state = 'closed';
      for (const file of this.#committer.openFiles) yield* call<void>((done) => storage.close(file, done));
      yield* call<void>((done) => storage.unlock(done));
    }
  }

  #refusalFor(options: AppendOptions): WalError | undefined {
    if (this.#state !== 'open') return this.#failure ?? new WalClosedError(this.#state);
    if (options.essential === true) return undefined;
    if (this.#diskLow !== undefined) return this.#diskLow;
    const waitedMs = this.#loop.slowMs;
    return waitedMs > SLOW_REFUSE_MS ? new WalDiskSlowError(waitedMs) : undefined;
  }

  #tellRoom(): void {
    if (this.#roomWaiters.length === 0) return;
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const run of waiters) run();
  }

  #replenish(): void {
    if (this.#supplying || !this.#supply.isDue || this.#state === 'failed' || this.#retryTimer !== undefined)
      return;
    this.#supplying = true;
    this.#chores.add(
      () => this.#supply.replenish(),
      (error) => {
        this.#supplying = false;
        if (error === null) this.#supplied();
        else this.#supplyFailed(error);
      },
    );
  }

  #supplied(): void {
    if (this.#diskLow !== undefined) {
      this.#diskLow = undefined;
      this.#settings.onEvent({ kind: 'disk-ok' });
    }
    this.#loop.pump();
    this.#replenish();
  }

  /** Running out of space or files here is off the hot path: the current segment still takes what it was made for. */
  #supplyFailed(error: Error): void {
    const errno = errnoOf(error);
    if (errno === undefined || !RESOURCE_ERRNOS.has(errno)) {
      this.#fail(error instanceof WalError ? error : new WalIoError('preparing a segment', error));
      return;
    }
    this.#diskLow = new WalDiskLowError(undefined, this.#settings.segmentBytes);
    this.#settings.onEvent({ kind: 'disk-low', freeBytes: undefined, errno });
    this.#retryTimer = this.#settings.host.setTimer(RETRY_MS, () => {
      this.#retryTimer = undefined;
      this.#replenish();
    });
  }

  /** Nothing is retried, flushed or answered: whoever is waiting learns it from the end of the process. */
  #fail(error: WalError): void {
    if (this.#state === 'failed') return;
    this.#state = 'failed';
    this.#failure = error;
    this.#loop.stop();
    this.#settings.host.clearTimer(this.#retryTimer);
    this.#settings.onFatal(error);
    this.#settings.exit(error.exitCode ?? 74);
    // Only where the host did not end the process.
    for (const waiters of this.#committer.abandon()) waiters.settle(error, () => undefined);
    this.#tellRoom();
  }
}
