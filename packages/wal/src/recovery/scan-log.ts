// Reads the listed segments in order and decides where the log ends, by the table in docs/wal-format.md.

import type { BatchHeader, Position } from '../format/batch.js';
import { type Manifest, positionBefore, type SegmentEntry } from '../format/manifest.js';
import { isZero, PAGE_BYTES } from '../format/page-padding.js';
import { segmentName } from '../format/segment-header.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { withOpenFile } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalCorruptError } from '../wal-error.js';
import { type BatchVisitor, type ScannedBatch, type SegmentScan, scanSegment } from './scan-segment.js';

/** A batch that was being written when the process died. See docs/wal-format.md for the limits of this. */
export interface TornTail {
  readonly file: string;
  readonly offset: number;
  readonly end: number;
  readonly reason: string;
}

export interface LogEnd {
  readonly position: Position;
  /** End of each scanned segment, by index in the manifest. */
  readonly ends: ReadonlyMap<number, { readonly offset: number; readonly position: Position }>;
  /** The last batch of the log and its segment; undefined if no batch was scanned. */
  readonly lastBatch:
    | {
        readonly index: number;
        readonly offset: number;
        readonly before: Position;
        readonly header: BatchHeader;
      }
    | undefined;
  readonly torn: TornTail | undefined;
}

/** Index of the first segment that can contain a record after `lsn`. */
export function firstSegmentAfter(manifest: Manifest, lsn: number): number {
  const index = manifest.segments.findIndex((entry) => entry.sealed === undefined || entry.sealed.lsn > lsn);
  return index < 0 ? manifest.segments.length : index;
}

export function* scanLog(
  storage: Storage,
  manifest: Manifest,
  fromIndex: number,
  onBatch: (batch: ScannedBatch, entry: SegmentEntry) => void,
): Coroutine<LogEnd> {
  const ends = new Map<number, { offset: number; position: Position }>();
  let position = positionBefore(manifest, fromIndex) ?? manifest.start;
  let lastBatch: LogEnd['lastBatch'];

  for (let index = fromIndex; index < manifest.segments.length; index += 1) {
    const entry = manifest.segments[index] as SegmentEntry; // index is below length
    const scan = yield* scanSegment(storage, manifest, entry, position, (batch) => {
      onBatch(batch, entry);
      return undefined;
    });
    position = scan.position;
    ends.set(index, { offset: scan.offset, position });
    if (scan.lastBatch !== undefined) lastBatch = { index, ...scan.lastBatch };
    if (entry.sealed !== undefined) {
      assertSealed(entry, scan);
      continue;
    }
    const later = yield* laterWriteIn(storage, manifest, index + 1);
    if (scan.tail.kind === 'invalid') {
      assertTorn(manifest, entry, scan, later);
      const torn = {
        file: segmentName(entry.seq),
        offset: scan.offset,
        end: scan.tail.end,
        reason: scan.tail.reason,
      };
      return { position, ends, lastBatch, torn };
    }
    if (later === undefined) break;
  }
  if (manifest.clean !== undefined && manifest.clean.batch !== position.batch) {
    throw new WalCorruptError({
      file: 'CURRENT',
      offset: 0,
      firstLsn: position.lsn + 1,
      lastLsn: manifest.clean.lsn,
      reason: `a clean shutdown was recorded after batch ${manifest.clean.batch}, the log ends at ${position.batch}`,
    });
  }
  return { position, ends, lastBatch, torn: undefined };
}

/** Scans a segment with a known end: every batch up to it must be valid. */
export function* scanSealed(
  storage: Storage,
  manifest: Manifest,
  entry: SegmentEntry,
  before: Position,
  onBatch: BatchVisitor,
): Coroutine<void> {
  assertSealed(entry, yield* scanSegment(storage, manifest, entry, before, onBatch));
}

function assertSealed(entry: SegmentEntry, scan: SegmentScan): void {
  const sealed = entry.sealed;
  if (sealed === undefined) return;
  const { position, tail } = scan;
  const reached =
    scan.offset === sealed.end && position.batch === sealed.batch && position.crc === sealed.crc;
  if (reached && position.lsn === sealed.lsn) return;
  throw new WalCorruptError({
    file: segmentName(entry.seq),
    offset: scan.offset,
    firstLsn: position.lsn + 1,
    lastLsn: sealed.lsn,
    reason: tail.kind === 'invalid' ? tail.reason : `the manifest lists batches up to byte ${sealed.end}`,
  });
}

function assertTorn(
  manifest: Manifest,
  entry: SegmentEntry,
  scan: SegmentScan,
  later: string | undefined,
): void {
  if (scan.tail.kind !== 'invalid') return;
  const clean = manifest.clean === undefined ? undefined : 'the shutdown was clean';
  const proof = later ?? scan.tail.evidence ?? clean;
  if (proof === undefined) return;
  throw new WalCorruptError({
    file: segmentName(entry.seq),
    offset: scan.offset,
    firstLsn: scan.position.lsn + 1,
    lastLsn: scan.tail.lastLsn,
    reason: `${scan.tail.reason}, and it was durable once: ${proof}`,
  });
}

/** Describes the first listed segment from `index` on that has a nonzero byte after its header. */
function* laterWriteIn(storage: Storage, manifest: Manifest, index: number): Coroutine<string | undefined> {
  for (const entry of manifest.segments.slice(index)) {
    const name = segmentName(entry.seq);
    const isUnwritten = yield* withOpenFile(storage, name, (file) => isZeroFile(storage, file, entry.bytes));
    if (!isUnwritten) return `${name} was written to`;
  }
  return undefined;
}

function* isZeroFile(storage: Storage, file: StorageFile, bytes: number): Coroutine<boolean> {
  const chunk = Buffer.allocUnsafe(Math.min(bytes, 1024 * 1024));
  for (let offset = PAGE_BYTES; offset < bytes; offset += chunk.length) {
    const into = chunk.subarray(0, Math.min(chunk.length, bytes - offset));
    const count = yield* call<number>((done) => storage.read(file, into, offset, done));
    if (!isZero(into, 0, count)) return false;
  }
  return true;
}
