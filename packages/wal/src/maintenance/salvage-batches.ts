// Finds every valid batch in damaged segments. Changes nothing.

import { type BatchHeader, batchExtent, bodyCrc, crcSeed, readBatchHeader } from '../format/batch.js';
import type { Manifest, SegmentEntry } from '../format/manifest.js';
import { isZero, PAGE_BYTES } from '../format/page-padding.js';
import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import { readSegmentHeader } from '../recovery/find-store.js';
import { type SegmentReadBuffer, withSegmentReadBuffer } from '../recovery/segment-read-buffer.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';

export interface SalvagedBatch {
  readonly entry: SegmentEntry;
  readonly offset: number;
  readonly header: BatchHeader;
}

export interface SalvageResult {
  /** In the order of their records, without overlaps. */
  readonly batches: readonly SalvagedBatch[];
  /** Files with bytes that belong to no valid batch. */
  readonly damagedFiles: readonly string[];
}

export function* salvageBatches(
  storage: Storage,
  entries: readonly SegmentEntry[],
): Coroutine<SalvageResult> {
  const batches: SalvagedBatch[] = [];
  const damagedFiles: string[] = [];
  let lastLsn = 0;
  for (const entry of entries) {
    const bytes = yield* call<number | undefined>((done) => storage.size(segmentName(entry.seq), done));
    if (bytes === undefined) continue;
    const found = yield* salvageSegment(storage, entry, Math.min(bytes, entry.sealed?.end ?? entry.bytes));
    if (found.isDamaged) damagedFiles.push(segmentName(entry.seq));
    for (const batch of found.batches) {
      const { firstLsn, count } = batch.header;
      // Without a manifest, a batch that recovery copied to a newer segment is found twice.
      if (count === 0 || firstLsn <= lastLsn) continue;
      batches.push(batch);
      lastLsn = firstLsn + count - 1;
    }
  }
  return { batches, damagedFiles };
}

function* salvageSegment(
  storage: Storage,
  entry: SegmentEntry,
  limit: number,
): Coroutine<{ readonly batches: SalvagedBatch[]; readonly isDamaged: boolean }> {
  const batches: SalvagedBatch[] = [];
  let isDamaged = limit < (entry.sealed?.end ?? entry.bytes);
  yield* withSegmentReadBuffer(storage, segmentName(entry.seq), limit, function* (buffer) {
    let offset = PAGE_BYTES;
    while (offset < limit) {
      const header = yield* batchAt(buffer, entry, offset);
      if (header !== undefined) {
        batches.push({ entry, offset, header });
        offset += batchExtent(header.bodyLen);
        continue;
      }
      const at = offset - buffer.start;
      if (!isZero(buffer.bytes, at, Math.min(at + PAGE_BYTES, buffer.bytes.length))) isDamaged = true;
      offset += PAGE_BYTES;
    }
  });
  return { batches, isDamaged };
}

function* batchAt(
  buffer: SegmentReadBuffer,
  entry: SegmentEntry,
  offset: number,
): Coroutine<BatchHeader | undefined> {
  if (!buffer.has(offset, PAGE_BYTES)) yield* buffer.load(offset, PAGE_BYTES);
  const header = readBatchHeader(buffer.bytes, offset - buffer.start, crcSeed(entry));
  if (header === undefined) return undefined;
  const extent = batchExtent(header.bodyLen);
  if (!buffer.has(offset, extent)) yield* buffer.load(offset, extent);
  if (!buffer.has(offset, extent)) return undefined;
  return bodyCrc(buffer.bytes, offset - buffer.start, header) === undefined ? undefined : header;
}

/** Segment entries from the headers of the files, for when CURRENT cannot be read. */
export function* segmentsByHeader(
  storage: Storage,
  names: readonly string[],
): Coroutine<{ readonly storeId: string | undefined; readonly entries: SegmentEntry[] }> {
  const entries: SegmentEntry[] = [];
  let storeId: string | undefined;
  for (const name of names.filter((candidate) => segmentSeqOf(candidate) !== undefined).sort()) {
    const header = yield* readSegmentHeader(storage, name);
    if (header === undefined || (storeId !== undefined && header.storeId !== storeId)) continue;
    storeId = header.storeId;
    entries.push({ seq: header.seq, bytes: header.bytes, salt: header.salt });
  }
  return { storeId, entries };
}

/** The highest LSN in the manifest. */
export function lastKnownLsn(manifest: Manifest): number {
  let last = Math.max(manifest.start.lsn, manifest.snapshots[0]?.lsn ?? 0, manifest.clean?.lsn ?? 0);
  for (const { sealed } of manifest.segments) last = Math.max(last, sealed?.lsn ?? 0);
  return last;
}
