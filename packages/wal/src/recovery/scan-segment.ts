// Reads one segment batch by batch. Where the valid batches end, it collects the evidence that tells a torn
// write from damage.

import {
  BATCH_HEADER_BYTES,
  type BatchHeader,
  batchExtent,
  bodyCrc,
  crcSeed,
  FLAG_LINK,
  type Position,
  readBatchHeader,
} from '../format/batch.js';
import { isDeclaredLoss, type Manifest, type SegmentEntry } from '../format/manifest.js';
import { isZero, lastNonZero, PAGE_BYTES } from '../format/page-padding.js';
import { segmentName } from '../format/segment-header.js';
import type { Coroutine } from '../storage/coroutine.js';
import { readAt } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import { type SegmentReadBuffer, withSegmentReadBuffer } from './segment-read-buffer.js';

/** A batch that passed every check. The body is bytes[from, to), valid until its visit is over. */
export interface ScannedBatch {
  readonly header: BatchHeader;
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Where the batch begins in its segment. */
  readonly offset: number;
  readonly before: Position;
}

/** A visit that takes several steps is a coroutine. */
export type BatchVisitor = (batch: ScannedBatch) => Coroutine<void> | undefined;

export interface SegmentScan {
  /** Position after the last valid batch, and the offset where it ends. */
  readonly position: Position;
  readonly offset: number;
  readonly lastBatch:
    | { readonly offset: number; readonly before: Position; readonly header: BatchHeader }
    | undefined;
  readonly tail: SegmentTail;
}

/** The bytes after the last valid batch. */
export type SegmentTail =
  | { readonly kind: 'none' }
  | { readonly kind: 'zeros' }
  | {
      readonly kind: 'invalid';
      readonly reason: string;
      /** Evidence that a later write had been started; undefined if there is none. */
      readonly evidence: string | undefined;
      readonly lastLsn: number | undefined;
      /** Offset after the last nonzero byte. */
      readonly end: number;
    };

const BODY_CRC_WRONG = 'body crc is wrong';

export function* scanSegment(
  storage: Storage,
  manifest: Manifest,
  entry: SegmentEntry,
  start: Position,
  onBatch: BatchVisitor,
): Coroutine<SegmentScan> {
  const limit = entry.sealed?.end ?? entry.bytes;
  return yield* withSegmentReadBuffer(storage, segmentName(entry.seq), limit, (buffer) =>
    scanBatches(buffer, manifest, entry, start, onBatch),
  );
}

/** The body of a batch, with room for header, trailer and padding. */
export function* readBatchBody(
  storage: Storage,
  batch: { readonly entry: SegmentEntry; readonly offset: number; readonly header: BatchHeader },
): Coroutine<Buffer> {
  const { entry, offset, header } = batch;
  const bytes = Buffer.alloc(batchExtent(header.bodyLen));
  const body = bytes.subarray(BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + header.bodyLen);
  yield* readAt(storage, segmentName(entry.seq), body, offset + BATCH_HEADER_BYTES);
  return bytes;
}

function* scanBatches(
  buffer: SegmentReadBuffer,
  manifest: Manifest,
  entry: SegmentEntry,
  start: Position,
  onBatch: BatchVisitor,
): Coroutine<SegmentScan> {
  const limit = entry.sealed?.end ?? entry.bytes;
  const seed = crcSeed(entry);
  let position = start;
  let offset = PAGE_BYTES;
  let lastBatch: SegmentScan['lastBatch'];

  while (offset < limit) {
    if (!buffer.has(offset, PAGE_BYTES)) yield* buffer.load(offset, PAGE_BYTES);
    const header = readBatchHeader(buffer.bytes, offset - buffer.start, seed);
    let reason =
      header === undefined ? 'no valid batch header' : chainError(header, position, offset, limit, manifest);
    if (header !== undefined && reason === undefined) {
      const extent = batchExtent(header.bodyLen);
      if (!buffer.has(offset, extent)) yield* buffer.load(offset, extent);
      const at = offset - buffer.start;
      const crc = buffer.has(offset, extent) ? bodyCrc(buffer.bytes, at, header) : undefined;
      if (crc !== undefined) {
        const from = at + BATCH_HEADER_BYTES;
        const { bytes } = buffer;
        const visit = onBatch({ header, bytes, from, to: from + header.bodyLen, offset, before: position });
        if (visit !== undefined) yield* visit;
        lastBatch = { offset, before: position, header };
        position = { batch: header.batchSeq, lsn: header.firstLsn + header.count - 1, crc };
        offset += extent;
        continue;
      }
      reason = BODY_CRC_WRONG;
    }
    const tail = yield* classifyTail(buffer, entry, offset, limit, position.batch + 1, reason ?? '');
    return { position, offset, lastBatch, tail };
  }
  return { position, offset, lastBatch, tail: { kind: 'none' } };
}

/** Why a valid header cannot be the batch expected here. */
function chainError(
  header: BatchHeader,
  position: Position,
  offset: number,
  limit: number,
  manifest: Manifest,
): string | undefined {
  if (header.batchSeq !== position.batch + 1)
    return `batch ${header.batchSeq} where ${position.batch + 1} is expected`;
  if (header.prevCrc !== position.crc) return 'the chain to the previous batch is broken';
  if (header.epoch > manifest.epoch)
    return `epoch ${header.epoch} is later than the manifest's ${manifest.epoch}`;
  if (((header.flags & FLAG_LINK) !== 0) !== (offset === PAGE_BYTES))
    return 'the link flag does not match the position';
  if (offset + batchExtent(header.bodyLen) > limit) return 'the batch ends beyond its segment';
  const expected = position.lsn + 1;
  if (header.firstLsn !== expected && !isDeclaredLoss(manifest.losses, expected, header.firstLsn - 1)) {
    return `lsn ${header.firstLsn} where ${expected} is expected`;
  }
  return undefined;
}

/**
 * With one batch in flight, evidence of any later write proves that batch `expected` had been synced: then
 * the invalid bytes are damage, not a torn write.
 */
function* classifyTail(
  buffer: SegmentReadBuffer,
  entry: SegmentEntry,
  from: number,
  limit: number,
  expected: number,
  reason: string,
): Coroutine<SegmentTail> {
  const seed = crcSeed(entry);
  let evidence: string | undefined;
  let lastLsn: number | undefined;
  let end = from;
  let ownEnd = Number.POSITIVE_INFINITY;
  for (let offset = from; offset < limit; offset += PAGE_BYTES) {
    if (!buffer.has(offset, PAGE_BYTES)) yield* buffer.load(offset, PAGE_BYTES);
    const at = offset - buffer.start;
    const stop = Math.min(at + PAGE_BYTES, buffer.bytes.length);
    if (at >= stop) break;
    if (isZero(buffer.bytes, at, stop)) continue;
    end = buffer.start + lastNonZero(buffer.bytes, at, stop);
    if (offset >= ownEnd) evidence ??= `bytes were written at ${offset}, beyond batch ${expected}`;
    const header = readBatchHeader(buffer.bytes, at, seed);
    if (header === undefined || header.batchSeq < expected) continue;
    lastLsn = Math.max(lastLsn ?? 0, header.firstLsn + header.count - 1);
    if (header.batchSeq > expected) evidence ??= `batch ${header.batchSeq} was started at ${offset}`;
    else if (offset !== from || reason !== BODY_CRC_WRONG)
      evidence ??= `the header of batch ${expected} is valid, but ${reason}`;
    else ownEnd = from + batchExtent(header.bodyLen);
  }
  return end === from ? { kind: 'zeros' } : { kind: 'invalid', reason, evidence, lastLsn, end };
}
