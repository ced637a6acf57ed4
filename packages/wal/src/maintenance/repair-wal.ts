// Makes a refused directory open again, by giving up what cannot be read: explicitly, with the lost range written into the manifest,
// and with every damaged file kept in quarantine/.

import {
  batchExtent,
  closeBatch,
  crcSeed,
  FLAG_LINK,
  FLAG_SEAL,
  ORIGIN,
  type Position,
} from '../format/batch.js';
import {
  decodeManifest,
  encodeManifest,
  type Loss,
  type Manifest,
  type SegmentEntry,
  type SnapshotEntry,
} from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page.js';
import { segmentSeqOf } from '../format/segment-header.js';
import { decodeStoreFile, encodeStoreFile } from '../format/store-file.js';
import type { WalHost } from '../host/host.js';
import { nodeHost } from '../host/node-host.js';
import { prepareSegment } from '../segments/prepare-segment.js';
import { verifySnapshot } from '../snapshot/snapshot-reader.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import { createFile, readFile, replaceFile } from '../storage/file-operations.js';
import { nodeStorage } from '../storage/node-storage.js';
import type { Storage } from '../storage/storage.js';
import { WalCorruptError, WalOptionError } from '../wal-error.js';
import {
  lastKnownLsn,
  readSalvaged,
  type SalvagedBatch,
  salvageBatches,
  segmentsByHeader,
} from './salvage-batches.js';

const SEGMENT_BYTES = 64 * 1024 * 1024;

export interface RepairReport {
  /** Ranges of records that are gone. */
  readonly lost: readonly Loss[];
  readonly recordsKept: number;
  /** Copies in quarantine/ of files that held bytes nobody can vouch for. */
  readonly quarantined: readonly string[];
  /** False for a rehearsal: nothing was changed. */
  readonly applied: boolean;
}

export interface RepairOptions {
  /** Without it nothing is changed, and the report says what would be lost. */
  readonly acceptLoss: boolean;
  readonly host?: WalHost;
}

export function repairWal(dir: string | Storage, options: RepairOptions): Promise<RepairReport> {
  const storage = typeof dir === 'string' ? nodeStorage(dir) : dir;
  return new Promise((resolve, reject) => {
    runCoroutine(repair(storage, options), (error, report) =>
      error === null ? resolve(report) : reject(error),
    );
  });
}

export function* repair(storage: Storage, options: RepairOptions): Coroutine<RepairReport> {
  yield* call<void>((done) => storage.lock(done));
  try {
    return yield* repairLocked(storage, options.host ?? nodeHost, options.acceptLoss);
  } finally {
    yield* call<void>((done) => storage.unlock(done));
  }
}

function* repairLocked(storage: Storage, host: WalHost, acceptLoss: boolean): Coroutine<RepairReport> {
  const names = yield* call<string[]>((done) => storage.list('.', done));
  const old = yield* readOrRebuildManifest(storage, names);
  const { batches, damagedFiles } = yield* salvageBatches(storage, old.segments);
  const snapshots = yield* usableSnapshots(storage, old);
  const plan = planLosses(old, snapshots, batches, host.wallNow());
  const recordsKept = batches.reduce((sum, { header }) => sum + header.count, 0);
  const report = { lost: plan.lost, recordsKept, quarantined: damagedFiles };
  if (!acceptLoss) return { ...report, applied: false };

  for (const name of damagedFiles) yield* copyToQuarantine(storage, name, old.epoch);
  const segments = yield* rewrite(storage, host, {
    old,
    batches,
    start: plan.start,
    lastLsn: plan.lastLsn,
    names,
  });
  const manifest: Manifest = {
    storeId: old.storeId,
    epoch: old.epoch + 1,
    start: plan.start,
    segments,
    snapshots,
    losses: [...old.losses, ...plan.lost],
  };
  yield* replaceFile(storage, 'STORE', encodeStoreFile(old.storeId, host.wallNow()));
  yield* replaceFile(storage, 'CURRENT', encodeManifest(manifest));
  return { ...report, applied: true };
}

/** CURRENT if it can be read, else what the files themselves tell. */
function* readOrRebuildManifest(storage: Storage, names: readonly string[]): Coroutine<Manifest> {
  const { storeId, entries } = yield* segmentsByHeader(storage, names);
  const store = yield* readable(storage, 'STORE', decodeStoreFile);
  const manifest = yield* readable(storage, 'CURRENT', decodeManifest);
  if (manifest !== undefined) return manifest;
  const known = storeId ?? store?.storeId;
  if (known === undefined)
    throw new WalOptionError('dir', names.join(' '), 'a directory that holds at least one segment');
  // An epoch that no lost manifest can have had.
  return { storeId: known, epoch: 2 ** 31, start: ORIGIN, segments: entries, snapshots: [], losses: [] };
}

function* readable<T>(
  storage: Storage,
  name: string,
  decode: (bytes: Buffer) => T,
): Coroutine<T | undefined> {
  try {
    return decode(yield* readFile(storage, name));
  } catch (error) {
    if (error instanceof WalCorruptError) return undefined;
    throw error;
  }
}

