// Reads durable records batch by batch, with the checks of recovery, in the memory of one read buffer.

import { codecOf } from '../codec/codec-lookup.js';
import { RecordFormatError, type RecordVisitor } from '../codec/record-codec.js';
import { type Manifest, positionBefore, type SegmentEntry } from '../format/manifest.js';
import { segmentName } from '../format/segment-header.js';
import { type Call, type Coroutine, call } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';
import { WalCorruptError, WalTrimmedError } from '../wal-error.js';
import { firstSegmentAfter, scanSealed } from './scan-log.js';
import type { ScannedBatch } from './scan-segment.js';

/** Bytes of records that are visited before the event loop has a turn. */
const SLICE_BYTES = 256 * 1024;

interface LsnRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Visits records [from, to] of a manifest whose segments are all sealed. `pause` gives the event loop a turn,
 * between slices of a bounded size; without it a batch is one slice.
 */
export function* replaySegments(
  storage: Storage,
  manifest: Manifest,
  range: LsnRange,
  visit: RecordVisitor,
  pause?: Call<void>,
): Coroutine<void> {
  if (range.from <= manifest.start.lsn) throw new WalTrimmedError(range.from, manifest.start.lsn + 1);
  const slices = pause === undefined ? undefined : { pause, bytes: 0 };
  for (
    let index = firstSegmentAfter(manifest, range.from - 1);
    index < manifest.segments.length;
    index += 1
  ) {
    const entry = manifest.segments[index] as SegmentEntry; // index is below length
    const before = positionBefore(manifest, index) ?? manifest.start;
    if (before.lsn >= range.to) return;
    yield* scanSealed(storage, manifest, entry, before, (batch) => {
      if (slices !== undefined) return visitInSlices(entry, batch, range, visit, slices);
      visitBatch(entry, batch, range, visit);
      return undefined;
    });
  }
}

export function visitBatch(
  entry: SegmentEntry,
  batch: ScannedBatch,
  range: LsnRange,
  visit: RecordVisitor,
): void {
  const records = recordsOf(entry, batch, range, visit);
  records.visitNext(batch.header.count);
  records.assertEnd();
}

/** The slice that is being visited, of one batch or of several. */
interface ReplaySlice {
  readonly pause: Call<void>;
  bytes: number;
}

function* visitInSlices(
  entry: SegmentEntry,
  batch: ScannedBatch,
  range: LsnRange,
  visit: RecordVisitor,
  slice: ReplaySlice,
): Coroutine<void> {
  const records = recordsOf(entry, batch, range, visit);
  const { count } = batch.header;
  const recordBytes = (batch.to - batch.from) / Math.max(1, count);
  const step = Math.max(1, Math.floor(SLICE_BYTES / recordBytes));
  for (let visited = 0; visited < count; visited += step) {
    const next = Math.min(step, count - visited);
    if (slice.bytes > 0 && slice.bytes + next * recordBytes > SLICE_BYTES) {
      yield* call(slice.pause);
      slice.bytes = 0;
    }
    records.visitNext(next);
    slice.bytes += next * recordBytes;
  }
  records.assertEnd();
}

interface BatchRecords {
  visitNext(count: number): void;
  /** Nothing stands behind the last record. */
  assertEnd(): void;
}

function recordsOf(
  entry: SegmentEntry,
  batch: ScannedBatch,
  range: LsnRange,
  visit: RecordVisitor,
): BatchRecords {
  const { firstLsn, count, flags, batchSeq } = batch.header;
  const lastLsn = firstLsn + count - 1;
  const isWanted = count > 0 && lastLsn >= range.from && firstLsn <= range.to;
  const isWhole = firstLsn >= range.from && lastLsn <= range.to;
  const filtered: RecordVisitor = (lsn, payload, type, blob) => {
    if (lsn >= range.from && lsn <= range.to) visit(lsn, payload, type, blob);
  };
  let at = batch.from;
  let lsn = firstLsn;
  const corrupt = (badLsn: number, problem: string): WalCorruptError => {
    const reason = `batch ${batchSeq} passed its crc, but ${problem}`;
    return new WalCorruptError({
      file: segmentName(entry.seq),
      offset: batch.offset,
      firstLsn: badLsn,
      lastLsn,
      reason,
    });
  };
  return {
    visitNext(records) {
      if (!isWanted) return;
      try {
        at = codecOf(flags).decode(batch.bytes, at, batch.to, lsn, records, isWhole ? visit : filtered);
      } catch (error) {
        if (!(error instanceof RecordFormatError)) throw error;
        throw corrupt(error.lsn, error.message);
      }
      lsn += records;
    },
    assertEnd() {
      if (isWanted && at !== batch.to) throw corrupt(lsn, 'bytes stand after the last record');
    },
  };
}
