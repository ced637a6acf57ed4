// Makes a corrupt directory open again by giving up the records that cannot be read. The lost ranges are
// written into the manifest, and every damaged file is kept in quarantine/.

import { claimFirstEpoch } from '../fencing/claim-epoch.js';
import type { EpochFence } from '../fencing/epoch-fence.js';
import {
  batchExtent,
  closeBatch,
  crcSeed,
  FLAG_LINK,
  FLAG_SEAL,
  ORIGIN,
  type Position,
} from '../format/batch.js';
import type { ContentFormat } from '../format/content-format.js';
import {
  decodeManifest,
  encodeManifest,
  type Loss,
  type Manifest,
  type SegmentEntry,
  type SnapshotEntry,
} from '../format/manifest.js';
import { type MarkRecord, NO_MARK } from '../format/mark-record.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import { decodeStoreIdentity, encodeStoreIdentity, type StoreIdentity } from '../format/store-identity.js';
import { nodeWalHost } from '../host/node-wal-host.js';
import type { WalHost } from '../host/wal-host.js';
import { encodeMarkFile, readMark } from '../mark/mark-file.js';
import { readBatchBody } from '../recovery/scan-segment.js';
import { prepareSegment, randomSalt } from '../segments/prepare-segment.js';
import { verifySnapshot } from '../snapshot/snapshot-reader.js';
import { type Coroutine, call, promiseOf, runCoroutine } from '../storage/coroutine.js';
import { createFile, readFile } from '../storage/file-operations.js';
import { storageOf } from '../storage/node-storage.js';
import type { Storage } from '../storage/storage.js';
import { WalCorruptError, WalOptionError } from '../wal-error.js';
import { lastKnownLsn, type SalvagedBatch, salvageBatches, segmentsByHeader } from './salvage-batches.js';

const SEGMENT_BYTES = 64 * 1024 * 1024;

export interface RepairReport {
  /** Ranges of records that are gone. */
  readonly lost: readonly Loss[];
  readonly recordsKept: number;
  /** Listed segments that are not there. Records that only they held are lost even if no range names them. */
  readonly missing: readonly string[];
  /** Damaged files, of which a copy is kept in quarantine/. */
  readonly quarantined: readonly string[];
  /** False for a dry run: nothing was changed. */
  readonly applied: boolean;
}

export interface RepairOptions {
  /** False: a dry run that reports the loss and changes nothing. */
  readonly acceptLoss: boolean;
  /** Clock, timers and exit. Default: this Node process. */
  readonly host?: WalHost | undefined;
  /** The format of the content, for a log whose STORE cannot be read. Default: none. */
  readonly content?: ContentFormat | undefined;
}

/** Rewrites a damaged log without the records that cannot be read. */
export function repairWal(dir: string | Storage, options: RepairOptions): Promise<RepairReport> {
  return promiseOf((done) => runCoroutine(repair(storageOf(dir), options), done));
}

export function* repair(storage: Storage, options: RepairOptions): Coroutine<RepairReport> {
  yield* call<string | undefined>((done) => storage.lock(done));
  try {
    return yield* repairLocked(storage, options.host ?? nodeWalHost, options);
  } finally {
    yield* call<void>((done) => storage.unlock(done));
  }
}

function* repairLocked(
  storage: Storage,
  host: WalHost,
  { acceptLoss, content }: RepairOptions,
): Coroutine<RepairReport> {
  const names = yield* call<string[]>((done) => storage.list('.', done));
  const fence = acceptLoss ? yield* claimFirstEpoch(storage, host, 0) : undefined;
  try {
    return yield* repairOwned(storage, host, names, { fence, content });
  } finally {
    if (fence !== undefined) yield* call<void>((done) => storage.close(fence.file, done));
  }
}

/** `fence`: undefined for a dry run. */
function* repairOwned(
  storage: Storage,
  host: WalHost,
  names: readonly string[],
  { fence, content }: { readonly fence: EpochFence | undefined; readonly content: ContentFormat | undefined },
): Coroutine<RepairReport> {
  const store = yield* readable(storage, 'STORE', decodeStoreIdentity);
  const old = yield* readOrRebuildManifest(storage, names, store);
  const mark = (yield* readableMark(storage)) ?? NO_MARK;
  const { batches, damagedFiles } = yield* salvageBatches(storage, old.segments);
  const snapshots = yield* usableSnapshots(storage, old);
  const plan = planLosses(old, snapshots, batches, { at: host.wallNow(), mark });
  const recordsKept = batches.reduce((sum, { header }) => sum + header.count, 0);
  const missing = old.segments.map(({ seq }) => segmentName(seq)).filter((name) => !names.includes(name));
  const report = { lost: plan.lost, recordsKept, missing, quarantined: damagedFiles };
  if (fence === undefined) return { ...report, applied: false };

  const epoch = Math.max(fence.epoch, old.epoch + 1);
  for (const name of damagedFiles) yield* copyToQuarantine(storage, name, old.epoch);
  const segments = yield* rewriteBatches(storage, host, {
    old,
    batches,
    start: plan.start,
    lastLsn: plan.lastLsn,
    epoch,
    fence,
    names,
  });
  const manifest: Manifest = {
    storeId: old.storeId,
    epoch,
    start: plan.start,
    segments,
    snapshots,
    losses: [...old.losses, ...plan.lost],
  };
  yield* fence.replaceFile(
    'STORE',
    encodeStoreIdentity({
      storeId: old.storeId,
      createdAt: host.wallNow(),
      content: store === undefined ? content : store.content,
    }),
  );
  yield* fence.replaceFile('MARK', encodeMarkFile(NO_MARK));
  yield* fence.replaceFile('CURRENT', encodeManifest(manifest));
  return { ...report, applied: true };
}

