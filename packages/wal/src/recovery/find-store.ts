// Checks a directory without changing it, for opening and for verifying.

import { readEpoch } from '../fencing/claim-epoch.js';
import type { Position } from '../format/batch.js';
import { crcSeed, readBatchHeader } from '../format/batch.js';
import { assertReadable } from '../format/format-version.js';
import { decodeManifest, type Manifest, type SegmentEntry, type SnapshotEntry } from '../format/manifest.js';
import type { MarkRecord } from '../format/mark-record.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import {
  decodeSegmentHeader,
  type SegmentHeader,
  segmentName,
  segmentSeqOf,
} from '../format/segment-header.js';
import { decodeStoreIdentity, type StoreIdentity } from '../format/store-identity.js';
import { readMark } from '../mark/mark-file.js';
import { verifySnapshot } from '../snapshot/snapshot-reader.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { readAt, readFile, withOpenFile } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import { WalCorruptError } from '../wal-error.js';
import { firstSegmentAfter, type LogEnd, scanLog } from './scan-log.js';
import type { ScannedBatch } from './scan-segment.js';
import { withSegmentReadBuffer } from './segment-read-buffer.js';
import { type CopyReadOptions, readUnlistedCopy } from './unlisted-batch-copy.js';

export interface FoundStore {
  readonly manifest: Manifest;
  readonly names: readonly string[];
  readonly end: LogEnd;
  readonly snapshot: SnapshotEntry | undefined;
  /** Why the previous snapshot is used instead of the newest, if it is. */
  readonly snapshotFallback: string | undefined;
  readonly mark: MarkRecord;
}

/**
 * Undefined for a directory without a complete log. Throws WalCorruptError for a damaged log. `ownEpoch`:
 * that of the caller, if it has published one.
 */
export function* findStore(
  storage: Storage,
  onBatch: (batch: ScannedBatch, entry: SegmentEntry) => void,
  ownEpoch?: number,
): Coroutine<FoundStore | undefined> {
  yield* call<void>((done) => storage.syncDir('.', done));
  const names = yield* call<string[]>((done) => storage.list('.', done));
  if (!names.includes('CURRENT')) {
    yield* assertNeverCompleted(storage, names);
    return undefined;
  }
  const manifest = yield* readManifest(storage);
  const { epoch } = yield* readEpoch(storage);
  const mark = yield* readMark(storage);
  for (const entry of manifest.segments) yield* checkSegment(storage, manifest, entry);
  const { snapshot, fallback } = yield* chooseSnapshot(storage, manifest);
  const end = yield* scanLog(storage, manifest, firstSegmentAfter(manifest, snapshot?.lsn ?? 0), onBatch);
  const found = yield* withUnlistedCopy(storage, manifest, names, end, {
    onBatch,
    epochMax: ownEpoch === undefined ? epoch : ownEpoch - 1,
  });
  yield* assertNothingNewer(storage, found.manifest, names, found.end.position);
  assertReachesMark(found.manifest, found.end, mark);
  return { ...found, names, snapshot, snapshotFallback: fallback, mark };
}

/** Adds the last batch if an interrupted open had copied it to a segment that is not listed. */
function* withUnlistedCopy(
  storage: Storage,
  manifest: Manifest,
  names: readonly string[],
  end: LogEnd,
  options: CopyReadOptions,
): Coroutine<{ readonly manifest: Manifest; readonly end: LogEnd }> {
  const lastListed = manifest.segments.at(-1)?.seq ?? 0;
  for (const name of names) {
    if ((segmentSeqOf(name) ?? 0) <= lastListed) continue;
    const header = yield* readSegmentHeader(storage, name);
    const copy = header && (yield* readUnlistedCopy(storage, manifest, end, header, options));
    if (copy !== undefined) return copy;
  }
  return { manifest, end };
}

export function* readManifest(storage: Storage): Coroutine<Manifest> {
  const store = yield* readStoreIdentity(storage);
  yield* syncNamed(storage, 'CURRENT');
  const manifest = decodeManifest(yield* readFile(storage, 'CURRENT'));
  if (manifest.storeId !== store.storeId) {
    throw new WalCorruptError({ file: 'CURRENT', offset: 0, reason: 'it belongs to another store' });
  }
  return manifest;
}

export function* readStoreIdentity(storage: Storage): Coroutine<StoreIdentity> {
  yield* syncNamed(storage, 'STORE');
  return decodeStoreIdentity(yield* readFile(storage, 'STORE'));
}

/** Files are synced before they are read: content that is only in the page cache is not durable. */
function* syncNamed(storage: Storage, name: string): Coroutine<void> {
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  if (bytes === undefined)
    throw new WalCorruptError({ file: name, offset: 0, reason: 'the file is missing' });
  yield* withOpenFile(storage, name, (file) => call<void>((done) => storage.sync(file, done)));
}

/** The mark follows the acknowledgements: a log that ends before it has lost acknowledged batches. */
function assertReachesMark(manifest: Manifest, end: LogEnd, mark: MarkRecord): void {
  // By record, since an empty batch at the end may have been dropped by an opening.
  if (end.position.lsn >= mark.lsn) return;
  const [index, reached] = [...end.ends].at(-1) ?? [manifest.segments.length - 1, undefined];
  throw new WalCorruptError({
    file: segmentName(manifest.segments[index]?.seq ?? 0),
    offset: reached?.offset ?? PAGE_BYTES,
    firstLsn: end.position.lsn + 1,
    lastLsn: mark.lsn,
    reason: `the log ends here, but MARK shows that it was durable up to lsn ${mark.lsn}`,
  });
}

