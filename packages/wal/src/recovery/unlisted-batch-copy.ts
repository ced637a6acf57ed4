// An open copies the last batch into a new segment before it lists that segment in CURRENT
// (docs/wal-format.md, step 6). If the open is interrupted there, and the batch itself was in the page cache
// only, the copy is all that is left of it.

import { FLAG_LINK } from '../format/batch.js';
import type { Manifest, SegmentEntry } from '../format/manifest.js';
import type { SegmentHeader } from '../format/segment-header.js';
import type { Coroutine } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';
import type { LogEnd } from './scan-log.js';
import { type ScannedBatch, scanSegment } from './scan-segment.js';
import { sealSegments } from './seal-segments.js';

export interface CopyReadOptions {
  readonly onBatch: (batch: ScannedBatch, entry: SegmentEntry) => void;
  /** The last epoch of an interrupted opening. */
  readonly epochMax: number;
}

export interface UnlistedCopy {
  /** The manifest that the interrupted open would have published. */
  readonly manifest: Manifest;
  readonly end: LogEnd;
}

/** Undefined if the segment is anything other than the copy of an interrupted open. */
export function* readUnlistedCopy(
  storage: Storage,
  manifest: Manifest,
  end: LogEnd,
  header: SegmentHeader,
  { onBatch, epochMax }: CopyReadOptions,
): Coroutine<UnlistedCopy | undefined> {
  if (header.storeId !== manifest.storeId || manifest.clean !== undefined) return undefined;
  const { seq, bytes, salt } = header;
  const entry = { seq, bytes, salt };
  const listed = { ...manifestWith(manifest, end, entry), epoch: epochMax };
  const scan = yield* scanSegment(storage, listed, entry, end.position, () => undefined);
  const last = scan.lastBatch;
  const isCopy =
    last !== undefined &&
    scan.position.batch === end.position.batch + 1 &&
    last.header.epoch > manifest.epoch &&
    (last.header.flags & FLAG_LINK) !== 0 &&
    scan.tail.kind !== 'invalid';
  if (!isCopy) return undefined;
  yield* scanSegment(storage, listed, entry, end.position, (batch) => {
    onBatch(batch, entry);
    return undefined;
  });
  const index = listed.segments.length - 1;
  const { position, offset } = scan;
  const ends = new Map([[index, { offset, position }]]);
  const published = { ...listed, epoch: last.header.epoch };
  return { manifest: published, end: { position, ends, lastBatch: { index, ...last }, torn: undefined } };
}

function manifestWith(manifest: Manifest, end: LogEnd, entry: SegmentEntry): Manifest {
  const sealed = sealSegments(manifest, end, undefined);
  const { batch, lsn, crc } = sealed.length === 0 ? end.position : manifest.start;
  return { ...manifest, start: { batch, lsn, crc }, segments: [...sealed, entry] };
}
