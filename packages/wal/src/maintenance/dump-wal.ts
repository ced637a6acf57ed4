// The content of a log, record by record, for either codec. Changes nothing. Damage is one of the entries;
// records after it are read as far as possible.

import type { BlobRef } from '../blob/blob-ref.js';
import { codecOf } from '../codec/codec-lookup.js';
import { type Manifest, positionBefore, type SegmentEntry } from '../format/manifest.js';
import { segmentName } from '../format/segment-header.js';
import { SECTION_STATE, snapshotName } from '../format/snapshot-file.js';
import { integer } from '../option-check.js';
import { readManifest } from '../recovery/find-store.js';
import { visitBatch } from '../recovery/replay-segments.js';
import { type ScannedBatch, type SegmentTail, scanSegment } from '../recovery/scan-segment.js';
import { readSnapshot, verifySnapshot } from '../snapshot/snapshot-reader.js';
import { type Coroutine, promiseOf, runCoroutine } from '../storage/coroutine.js';
import { storageOf } from '../storage/node-storage.js';
import type { Storage } from '../storage/storage.js';

export type DumpedEntry =
  | {
      readonly kind: 'record';
      readonly lsn: number;
      readonly type: number;
      readonly segment: string;
      readonly batch: number;
      readonly epoch: number;
      readonly codec: 'binary' | 'jsonl';
      /** Valid only during the visit. */
      readonly payload: Buffer;
      readonly blob?: BlobRef | undefined;
    }
  | {
      /** A chunk of the state after the record `lsn`; those after it follow. */
      readonly kind: 'state';
      readonly lsn: number;
      /** Valid only during the visit. */
      readonly chunk: Buffer;
    }
  | { readonly kind: 'damage'; readonly file: string; readonly offset: number; readonly reason: string };

export interface DumpOptions {
  /** First LSN. Default: the first in the log. */
  readonly from?: number | undefined;
  /** Last LSN. Default: the last in the log. */
  readonly to?: number | undefined;
  /**
   * Begins with the oldest snapshot, and records after it, if the first records of the log are gone. Default
   * false: only records.
   */
  readonly withState?: boolean | undefined;
}

/** Visits every record and every damaged place of a closed log; changes nothing. */
export function dumpWal(
  dir: string | Storage,
  visit: (entry: DumpedEntry) => void,
  options: DumpOptions = {},
): Promise<void> {
  return promiseOf((done) => runCoroutine(dump(storageOf(dir), visit, options), done));
}

export function* dump(
  storage: Storage,
  visit: (entry: DumpedEntry) => void,
  options: DumpOptions = {},
): Coroutine<void> {
  const manifest = yield* readManifest(storage);
  const first = integer('from', options.from ?? 1, 0);
  const to = integer('to', options.to ?? Number.MAX_SAFE_INTEGER, 0);
  const isCut = options.withState === true && manifest.start.lsn > 0;
  const stateLsn = isCut ? yield* dumpState(storage, manifest, visit) : 0;
  const range = { from: Math.max(first, stateLsn + 1), to };
  let position = manifest.start;
  for (const [index, entry] of manifest.segments.entries()) {
    position = positionBefore(manifest, index) ?? position;
    const scan = yield* scanSegment(storage, manifest, entry, position, (batch) => {
      dumpBatch(entry, batch, range, visit);
      return undefined;
    });
    position = scan.position;
    reportDamage(entry, scan.offset, scan.tail, visit);
  }
}

/** Visits the oldest snapshot that can be read. Returns its LSN, 0 if there is none. */
function* dumpState(
  storage: Storage,
  manifest: Manifest,
  visit: (entry: DumpedEntry) => void,
): Coroutine<number> {
  for (const entry of manifest.snapshots.slice().reverse()) {
    const { lsn } = entry;
    const file = snapshotName(lsn);
    const problem = yield* verifySnapshot(storage, manifest.storeId, entry);
    if (problem !== undefined) {
      visit({ kind: 'damage', file, offset: 0, reason: problem });
      continue;
    }
    yield* readSnapshot(storage, file, (section, chunk) => {
      if (section === SECTION_STATE) visit({ kind: 'state', lsn, chunk });
    });
    return lsn;
  }
  return 0;
}

function reportDamage(
  entry: SegmentEntry,
  offset: number,
  tail: SegmentTail,
  visit: (entry: DumpedEntry) => void,
): void {
  const isDamage = tail.kind === 'invalid' || (tail.kind === 'zeros' && entry.sealed !== undefined);
  if (!isDamage) return;
  visit({
    kind: 'damage',
    file: segmentName(entry.seq),
    offset,
    reason: tail.kind === 'invalid' ? tail.reason : 'zeros where batches are listed',
  });
}

function dumpBatch(
  entry: SegmentEntry,
  batch: ScannedBatch,
  range: { readonly from: number; readonly to: number },
  visit: (entry: DumpedEntry) => void,
): void {
  const { batchSeq, epoch, flags } = batch.header;
  const where = { segment: segmentName(entry.seq), batch: batchSeq, epoch, codec: codecOf(flags).name };
  visitBatch(entry, batch, range, (lsn, payload, type, blob) => {
    visit({ kind: 'record', lsn, type, ...where, payload, blob });
  });
}
