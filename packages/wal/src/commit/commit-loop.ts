// Hot path: one write in flight, no allocation per record.
// Drives the committer: writes a batch when the disk is free, calls the callbacks when it is durable.

import type { EpochFence } from '../fencing/epoch-fence.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import type { WalHost } from '../host/wal-host.js';
import type { Storage } from '../storage/storage.js';
import { type WalError, WalIoError } from '../wal-error.js';
import type { BatchWrite, Committer } from './committer.js';

export interface CommitLoopEvents {
  /** The log moved to another segment, or needs one. */
  readonly onSegmentsChanged: () => void;
  /** The buffer has space again. */
  readonly onBufferSpace: () => void;
  readonly onSlow: (ms: number) => void;
  readonly onSlowEnded: () => void;
  readonly onCallbackThrew: (thrown: unknown) => void;
  /** A batch was acknowledged. */
  readonly onAcknowledged: (isSeal: boolean) => void;
  readonly onFatal: (error: WalError) => void;
}

const SLOW_MS = 1_000;
const MAY_BLOCK = { mayBlock: true };
const NON_BLOCKING = { mayBlock: false };

export class CommitLoop {
  batches = 0;
  batchBytes = 0;
  /** Duration of the last write. */
  lastSyncMs = 0;
  /** Age of the write in flight when last checked; 0 while writes are fast. */
  slowWriteMs = 0;
  private readonly committer: Committer;
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly sealDelayMs: number;
  private readonly fence: EpochFence;
  private readonly events: CommitLoopEvents;
  private write: BatchWrite | undefined;
  private writeStartedAt = 0;
  private remainder: Uint8Array | undefined;
  private isFlushScheduled = false;
  private isStopped = false;
  private lastCompletedAt = 0;
  private sealTimer: unknown;
  private slowTimer: unknown;
  private idleCallback: (() => void) | undefined;

  constructor(
    committer: Committer,
    storage: Storage,
    host: WalHost,
    options: {
      readonly sealDelayMs: number;
      readonly fence: EpochFence;
      readonly events: CommitLoopEvents;
    },
  ) {
    this.committer = committer;
    this.storage = storage;
    this.host = host;
    this.sealDelayMs = options.sealDelayMs;
    this.fence = options.fence;
    this.events = options.events;
  }

  /** Closes the batch after the current callbacks, so that it is not a batch of one record. */
  scheduleFlush(): void {
    if (this.isFlushScheduled || this.write !== undefined) return;
    this.isFlushScheduled = true;
    this.host.defer(this.flush);
  }

  pump(): void {
    this.start(NON_BLOCKING);
  }

  private start(options: { readonly mayBlock: boolean }): void {
    if (this.isStopped || this.write !== undefined) return;
    const write = this.committer.next();
    if (this.committer.retired.length > 0 || this.committer.isWaitingForSegment)
      this.events.onSegmentsChanged();
    if (write === undefined) {
      this.onIdle();
      return;
    }
    this.write = write;
    this.writeStartedAt = this.host.now();
    this.watchSlow();
    const how = write.records === 1 && write.bytes.length === PAGE_BYTES ? options : NON_BLOCKING;
    this.storage.writeDurable(write.file, write.bytes, write.position, this.onWritten, how);
  }

  /** Calls back once no batch is in flight and no record waits. */
  whenIdle(run: () => void): void {
    this.idleCallback = run;
    this.pump();
  }

  /** The log is closing and has no room for the records that wait: they fail, so that the close can go on. */
  discardPending(error: Error): void {
    this.committer.discard().invokeAll(error, this.events.onCallbackThrew);
    this.pump();
  }

  /** Starts no more writes and ignores the completion of the one in flight. */
  stop(): void {
    this.isStopped = true;
    this.host.clearTimer(this.sealTimer);
    this.host.clearTimer(this.slowTimer);
  }

  private readonly flush = (): void => {
    this.isFlushScheduled = false;
    // No write was in flight. A batch of one record then means no load, where a blocking write is faster.
    this.start(MAY_BLOCK);
  };

  private readonly onWritten = (error: Error | null, count: number): void => {
    const write = this.write;
    if (this.isStopped || write === undefined) return;
    const expected = this.remainder ?? write.bytes;
    if (error !== null || (count < expected.length && this.remainder !== undefined)) {
      const cause = error ?? new Error(`short write, ${count} of ${expected.length} bytes`);
      this.events.onFatal(new WalIoError(`batch at byte ${write.position} of ${write.file.name}`, cause));
      return;
    }
    if (count < expected.length) {
      // The second call either completes the write or reports the error.
      this.remainder = write.bytes.subarray(count);
      this.storage.writeDurable(write.file, this.remainder, write.position + count, this.onWritten);
      return;
    }
    this.complete(write);
  };

  private complete(write: BatchWrite): void {
    // After the batch is durable, and before it is acknowledged and the next one is written: either this read
    // sees a new epoch, or the process that published it sees the batch.
    const problem = this.fence.problem();
    if (problem !== undefined) {
      this.events.onFatal(problem);
      return;
    }
    this.write = undefined;
    this.remainder = undefined;
    const wasSlow = this.slowWriteMs > 0;
    this.slowWriteMs = 0;
    this.lastCompletedAt = this.host.now();
    this.lastSyncMs = this.lastCompletedAt - this.writeStartedAt;
    this.batches += 1;
    this.batchBytes += write.bytes.length;
    if (wasSlow) this.events.onSlowEnded();
    const callbacks = this.committer.completed();
    // The next write starts before the callbacks, so that the disk works meanwhile.
    this.pump();
    callbacks.invokeAll(null, this.events.onCallbackThrew);
    this.events.onAcknowledged(write.records === 0);
    this.events.onBufferSpace();
  }

  private onIdle(): void {
    if (!this.committer.isIdle) return;
    if (this.idleCallback !== undefined) {
      const run = this.idleCallback;
      this.idleCallback = undefined;
      run();
      return;
    }
    if (this.committer.wantsSeal && this.sealTimer === undefined) this.armSeal(this.sealDelayMs);
  }

  /** One timer for a whole burst: it checks the clock when it fires instead of being moved by every batch. */
  private armSeal(ms: number): void {
    this.sealTimer = this.host.setTimer(ms, () => {
      this.sealTimer = undefined;
      if (this.isStopped || !this.committer.wantsSeal) return;
      const idleMs = this.host.now() - this.lastCompletedAt;
      if (idleMs < this.sealDelayMs) return this.armSeal(this.sealDelayMs - idleMs);
      this.committer.requestSeal();
      this.pump();
    });
  }

  private watchSlow(): void {
    if (this.slowTimer !== undefined) return;
    this.slowTimer = this.host.setTimer(SLOW_MS, () => {
      this.slowTimer = undefined;
      if (this.isStopped || this.write === undefined) return;
      const ms = this.host.now() - this.writeStartedAt;
      this.slowWriteMs = ms >= SLOW_MS ? ms : 0;
      if (this.slowWriteMs > 0) this.events.onSlow(ms);
      this.watchSlow();
    });
  }
}