/** CURRENT if it can be read, else a manifest built from the headers of the segments. */
function* readOrRebuildManifest(
  storage: Storage,
  names: readonly string[],
  store: StoreIdentity | undefined,
): Coroutine<Manifest> {
  const { storeId, entries } = yield* segmentsByHeader(storage, names);
  const manifest = yield* readable(storage, 'CURRENT', decodeManifest);
  if (manifest !== undefined) return manifest;
  const known = storeId ?? store?.storeId;
  if (known === undefined)
    throw new WalOptionError('dir', names.join(' '), 'needed a directory with at least one segment');
  // Higher than the epoch of any lost manifest.
  return { storeId: known, epoch: 2 ** 31, start: ORIGIN, segments: entries, snapshots: [], losses: [] };
}

function* readableMark(storage: Storage): Coroutine<MarkRecord | undefined> {
  try {
    return yield* readMark(storage);
  } catch (error) {
    if (error instanceof WalCorruptError) return undefined;
    throw error;
  }
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

/** Gaps between the salvaged batches that no snapshot covers. */
function planLosses(
  old: Manifest,
  snapshots: readonly SnapshotEntry[],
  batches: readonly SalvagedBatch[],
  { at, mark }: { readonly at: number; readonly mark: MarkRecord },
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
  const known = Math.max(lastKnownLsn(old), mark.lsn);
  // The LSNs of lost records are not reused.
  if (known > last) lost.push({ from: last + 1, to: known, at });
  const start = {
    batch: old.start.batch,
    lsn: first === undefined ? startLsn : Math.min(startLsn, first - 1),
    crc: 0,
  };
  return { lost, start, lastLsn: Math.max(last, known) };
}

interface RewriteInput {
  readonly old: Manifest;
  readonly batches: readonly SalvagedBatch[];
  readonly start: Position;
  readonly lastLsn: number;
  readonly epoch: number;
  readonly fence: EpochFence;
  readonly names: readonly string[];
}

/** Writes the salvaged batches into new segments with a new chain. */
function* rewriteBatches(storage: Storage, host: WalHost, input: RewriteInput): Coroutine<SegmentEntry[]> {
  const { old, lastLsn, epoch } = input;
  const segments: SegmentEntry[] = [];
  let seq = input.names.reduce((last, name) => Math.max(last, segmentSeqOf(name) ?? 0), 0);
  let position = input.start;
  for (const group of groupBySegment(input.batches, lastLsn)) {
    seq += 1;
    const bytes = group.reduce((sum, { bodyLen }) => sum + batchExtent(bodyLen), PAGE_BYTES);
    const entry = { seq, bytes, salt: randomSalt(host) };
    const content: Buffer[] = [];
    for (const planned of group) {
      const batch =
        planned.source === undefined
          ? Buffer.alloc(PAGE_BYTES)
          : yield* readBatchBody(storage, planned.source);
      const flags = planned.flags | (content.length === 0 ? FLAG_LINK : 0);
      const { firstLsn, count, bodyLen } = planned;
      position = closeBatch(batch, bodyLen, { position, firstLsn, count, epoch, flags }, crcSeed(entry));
      content.push(batch);
    }
    yield* prepareSegment(storage, old.storeId, entry, {
      batches: Buffer.concat(content),
      fence: input.fence,
    });
    const { batch, lsn, crc } = position;
    segments.push({ ...entry, sealed: { end: bytes, batch, lsn, crc } });
  }
  return segments;
}

interface PlannedBatch {
  /** Undefined for the empty batch at the end. */
  readonly source: SalvagedBatch | undefined;
  readonly firstLsn: number;
  readonly count: number;
  readonly bodyLen: number;
  readonly flags: number;
}

/** Groups the batches by new segment. A last, empty batch keeps the LSNs of lost records unused. */
function groupBySegment(batches: readonly SalvagedBatch[], lastLsn: number): PlannedBatch[][] {
  const plan: PlannedBatch[] = batches.map((batch) => {
    const { firstLsn, count, bodyLen, flags } = batch.header;
    return { source: batch, firstLsn, count, bodyLen, flags: flags & ~(FLAG_SEAL | FLAG_LINK) };
  });
  const last = plan.at(-1);
  if (last === undefined || last.firstLsn + last.count - 1 < lastLsn) {
    plan.push({ source: undefined, firstLsn: lastLsn + 1, count: 0, bodyLen: 0, flags: FLAG_SEAL });
  }
  const groups: PlannedBatch[][] = [];
  let room = 0;
  for (const planned of plan) {
    const extent = batchExtent(planned.bodyLen);
    if (groups.length === 0 || extent > room) {
      groups.push([]);
      room = SEGMENT_BYTES;
    }
    groups.at(-1)?.push(planned);
    room -= extent;
  }
  return groups;
}

function* copyToQuarantine(storage: Storage, name: string, epoch: number): Coroutine<void> {
  yield* call<void>((done) => storage.mkdir('quarantine', done));
  yield* createFile(storage, `quarantine/${name}.repaired-epoch-${epoch}`, yield* readFile(storage, name));
  yield* call<void>((done) => storage.syncDir('quarantine', done));
}
