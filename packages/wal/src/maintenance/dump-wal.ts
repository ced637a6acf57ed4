// The log as values that can be printed as JSON, one a record, whichever codec wrote them. Changes nothing, and goes on as far as
// it can: damage is one of the things it shows.

import { codecOf } from '../format/codecs.js';
import { positionBefore, type SegmentEntry } from '../format/manifest.js';
import { segmentName } from '../format/segment-header.js';
import { readManifest } from '../recovery/check-store.js';
import { visitBatch } from '../recovery/replay.js';
import { type ScannedBatch, scanSegment } from '../recovery/segment-scan.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import { nodeStorage } from '../storage/node-storage.js';
import type { Storage, StorageFile } from '../storage/storage.js';

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
      readonly base64?: string;
      readonly blob?: { readonly sha256: string; readonly bytes: number };
    }
  | { readonly kind: 'damage'; readonly file: string; readonly offset: number; readonly reason: string };

export interface DumpOptions {
  readonly from?: number;
  readonly to?: number;
}

export function dumpWal(
  dir: string | Storage,
  visit: (entry: DumpedEntry) => void,
  options: DumpOptions = {},
): Promise<void> {
  const storage = typeof dir === 'string' ? nodeStorage(dir) : dir;
  return new Promise((resolve, reject) => {
    runCoroutine(dump(storage, visit, options), (error) => (error === null ? resolve() : reject(error)));
  });
}

export function* dump(
  storage: Storage,
  visit: (entry: DumpedEntry) => void,
  options: DumpOptions = {},
): Coroutine<void> {
  const manifest = yield* readManifest(storage);
  const range = { from: options.from ?? 1, to: options.to ?? Number.MAX_SAFE_INTEGER };
  let position = manifest.start;
  for (const [index, entry] of manifest.segments.entries()) {
    position = positionBefore(manifest, index) ?? position;
    const file = yield* call<StorageFile>((done) => storage.open(segmentName(entry.seq), 'read', done));
    try {
      const rules = { losses: manifest.losses, epochMax: manifest.epoch };
      const onBatch = (batch: ScannedBatch): void => dumpBatch(entry, batch, range, visit);
      const scan = yield* scanSegment(storage, file, entry, position, rules, onBatch);
      position = scan.position;
      reportDamage(entry, scan.offset, scan.tail, visit);
    } finally {
      yield* call<void>((done) => storage.close(file, done));
    }
  }
}

function reportDamage(
  entry: SegmentEntry,
  offset: number,
  rest: { readonly kind: string; readonly reason?: string },
  visit: (entry: DumpedEntry) => void,
): void {
  const isBad = rest.kind === 'bad' || (rest.kind === 'zeros' && entry.sealed !== undefined);
  if (!isBad) return;
  visit({
    kind: 'damage',
    file: segmentName(entry.seq),
    offset,
    reason: rest.reason ?? 'zeros where batches are listed',
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
    visit({ kind: 'record', lsn, type, ...where, ...content, ...(blob === undefined ? {} : { blob }) });
  });
}

function printable(payload: Buffer): { readonly event: unknown } | { readonly base64: string } {
  try {
    return { event: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload)) };
  } catch {
    return { base64: payload.toString('base64') }; // Not JSON, or not UTF-8.
  }
}
