// Reads durable records batch by batch, with the checks of recovery, in the memory of one read buffer.

import { codecOf } from '../codec/codec-lookup.js';
import { RecordFormatError, type RecordVisitor } from '../codec/record-codec.js';
import { type Manifest, positionBefore, type SegmentEntry } from '../format/manifest.js';
import { segmentName } from '../format/segment-header.js';
import type { Coroutine } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';
import { WalCorruptError, WalTrimmedError } from '../wal-error.js';
import { firstSegmentAfter, scanSealed } from './scan-log.js';
import type { ScannedBatch } from './scan-segment.js';

/** Visits records [from, to] of a manifest whose segments are all sealed. */
export function* replaySegments(
  storage: Storage,
  manifest: Manifest,
  range: { readonly from: number; readonly to: number },
  visit: RecordVisitor,
): Coroutine<void> {
  if (range.from <= manifest.start.lsn) throw new WalTrimmedError(range.from, manifest.start.lsn + 1);
  for (
    let index = firstSegmentAfter(manifest, range.from - 1);
    index < manifest.segments.length;
    index += 1
  ) {
    const entry = manifest.segments[index] as SegmentEntry; // index is below length
    const before = positionBefore(manifest, index) ?? manifest.start;
    if (before.lsn >= range.to) return;
    yield* scanSealed(storage, manifest, entry, before, (batch) => visitBatch(entry, batch, range, visit));
  }
}

export function visitBatch(
  entry: SegmentEntry,
  batch: ScannedBatch,
  range: { readonly from: number; readonly to: number },
  visit: RecordVisitor,
): void {
  const { firstLsn, count, flags } = batch.header;
  const lastLsn = firstLsn + count - 1;
  if (count === 0 || lastLsn < range.from || firstLsn > range.to) return;
  const whole = firstLsn >= range.from && lastLsn <= range.to;
  const filtered: RecordVisitor = (lsn, payload, type, blob) => {
    if (lsn >= range.from && lsn <= range.to) visit(lsn, payload, type, blob);
  };
  try {
    codecOf(flags).decode(batch.bytes, batch.from, batch.to, firstLsn, count, whole ? visit : filtered);
  } catch (error) {
    if (!(error instanceof RecordFormatError)) throw error;
    const { offset } = batch;
    const reason = `batch ${batch.header.batchSeq} passed its crc, but ${error.message}`;
    throw new WalCorruptError({ file: segmentName(entry.seq), offset, firstLsn: error.lsn, lastLsn, reason });
  }
}
