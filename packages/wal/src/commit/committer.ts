// Hot path: no allocation per record.
//
// Group commit as a state machine without I/O. Records go into the filling batch; `next` closes it and
// returns it when no batch is in flight; `completed` marks it durable. So all records that arrive during one
// sync share the next batch, and batch k+1 is never written before k is durable: a trace of k+1 on the disk
// proves k.
//
//   append ──> filling ──next()──> in flight ──completed()──> callbacks, in the order of the appends
//                 ^                    │
//                 └──── buffers swap ──┘

import type { BlobRef } from '../blob/blob-ref.js';
import type { RecordCodec } from '../codec/record-codec.js';
import { batchExtent, closeBatch, crcSeed, FLAG_LINK, FLAG_SEAL, type Position } from '../format/batch.js';
import type { SealedEnd, SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import type { StorageFile } from '../storage/storage.js';
import { type AppendCallback, AppendCallbacks } from './append-callbacks.js';
import { BatchBuffer } from './batch-buffer.js';

/** A segment that this process created, listed in CURRENT, free from `offset` on. */
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
  /** Segments that accept no more batches and are not yet sealed in CURRENT. */
  readonly retired: RetiredSegment[] = [];
  /** True while a batch waits for the next segment. */
  isWaitingForSegment = false;
  private readonly codec: RecordCodec;
  private readonly epoch: number;
  private readonly ready: OpenSegment[] = [];
  private segment: OpenSegment;
  private offset: number;
  private durablePosition: Position;
  private lastWasSeal: boolean;
  private filling: BatchBuffer;
  private inFlight: BatchBuffer | undefined;
  private spare: BatchBuffer;
  private inFlightEnd: Position;
  private sealRequested = false;
  private isRotateDue = false;
  private fillingCallbacks = new AppendCallbacks();
  private inFlightCallbacks = new AppendCallbacks();
  private spareCallbacks = new AppendCallbacks();
  private nextRecordLsn: number;

  constructor(options: CommitterOptions) {
    this.codec = options.codec;
    this.epoch = options.epoch;
    this.segment = options.segment;
    this.offset = options.segment.offset;
    // A batch that recovery copied into this segment has no seal after it yet.
    this.lastWasSeal = options.segment.offset === PAGE_BYTES;
    this.durablePosition = options.position;
    this.inFlightEnd = options.position;
    this.nextRecordLsn = options.position.lsn + 1;
    this.filling = new BatchBuffer(options.batchBytesMax);
    this.spare = new BatchBuffer(options.batchBytesMax);
    this.filling.reset(this.nextRecordLsn);
  }

  get nextLsn(): number {
    return this.nextRecordLsn;
  }

  get durable(): Position {
    return this.durablePosition;
  }

  get bufferedBytes(): number {
    return this.filling.bodyLen;
  }

  /** No batch is in flight, and neither records nor a requested seal wait. */
  get isIdle(): boolean {
    return this.inFlight === undefined && this.filling.count === 0 && !this.isSealDue;
  }

  /** True if records became durable and no seal was written or requested after them. */
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

  /** The durable end of the segment being written, for readers. */
  get activeEnd(): SealedEnd {
    const { batch, lsn, crc } = this.durablePosition;
    return { end: this.offset, batch, lsn, crc };
  }

  /** The record's LSN, or 0 if the batch is full: try again after the next completion. */
  append(
    payload: Uint8Array,
    type: number,
    blob: BlobRef | undefined,
    done: AppendCallback | undefined,
  ): number {
    if (!this.filling.reserve(this.codec.encodedMax(payload.length, blob))) return 0;
    const lsn = this.nextRecordLsn;
    this.filling.add(this.codec, lsn, payload, type, blob);
    this.nextRecordLsn = lsn + 1;
    if (done !== undefined) this.fillingCallbacks.add(done, lsn);
    return lsn;
  }

  /** All in one batch: all or none survive a crash. The last LSN, or 0 if they do not fit now. */
  appendAll(payloads: readonly Uint8Array[], type: number, done: AppendCallback | undefined): number {
    if (!this.filling.reserve(this.encodedMax(payloads))) return 0;
    for (const payload of payloads) {
      this.filling.add(this.codec, this.nextRecordLsn, payload, type, undefined);
      this.nextRecordLsn += 1;
    }
    if (done !== undefined) this.fillingCallbacks.add(done, this.nextRecordLsn - 1);
    return this.nextRecordLsn - 1;
  }

  encodedMax(payloads: readonly Uint8Array[]): number {
    let bytes = 0;
    for (const payload of payloads) bytes += this.codec.encodedMax(payload.length, undefined);
    return bytes;
  }

  requestSeal(): void {
    this.sealRequested = true;
  }

  /** Moves on to the next segment as soon as there is one. */
  requestRotate(): void {
    this.isRotateDue = true;
  }

  addSegment(segment: OpenSegment): void {
    this.ready.push(segment);
    this.isWaitingForSegment = false;
  }

  /** The next batch to write, or undefined if there is none or one is in flight. */
  next(): BatchWrite | undefined {
    if (this.inFlight !== undefined) return undefined;
    if (this.isRotateDue) this.rotate();
    const batch = this.filling;
    const isSeal = batch.count === 0;
    if (isSeal && !this.isSealDue) return undefined;
    const extent = batchExtent(batch.bodyLen);
    if (!this.makeRoom(extent)) return undefined;

    const { entry, file } = this.segment;
    const link = this.offset === PAGE_BYTES ? FLAG_LINK : 0;
    const flags = this.codec.batchFlag | link | (isSeal ? FLAG_SEAL : 0);
    const { firstLsn, count } = batch;
    const fields = { position: this.durablePosition, firstLsn, count, epoch: this.epoch, flags };
    this.inFlightEnd = closeBatch(batch.bytes, batch.bodyLen, fields, crcSeed(entry));
    this.lastWasSeal = isSeal;
    this.sealRequested = false;
    this.swap(batch);
    return { file, bytes: batch.bytes.subarray(0, extent), position: this.offset, records: count };
  }

  /**
   * The batch in flight is durable. Returns its callbacks; the caller may start the next write before it
   * calls them, so that the disk works meanwhile.
   */
  completed(): AppendCallbacks {
    const batch = this.inFlight;
    if (batch === undefined) throw new Error('completed() without a batch in flight');
    this.offset += batchExtent(batch.bodyLen);
    this.durablePosition = this.inFlightEnd;
    this.spare = batch;
    this.inFlight = undefined;
    return this.inFlightCallbacks;
  }

  /** Drops the records that wait, none of which has reached the disk. Returns their callbacks. */
  discard(): AppendCallbacks {
    this.filling.reset(this.nextRecordLsn);
    this.sealRequested = false;
    return this.fillingCallbacks;
  }

  /** Files to close when the log ends. */
  get openFiles(): StorageFile[] {
    const retired = this.retired.map(({ segment }) => segment);
    return [...retired, this.segment, ...this.ready].map(({ file }) => file);
  }

  /** All callbacks not yet called, for a log that has failed. */
  pendingCallbacks(): AppendCallbacks[] {
    return [this.inFlightCallbacks, this.fillingCallbacks];
  }

  private swap(batch: BatchBuffer): void {
    this.inFlight = batch;
    this.filling = this.spare;
    this.filling.reset(this.nextRecordLsn);
    const free = this.spareCallbacks;
    this.spareCallbacks = this.inFlightCallbacks;
    this.inFlightCallbacks = this.fillingCallbacks;
    this.fillingCallbacks = free;
  }

  private makeRoom(extent: number): boolean {
    while (this.offset + extent > this.segment.entry.bytes) {
      if (!this.advance()) {
        this.isWaitingForSegment = true;
        return false;
      }
    }
    return true;
  }

  private rotate(): void {
    if (this.offset === PAGE_BYTES || this.advance()) this.isRotateDue = false;
  }

  private advance(): boolean {
    const fresh = this.ready.shift();
    if (fresh === undefined) return false;
    const { batch, lsn, crc } = this.durablePosition;
    this.retired.push({ segment: this.segment, sealed: { end: this.offset, batch, lsn, crc } });
    this.segment = fresh;
    this.offset = fresh.offset;
    return true;
  }
}
