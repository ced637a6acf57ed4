// The log as JSON values, one per record, for either codec. Changes nothing. Damage is one of the entries;
// records after it are read as far as possible.

import type { BlobRef } from '../blob/blob-ref.js';
import { codecOf } from '../codec/codec-lookup.js';
import { positionBefore, type SegmentEntry } from '../format/manifest.js';
import { segmentName } from '../format/segment-header.js';
import { integer } from '../option-check.js';
import { readManifest } from '../recovery/find-store.js';
import { visitBatch } from '../recovery/replay-segments.js';
import { type ScannedBatch, type SegmentTail, scanSegment } from '../recovery/scan-segment.js';
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
      /** The payload, if it is JSON text. */
      readonly event?: unknown;
      /** The payload otherwise. */
      readonly base64?: string | undefined;
      readonly blob?: BlobRef | undefined;
    }
  | { readonly kind: 'damage'; readonly file: string; readonly offset: number; readonly reason: string };

export interface DumpOptions {
  /** First LSN. Default: the first in the log. */
  readonly from?: number | undefined;
  /** Last LSN. Default: the last in the log. */
  readonly to?: number | undefined;
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
  const from = integer('from', options.from ?? 1, 0);
  const range = { from, to: integer('to', options.to ?? Number.MAX_SAFE_INTEGER, 0) };
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
    const content = printable(payload);
    visit({ kind: 'record', lsn, type, ...where, ...content, blob });
  });
}

function printable(payload: Buffer): { readonly event: unknown } | { readonly base64: string } {
  try {
    return { event: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) };
  } catch {
    return { base64: payload.toString('base64') }; // Not JSON, or not UTF-8.
  }
}