/**
 * Without CURRENT there is no log, unless the file was removed. Creating a log writes STORE first and CURRENT
 * last, so a crash in between leaves at most a segment without batches.
 */
export function* assertNeverCompleted(storage: Storage, names: readonly string[]): Coroutine<void> {
  const missing = (reason: string): WalCorruptError =>
    new WalCorruptError({ file: 'CURRENT', offset: 0, reason });
  if (names.some((name) => name.endsWith('.snap')))
    throw missing('the file is missing, but there is a snapshot');
  for (const name of names) {
    if (segmentSeqOf(name) === undefined) continue;
    const last = yield* lastBatchIn(storage, name);
    if (last > 0) throw missing(`the file is missing, but ${name} holds batch ${last}`);
    if (!names.includes('STORE')) throw missing(`the file is missing and so is STORE, but there is ${name}`);
  }
}

function* checkSegment(storage: Storage, manifest: Manifest, entry: SegmentEntry): Coroutine<void> {
  const name = segmentName(entry.seq);
  const firstLsn = manifest.start.lsn + 1;
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  const needed = entry.sealed?.end ?? entry.bytes;
  if (bytes === undefined || bytes < needed) {
    const reason = bytes === undefined ? 'the file is missing' : `${bytes} bytes long, ${needed} are needed`;
    throw new WalCorruptError({
      file: name,
      offset: bytes ?? 0,
      firstLsn,
      lastLsn: entry.sealed?.lsn,
      reason,
    });
  }
  yield* syncNamed(storage, name);
  const header = yield* readSegmentHeader(storage, name);
  if (header !== undefined) assertReadable(name, header.major, 0);
  const asListed =
    header?.storeId === manifest.storeId && header.seq === entry.seq && header.salt === entry.salt;
  if (!asListed || header.bytes !== entry.bytes) {
    throw new WalCorruptError({
      file: name,
      offset: 0,
      firstLsn,
      lastLsn: entry.sealed?.lsn,
      reason: 'the header is not the one listed',
    });
  }
}

export function* readSegmentHeader(storage: Storage, name: string): Coroutine<SegmentHeader | undefined> {
  const page = Buffer.alloc(PAGE_BYTES);
  const count = yield* readAt(storage, name, page, 0);
  return decodeSegmentHeader(page.subarray(0, count));
}

function* chooseSnapshot(
  storage: Storage,
  manifest: Manifest,
): Coroutine<{ snapshot: SnapshotEntry | undefined; fallback: string | undefined }> {
  const [newest, previous] = manifest.snapshots;
  if (newest === undefined) return { snapshot: undefined, fallback: undefined };
  const problem = yield* verifySnapshot(storage, manifest.storeId, newest);
  if (problem === undefined) return { snapshot: newest, fallback: undefined };
  if (previous !== undefined) {
    const older = yield* verifySnapshot(storage, manifest.storeId, previous);
    if (older === undefined && previous.lsn >= manifest.start.lsn)
      return { snapshot: previous, fallback: problem };
  } else if (manifest.start.lsn === 0) {
    return { snapshot: undefined, fallback: problem };
  }
  throw new WalCorruptError({
    file: `snap-${newest.lsn}.snap`,
    offset: 0,
    firstLsn: 1,
    lastLsn: newest.lsn,
    reason: problem,
  });
}

/**
 * Segment numbers only go up, so an unlisted segment below the last listed one was dropped by a manifest. One
 * above it may be empty or contain a copy (of an interrupted open), but no batch newer than the listed log.
 */
function* assertNothingNewer(
  storage: Storage,
  manifest: Manifest,
  names: readonly string[],
  position: Position,
): Coroutine<void> {
  const lastListed = manifest.segments.at(-1)?.seq ?? 0;
  for (const name of names) {
    if ((segmentSeqOf(name) ?? 0) <= lastListed) continue;
    const last = yield* lastBatchIn(storage, name);
    if (last > position.batch) {
      throw new WalCorruptError({
        file: 'CURRENT',
        offset: 0,
        firstLsn: position.lsn + 1,
        reason: `${name} is not listed but holds batch ${last}; the listed log ends at ${position.batch}: CURRENT is older than the data`,
      });
    }
  }
}

/** Highest number of a batch with a valid header in this segment; 0 if there is none. */
function* lastBatchIn(storage: Storage, name: string): Coroutine<number> {
  const segment = yield* readSegmentHeader(storage, name);
  if (segment === undefined) return 0;
  const seed = crcSeed(segment);
  return yield* withSegmentReadBuffer(storage, name, segment.bytes, function* (buffer) {
    let last = 0;
    for (let offset = PAGE_BYTES; offset < segment.bytes; offset += PAGE_BYTES) {
      if (!buffer.has(offset, PAGE_BYTES)) yield* buffer.load(offset, PAGE_BYTES);
      last = Math.max(last, readBatchHeader(buffer.bytes, offset - buffer.start, seed)?.batchSeq ?? 0);
    }
    return last;
  });
}