function* usableSnapshots(storage: Storage, manifest: Manifest): Coroutine<SnapshotEntry[]> {
  const usable: SnapshotEntry[] = [];
  for (const entry of manifest.snapshots) {
    if ((yield* verifySnapshot(storage, manifest.storeId, entry)) === undefined) usable.push(entry);
  }
  return usable;
}

interface LossPlan {
  readonly lost: Loss[];
  readonly start: Position;
  readonly lastLsn: number;
}

/** Gaps between what was salvaged, as far as no snapshot covers them. */
function planLosses(
  old: Manifest,
  snapshots: readonly SnapshotEntry[],
  batches: readonly SalvagedBatch[],
  at: number,
): LossPlan {
  const lost: Loss[] = [];
  const covered = snapshots[0]?.lsn ?? 0;
  const first = batches[0]?.header.firstLsn;
  const startLsn = Math.max(old.start.lsn, 0);
  let last = first === undefined ? startLsn : Math.min(startLsn, first - 1);
  if (covered < last) lost.push({ from: covered + 1, to: last, at });
  for (const { header } of batches) {
    if (header.firstLsn > last + 1) lost.push({ from: last + 1, to: header.firstLsn - 1, at });
    last = header.firstLsn + header.count - 1;
  }
  const known = lastKnownLsn(old);
  // The numbers of lost records are not used again.
  if (known > last) lost.push({ from: last + 1, to: known, at });
  const start = {
    batch: old.start.batch,
    lsn: first === undefined ? startLsn : Math.min(startLsn, first - 1),
    crc: 0,
  };
  return { lost, start, lastLsn: Math.max(last, known) };
}

interface Rewrite {
  readonly old: Manifest;
  readonly batches: readonly SalvagedBatch[];
  readonly start: Position;
  readonly lastLsn: number;
  readonly names: readonly string[];
}

/** The salvaged batches in new segments, with a new chain. */
function* rewrite(storage: Storage, host: WalHost, work: Rewrite): Coroutine<SegmentEntry[]> {
  const { old, lastLsn } = work;
  const segments: SegmentEntry[] = [];
  let seq = work.names.reduce((last, name) => Math.max(last, segmentSeqOf(name) ?? 0), 0);
  let position = work.start;
  for (const group of groupBySegment(work.batches, lastLsn)) {
    seq += 1;
    const bytes = group.reduce((sum, piece) => sum + batchExtent(piece.bodyLen), PAGE_BYTES);
    const entry = { seq, bytes, salt: Math.floor(host.random() * 2 ** 32) };
    const content: Buffer[] = [];
    for (const piece of group) {
      const batch =
        piece.batch === undefined ? Buffer.alloc(PAGE_BYTES) : yield* readSalvaged(storage, piece.batch);
      const flags = piece.flags | (content.length === 0 ? FLAG_LINK : 0);
      const { firstLsn, count, bodyLen } = piece;
      position = closeBatch(
        batch,
        bodyLen,
        { position, firstLsn, count, epoch: old.epoch + 1, flags },
        crcSeed(entry),
      );
      content.push(batch);
    }
    yield* prepareSegment(storage, old.storeId, entry, { batches: Buffer.concat(content) });
    const { batch, lsn, crc } = position;
    segments.push({ ...entry, sealed: { end: bytes, batch, lsn, crc } });
  }
  return segments;
}

interface RewrittenBatch {
  readonly batch: SalvagedBatch | undefined;
  readonly firstLsn: number;
  readonly count: number;
  readonly bodyLen: number;
  readonly flags: number;
}

/** Batches that go into one segment each; an empty one ends them if the last records are lost, so that their numbers stay unused. */
function groupBySegment(batches: readonly SalvagedBatch[], lastLsn: number): RewrittenBatch[][] {
  const pieces: RewrittenBatch[] = batches.map((batch) => {
    const { firstLsn, count, bodyLen, flags } = batch.header;
    return { batch, firstLsn, count, bodyLen, flags: flags & ~(FLAG_SEAL | FLAG_LINK) };
  });
  const last = pieces.at(-1);
  if (last === undefined || last.firstLsn + last.count - 1 < lastLsn) {
    pieces.push({ batch: undefined, firstLsn: lastLsn + 1, count: 0, bodyLen: 0, flags: FLAG_SEAL });
  }
  const groups: RewrittenBatch[][] = [];
  let room = 0;
  for (const piece of pieces) {
    const extent = batchExtent(piece.bodyLen);
    if (groups.length === 0 || extent > room) {
      groups.push([]);
      room = SEGMENT_BYTES;
    }
    groups.at(-1)?.push(piece);
    room -= extent;
  }
  return groups;
}

function* copyToQuarantine(storage: Storage, name: string, epoch: number): Coroutine<void> {
  yield* call<void>((done) => storage.mkdir('quarantine', done));
  yield* createFile(storage, `quarantine/${name}.repaired-epoch-${epoch}`, yield* readFile(storage, name));
  yield* call<void>((done) => storage.syncDir('quarantine', done));
}
