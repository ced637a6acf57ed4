// Hot path: no allocation per record.
//
// Group commit as a state machine without I/O. Records go into the filling batch; `next` closes it and hands it out when
// nothing is in flight; `completed` says that it is durable. So everything that arrives during one sync is in the next
// batch, and batch k+1 is never handed out before k is durable (W1).
//
//   append ──> filling ──next()──> in flight ──completed()──> waiters told, in order of append
//                 ^                    │
//                 └──── buffers swap ──┘

import { batchExtent, batchSeed, closeBatch, FLAG_LINK, FLAG_SEAL, type Position } from '../format/batch.js';
import type { SealedEnd, SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page.js';
import type { BlobRef, RecordCodec } from '../format/record.js';
import type { StorageFile } from '../storage/storage.js';
import { Waiters } from './append-callbacks.js';
import { BatchBuffer, type Durable } from './batch-buffer.js';

/** A segment this process created, listed in CURRENT, with room from `offset` on. */
export interface OpenSegment {
  readonly entry: SegmentEntry;
  readonly file: StorageFile;
  readonly offset: number;
}

export interface RetiredSegment {
  readonly segment: OpenSegment;
  readonly sealed: SealedEnd;
}

export interface BatchWrite {
  readonly file: StorageFile;
  readonly bytes: Buffer;
  readonly position: number;
  readonly records: number;
}

export interface CommitterOptions {
  readonly codec: RecordCodec;
  readonly epoch: number;
  readonly position: Position;
  readonly segment: OpenSegment;
  readonly batchBytesMax: number;
}

export class Committer {
  /** Segments that take no more batches and are not yet sealed in CURRENT. */
  readonly retired: RetiredSegment[] = [];
  /** True while a batch waits for a segment that is not there. */
  starved = false;
  private readonly codec: RecordCodec;
  private readonly epoch: number;
  private readonly ready: OpenSegment[] = [];
  private segment: OpenSegment;
  private offset: number;
  private position: Position;
  private durablePosition: Position;
  private lastWasSeal: boolean;
  private filling: BatchBuffer;
  private inFlight: BatchBuffer | undefined;
  private spare: BatchBuffer;
  private after: Position;
  private sealRequested = false;
  private rotateDue = false;
  private waiting = new Waiters();
  private told = new Waiters();
  private spareWaiters = new Waiters();
  private lsnOfNext: number;

  constructor(options: CommitterOptions) {
    this.codec = options.codec;
    this.epoch = options.epoch;
    this.segment = options.segment;
    this.offset = options.segment.offset;
    // A batch that recovery copied into this segment has no seal behind it yet.
    this.lastWasSeal = options.segment.offset === PAGE_BYTES;
    this.position = options.position;
    this.durablePosition = options.position;
    this.after = options.position;
    this.lsnOfNext = options.position.lsn + 1;
    this.filling = new BatchBuffer(options.batchBytesMax);
    this.spare = new BatchBuffer(options.batchBytesMax);
    this.filling.reset(this.lsnOfNext);
  }

  get nextLsn(): number {
    return this.lsnOfNext;
  }

  get durable(): Position {
    return this.durablePosition;
  }

  get buffered(): number {
    return this.filling.bodyLen;
  }

  /** Nothing is in flight and nothing waits, not even a seal that was asked for. */
  get isIdle(): boolean {
    return this.inFlight === undefined && this.filling.count === 0 && !this.isSealDue;
  }

  /** True if records became durable and no seal has been written or asked for behind them. */
  get wantsSeal(): boolean {
    return this.isIdle && !this.lastWasSeal;
  }

  private get isSealDue(): boolean {
    return this.sealRequested && !this.lastWasSeal;
  }

  get activeSeq(): number {
    return this.segment.entry.seq;
  }

  get segmentsReady(): number {
    return this.ready.length;
  }

  /** What a reader may take as durable in the segment being written. */
  get activeEnd(): SealedEnd {
    const { batch, lsn, crc } = this.durablePosition;
    return { end: this.offset, batch, lsn, crc };
  }

  /** The record's LSN, or 0 if the batch is full: nothing was taken, try again after the next completion. */
  append(payload: Uint8Array, type: number, blob: BlobRef | undefined, done: Durable | undefined): number {
    if (!this.filling.reserve(this.codec.encodedMax(payload.length, blob))) return 0;
    const lsn = this.lsnOfNext;
    this.filling.add(this.codec, lsn, payload, type, blob);
    this.lsnOfNext = lsn + 1;
    if (done !== undefined) this.waiting.add(done, lsn);
    return lsn;
  }

  /** All in one batch, so all or none survive a crash. Returns the last LSN, or 0 if they do not fit now. */
  appendAll(payloads: readonly Uint8Array[], type: number, done: Durable | undefined): number {
    if (!this.filling.reserve(this.encodedMax(payloads))) return 0;
    for (const payload of payloads) {
      this.filling.add(this.codec, this.lsnOfNext, payload, type, undefined);
      this.lsnOfNext += 1;
    }
    if (done !== undefined) this.waiting.add(done, this.lsnOfNext - 1);
    return this.lsnOfNext - 1;
  }

  encodedMax(payloads: readonly Uint8Array[]): number {
    let bytes = 0;
    for (const payload of payloads) bytes += this.codec.encodedMax(payload.length, undefined);
    return bytes;
  }

  requestSeal(): void {
    this.sealRequested = true;
  }

  /** The segment being written takes no more batches, as soon as there is another. */
  requestRotate(): void {
    this.rotateDue = true;
  }

  provide(segment: OpenSegment): void {
    this.ready.push(segment);
    this.starved = false;
  }

  /** The next batch to write, or undefined if there is none or one is in flight. */
  next(): BatchWrite | undefined {
    if (this.inFlight !== undefined) return undefined;
    if (this.rotateDue) this.rotate();
    const batch = this.filling;
    const isSeal = batch.count === 0;
    if (isSeal && !this.isSealDue) return undefined;
    const extent = batchExtent(batch.bodyLen);
    if (!this.makeRoom(extent)) return undefined;

    const { entry, file } = this.segment;
    const link = this.offset === PAGE_BYTES ? FLAG_LINK : 0;
    const flags = this.codec.batchFlag | link | (isSeal ? FLAG_SEAL : 0);
    const { firstLsn, count } = batch;
    const fields = { position: this.position, firstLsn, count, epoch: this.epoch, flags };
    this.after = closeBatch(batch.bytes, batch.bodyLen, fields, batchSeed(entry));
    this.lastWasSeal = isSeal;
    this.sealRequested = false;
    this.swap(batch);
    return { file, bytes: batch.bytes.subarray(0, extent), position: this.offset, records: count };
  }

  /**
   * The batch in flight is durable. Returns those to be told; the caller may hand out the next batch before it tells them,
   * so that the disk works while they do.
   */
  completed(): Waiters {
    const batch = this.inFlight;
    if (batch === undefined) throw new Error('completed() without a batch in flight');
    this.offset += batchExtent(batch.bodyLen);
    this.position = this.after;
    this.durablePosition = this.after;
    this.spare = batch;
    this.inFlight = undefined;
    return this.told;
  }

  /** What waits and cannot be written is given up: nothing of it has reached the disk. Returns those to be told. */
  discard(): Waiters {
    this.filling.reset(this.lsnOfNext);
    this.sealRequested = false;
    return this.waiting;
  }

  /** Files to close when the log ends. */
  get openFiles(): StorageFile[] {
    const retired = this.retired.map(({ segment }) => segment);
    return [...retired, this.segment, ...this.ready].map(({ file }) => file);
  }

  /** Everyone who still waits, told or not; for when the log has failed. */
  abandon(): Waiters[] {
    return [this.told, this.waiting];
  }

  private swap(batch: BatchBuffer): void {
    this.inFlight = batch;
    this.filling = this.spare;
    this.filling.reset(this.lsnOfNext);
    const free = this.spareWaiters;
    this.spareWaiters = this.told;
    this.told = this.waiting;
    this.waiting = free;
  }

  private makeRoom(extent: number): boolean {
    while (this.offset + extent > this.segment.entry.bytes) {
      if (!this.advance()) {
        this.starved = true;
        return false;
      }
    }
    return true;
  }

  private rotate(): void {
    if (this.offset === PAGE_BYTES || this.advance()) this.rotateDue = false;
  }

  private advance(): boolean {
    const fresh = this.ready.shift();
    if (fresh === undefined) return false;
    const { batch, lsn, crc } = this.position;
    this.retired.push({ segment: this.segment, sealed: { end: this.offset, batch, lsn, crc } });
    this.segment = fresh;
    this.offset = fresh.offset;
    return true;
  }
}
