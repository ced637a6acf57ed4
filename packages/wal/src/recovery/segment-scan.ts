// Reads one segment batch by batch, and where that ends, gathers what is needed to tell tearing from damage.

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
import { isDeclaredLoss, type Loss, type SegmentEntry } from '../format/manifest.js';
import { isZero, lastNonZero, PAGE_BYTES } from '../format/page.js';
import type { Coroutine } from '../storage/coroutine.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { SegmentReadBuffer } from './segment-read-buffer.js';

/** A batch that passed every check. The body is bytes[from, to), valid only during the call. */
export interface ScannedBatch {
  readonly header: BatchHeader;
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Where the batch begins in its segment. */
  readonly offset: number;
  readonly before: Position;
}

export interface ScanRules {
  readonly losses: readonly Loss[];
  /** No batch of a later epoch can be in a log whose manifest has this one. */
  readonly epochMax: number;
}

export interface SegmentScan {
  /** Position after the last good batch, and where that batch ends. */
  readonly position: Position;
  readonly offset: number;
  readonly lastBatch:
    | { readonly offset: number; readonly before: Position; readonly header: BatchHeader }
    | undefined;
  readonly tail: SegmentTail;
}

/** What lies behind the last good batch. */
export type SegmentTail =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'zeros' }
  | {
      readonly kind: 'bad';
      readonly reason: string;
      /** Says what proves that a later write had been started; undefined if nothing does. */
      readonly laterWrite: string | undefined;
      readonly lastLsn: number | undefined;
      /** Just past the last byte that is not zero. */
      readonly end: number;
    };

export function* scanSegment(
  storage: Storage,
  file: StorageFile,
  entry: SegmentEntry,
  start: Position,
  rules: ScanRules,
  onBatch: (batch: ScannedBatch) => void,
): Coroutine<SegmentScan> {
  const window = new SegmentReadBuffer(storage, file, entry.sealed?.end ?? entry.bytes);
  try {
    return yield* scanBatches(window, entry, start, rules, onBatch);
  } finally {
    // A read that is still under way must not outlive the file.
    yield* window.finish();
  }
}

function* scanBatches(
  buffer: SegmentReadBuffer,
  entry: SegmentEntry,
  start: Position,
  rules: ScanRules,
  onBatch: (batch: ScannedBatch) => void,
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
      header === undefined ? 'no valid batch header' : chainError(header, position, offset, limit, rules);
    if (header !== undefined && reason === undefined) {
      const extent = batchExtent(header.bodyLen);
      if (!buffer.has(offset, extent)) yield* buffer.load(offset, extent);
      const at = offset - buffer.start;
      const crc = buffer.has(offset, extent) ? bodyCrc(buffer.bytes, at, header) : undefined;
      if (crc !== undefined) {
        const from = at + BATCH_HEADER_BYTES;
        onBatch({ header, bytes: buffer.bytes, from, to: from + header.bodyLen, offset, before: position });
        lastBatch = { offset, before: position, header };
        position = { batch: header.batchSeq, lsn: header.firstLsn + header.count - 1, crc };
        offset += extent;
        continue;
      }
      reason = 'body crc is wrong';
    }
    const tail = yield* classifyTail(buffer, entry, offset, limit, position.batch + 1, reason ?? '');
    return { position, offset, lastBatch, tail };
  }
  return { position, offset, lastBatch, tail: { kind: 'nothing' } };
}

/** Why a header that is valid in itself cannot be the batch expected here. */
function chainError(
  header: BatchHeader,
  position: Position,
  offset: number,
  limit: number,
  rules: ScanRules,
): string | undefined {
  if (header.batchSeq !== position.batch + 1)
    return `batch ${header.batchSeq} where ${position.batch + 1} is due`;
  if (header.prevCrc !== position.crc) return 'the chain to the previous batch is broken';
  if (header.epoch > rules.epochMax)
    return `epoch ${header.epoch} is later than the manifest's ${rules.epochMax}`;
  if (((header.flags & FLAG_LINK) !== 0) !== (offset === PAGE_BYTES))
    return 'link flag does not fit the place';
  if (offset + batchExtent(header.bodyLen) > limit) return 'the batch runs beyond its segment';
  const due = position.lsn + 1;
  if (header.firstLsn !== due && !isDeclaredLoss(rules.losses, due, header.firstLsn - 1)) {
    return `lsn ${header.firstLsn} where ${due} is due`;
  }
  return undefined;
}

/**
 * By the rule of one batch in flight, a laterWrite of any later write proves that batch `due` had been synced: then what is
 * wrong here is damage, not tearing.
 */
function* classifyTail(
  buffer: SegmentReadBuffer,
  entry: SegmentEntry,
  from: number,
  limit: number,
  due: number,
  reason: string,
): Coroutine<SegmentTail> {
  const seed = crcSeed(entry);
  let laterWrite: string | undefined;
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
    if (offset >= ownEnd) laterWrite ??= `bytes were written at ${offset}, beyond batch ${due}`;
    const header = readBatchHeader(buffer.bytes, at, seed);
    if (header === undefined || header.batchSeq < due) continue;
    lastLsn = Math.max(lastLsn ?? 0, header.firstLsn + header.count - 1);
    if (header.batchSeq > due) laterWrite ??= `batch ${header.batchSeq} was started at ${offset}`;
    else if (offset !== from || reason !== 'body crc is wrong')
      laterWrite ??= `the header of batch ${due} is whole, but ${reason}`;
    else ownEnd = from + batchExtent(header.bodyLen);
  }
  return end === from ? { kind: 'zeros' } : { kind: 'bad', reason, laterWrite, lastLsn, end };
}
