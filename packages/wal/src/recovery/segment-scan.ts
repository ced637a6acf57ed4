// Reads one segment batch by batch, and where that ends, gathers what is needed to tell tearing from damage.

import {
  BATCH_HEADER_BYTES,
  type BatchHeader,
  batchExtent,
  batchSeed,
  bodyCrc,
  FLAG_LINK,
  type Position,
  readBatchHeader,
} from '../format/batch.js';
import { isDeclaredLoss, type Loss, type SegmentEntry } from '../format/manifest.js';
import { isZero, lastNonZero, PAGE_BYTES } from '../format/page.js';
import type { Procedure } from '../storage/coroutine.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { SegmentWindow } from './segment-read-buffer.js';

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
  readonly rest: Rest;
}

/** What lies behind the last good batch. */
export type Rest =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'zeros' }
  | {
      readonly kind: 'bad';
      readonly reason: string;
      /** Says what proves that a later write had been started; undefined if nothing does. */
      readonly trace: string | undefined;
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
): Procedure<SegmentScan> {
  const window = new SegmentWindow(storage, file, entry.sealed?.end ?? entry.bytes);
  try {
    return yield* scanWindow(window, entry, start, rules, onBatch);
  } finally {
    // A read that is still under way must not outlive the file.
    yield* window.finish();
  }
}

function* scanWindow(
  window: SegmentWindow,
  entry: SegmentEntry,
  start: Position,
  rules: ScanRules,
  onBatch: (batch: ScannedBatch) => void,
): Procedure<SegmentScan> {
  const limit = entry.sealed?.end ?? entry.bytes;
  const seed = batchSeed(entry);
  let position = start;
  let offset = PAGE_BYTES;
  let lastBatch: SegmentScan['lastBatch'];

  while (offset < limit) {
    if (!window.has(offset, PAGE_BYTES)) yield* window.load(offset, PAGE_BYTES);
    const header = readBatchHeader(window.bytes, offset - window.start, seed);
    let reason =
      header === undefined ? 'no valid batch header' : discontinuity(header, position, offset, limit, rules);
    if (header !== undefined && reason === undefined) {
      const extent = batchExtent(header.bodyLen);
      if (!window.has(offset, extent)) yield* window.load(offset, extent);
      const at = offset - window.start;
      const crc = window.has(offset, extent) ? bodyCrc(window.bytes, at, header) : undefined;
      if (crc !== undefined) {
        const from = at + BATCH_HEADER_BYTES;
        onBatch({ header, bytes: window.bytes, from, to: from + header.bodyLen, offset, before: position });
        lastBatch = { offset, before: position, header };
        position = { batch: header.batchSeq, lsn: header.firstLsn + header.count - 1, crc };
        offset += extent;
        continue;
      }
      reason = 'body crc is wrong';
    }
    const rest = yield* examineRest(window, entry, offset, limit, position.batch + 1, reason ?? '');
    return { position, offset, lastBatch, rest };
  }
  return { position, offset, lastBatch, rest: { kind: 'nothing' } };
}

/** Why a header that is valid in itself cannot be the batch expected here. */
function discontinuity(
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
 * By the rule of one batch in flight, a trace of any later write proves that batch `due` had been synced: then what is
 * wrong here is damage, not tearing.
 */
function* examineRest(
  window: SegmentWindow,
  entry: SegmentEntry,
  from: number,
  limit: number,
  due: number,
  reason: string,
): Procedure<Rest> {
  const seed = batchSeed(entry);
  let trace: string | undefined;
  let lastLsn: number | undefined;
  let end = from;
  let ownEnd = Number.POSITIVE_INFINITY;
  for (let offset = from; offset < limit; offset += PAGE_BYTES) {
    if (!window.has(offset, PAGE_BYTES)) yield* window.load(offset, PAGE_BYTES);
    const at = offset - window.start;
    const stop = Math.min(at + PAGE_BYTES, window.bytes.length);
    if (at >= stop) break;
    if (isZero(window.bytes, at, stop)) continue;
    end = window.start + lastNonZero(window.bytes, at, stop);
    if (offset >= ownEnd) trace ??= `bytes were written at ${offset}, beyond batch ${due}`;
    const header = readBatchHeader(window.bytes, at, seed);
    if (header === undefined || header.batchSeq < due) continue;
    lastLsn = Math.max(lastLsn ?? 0, header.firstLsn + header.count - 1);
    if (header.batchSeq > due) trace ??= `batch ${header.batchSeq} was started at ${offset}`;
    else if (offset !== from || reason !== 'body crc is wrong')
      trace ??= `the header of batch ${due} is whole, but ${reason}`;
    else ownEnd = from + batchExtent(header.bodyLen);
  }
  return end === from ? { kind: 'zeros' } : { kind: 'bad', reason, trace, lastLsn, end };
}
