// Recovers a directory for a new process, or creates it: publishes the epoch, and only then reads the log. A
// crash after any step is safe: the log stays as it was until CURRENT is replaced, and no file is removed
// before that.

import { claimEpoch, claimFirstEpoch } from '../fencing/claim-epoch.js';
import type { EpochFence } from '../fencing/epoch-fence.js';
import { closeBatch, crcSeed, FLAG_LINK, ORIGIN, type Position } from '../format/batch.js';
import { assertContentReadable, type ContentFormat, raisedContent } from '../format/content-format.js';
import { encodeManifest, type Manifest, type SegmentEntry } from '../format/manifest.js';
import { type MarkRecord, NO_MARK } from '../format/mark-record.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import { encodeStoreIdentity } from '../format/store-identity.js';
import type { WalHost } from '../host/wal-host.js';
import { encodeMarkFile, type OpenMark } from '../mark/mark-file.js';
import { prepareSegment, randomSalt } from '../segments/prepare-segment.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { createFile, readAt, removeIfThere } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalFencedError, WalLockedError } from '../wal-error.js';
import {
  assertNeverCompleted,
  type FoundStore,
  findStore,
  readManifest,
  readStoreIdentity,
} from './find-store.js';
import type { LogEnd, TornTail } from './scan-log.js';
import { readBatchBody, type ScannedBatch } from './scan-segment.js';
import { sealSegments } from './seal-segments.js';

export interface OpenStoreOptions {
  /** Size of the first segment of this process. */
  readonly segmentBytes: number;
  /** The format of the content that this process reads and writes. */
  readonly content: ContentFormat | undefined;
  readonly onBatch: (batch: ScannedBatch, entry: SegmentEntry) => void;
}

export interface OpenedStore {
  readonly manifest: Manifest;
  readonly position: Position;
  readonly active: { readonly entry: SegmentEntry; readonly file: StorageFile; readonly offset: number };
  readonly torn: TornTail | undefined;
  /** Why the previous snapshot is used instead of the newest, if it is. */
  readonly snapshotFallback: string | undefined;
  readonly fence: EpochFence;
  readonly mark: OpenMark;
}

export function* openStore(
  storage: Storage,
  host: WalHost,
  options: OpenStoreOptions,
): Coroutine<OpenedStore> {
  const fence = yield* claim(storage, host, options.content);
  try {
    const found = yield* findStore(storage, options.onBatch, fence.epoch);
    if (found === undefined) return yield* createStore(storage, host, fence, options);
    if (found.manifest.epoch >= fence.epoch)
      throw new WalLockedError('a process that started at the same moment');
    return yield* recoverStore(storage, host, fence, found, options);
  } catch (error) {
    // A later opening changes the files that this one reads: its presence is the reason, not the damage seen.
    const fenced = fence.problem();
    yield* call<void>((done) => storage.close(fence.file, done));
    throw fenced instanceof WalFencedError ? fenced : error;
  }
}

/** The versions of the log and of its content are checked before the first change. */
function* claim(storage: Storage, host: WalHost, content: ContentFormat | undefined): Coroutine<EpochFence> {
  const names = yield* call<string[]>((done) => storage.list('.', done));
  if (names.includes('CURRENT')) {
    const { epoch } = yield* readManifest(storage);
    assertContentReadable((yield* readStoreIdentity(storage)).content, content);
    return yield* claimEpoch(storage, host, epoch);
  }
  try {
    yield* assertNeverCompleted(storage, names);
  } catch (error) {
    const bytes = yield* call<number | undefined>((done) => storage.size('CURRENT', done));
    if (bytes === undefined) throw error;
    // Not missing: another process has made the log since the names were read.
    return yield* claim(storage, host, content);
  }
  return yield* claimFirstEpoch(storage, host, 0);
}

function* createStore(
  storage: Storage,
  host: WalHost,
  fence: EpochFence,
  { segmentBytes, content }: OpenStoreOptions,
): Coroutine<OpenedStore> {
  const names = yield* call<string[]>((done) => storage.list('.', done));
  const storeId = Buffer.from(Array.from({ length: 16 }, () => Math.floor(host.random() * 256))).toString(
    'hex',
  );
  yield* fence.replaceFile('STORE', encodeStoreIdentity({ storeId, createdAt: host.wallNow(), content }));
  for (const directory of ['blobs', 'quarantine']) {
    yield* call<void>((done) => storage.mkdir(directory, done));
  }
  yield* call<void>((done) => storage.syncDir('.', done));
  const entry = { seq: nextSeq([], names), bytes: segmentBytes, salt: randomSalt(host) };
  yield* prepareSegment(storage, storeId, entry, { fence });
  yield* fence.replaceFile('MARK', encodeMarkFile(NO_MARK));
  const manifest = {
    storeId,
    epoch: fence.epoch,
    start: ORIGIN,
    segments: [entry],
    snapshots: [],
    losses: [],
  };
  const at = { names, position: ORIGIN, offset: PAGE_BYTES, mark: NO_MARK };
  return yield* publishAndClean(storage, fence, manifest, at);
}

function* recoverStore(
  storage: Storage,
  host: WalHost,
  fence: EpochFence,
  found: FoundStore,
  { segmentBytes, content }: OpenStoreOptions,
): Coroutine<OpenedStore> {
  const { manifest: old, end } = found;
  if (end.torn !== undefined) yield* quarantine(storage, old.epoch, end.torn);
  const unsynced = yield* readPossiblyUnsyncedBatch(storage, old, end);
  const position = unsynced === undefined ? end.position : unsynced.before;
  const sealed = sealSegments(old, end, unsynced);

  const bytes = Math.max(segmentBytes, PAGE_BYTES + (unsynced?.bytes.length ?? 0));
  const entry = { seq: nextSeq(old.segments, found.names), bytes, salt: randomSalt(host) };
  const { epoch } = fence;
  const first = sealed[0] === undefined ? { ...position } : old.start;
  const manifest: Manifest = {
    storeId: old.storeId,
    epoch,
    start: { batch: first.batch, lsn: first.lsn, crc: first.crc },
    segments: [...sealed, entry],
    snapshots: found.snapshotFallback === undefined ? old.snapshots : old.snapshots.slice(1),
    losses: old.losses,
  };
  let after = position;
  let batch: Buffer | undefined;
  if (unsynced !== undefined && unsynced.header.count > 0) {
    batch = unsynced.bytes;
    const { firstLsn, count, bodyLen, flags } = unsynced.header;
    const fields = { position, firstLsn, count, epoch, flags: flags | FLAG_LINK };
    after = closeBatch(batch, bodyLen, fields, crcSeed(entry));
  }
  yield* prepareSegment(storage, old.storeId, entry, { batches: batch, fence });
  yield* raiseContent(storage, fence, content);
  const opened = yield* publishAndClean(storage, fence, manifest, {
    names: found.names,
    position: after,
    offset: PAGE_BYTES + (batch?.length ?? 0),
    mark: found.mark,
  });
  return { ...opened, torn: end.torn, snapshotFallback: found.snapshotFallback };
}

/** Before the first record of this process, so that an earlier version never opens a log that has one. */
function* raiseContent(storage: Storage, fence: EpochFence, own: ContentFormat | undefined): Coroutine<void> {
  const store = yield* readStoreIdentity(storage);
  const content = raisedContent(store.content, own);
  if (content !== store.content)
    yield* fence.replaceFile('STORE', encodeStoreIdentity({ ...store, content }));
}

interface PossiblyUnsyncedBatch {
  readonly bytes: Buffer;
  readonly before: Position;
  readonly header: NonNullable<LogEnd['lastBatch']>['header'];
  readonly index: number;
  readonly offset: number;
}

/**
 * The last batch may be in the page cache only: the process may have ended because its sync failed. With one
 * batch in flight no earlier batch can be, and after a clean shutdown not even the last.
 */
function* readPossiblyUnsyncedBatch(
  storage: Storage,
  old: Manifest,
  end: LogEnd,
): Coroutine<PossiblyUnsyncedBatch | undefined> {
  const last = end.lastBatch;
  if (last === undefined || old.clean !== undefined) return undefined;
  const entry = old.segments[last.index];
  if (entry === undefined || entry.sealed !== undefined) return undefined;
  return { bytes: yield* readBatchBody(storage, { entry, ...last }), ...last };
}

function* quarantine(storage: Storage, epoch: number, torn: TornTail): Coroutine<void> {
  yield* call<void>((done) => storage.mkdir('quarantine', done));
  const bytes = Buffer.alloc(torn.end - torn.offset);
  yield* readAt(storage, torn.file, bytes, torn.offset);
  yield* createFile(storage, `quarantine/${torn.file}@${torn.offset}.epoch-${epoch}`, bytes);
  yield* call<void>((done) => storage.syncDir('quarantine', done));
}

/** The rename of CURRENT is the moment at which the new log replaces the old one. */
function* publishAndClean(
  storage: Storage,
  fence: EpochFence,
  manifest: Manifest,
  at: {
    readonly names: readonly string[];
    readonly position: Position;
    readonly offset: number;
    readonly mark: MarkRecord;
  },
): Coroutine<OpenedStore> {
  yield* fence.replaceFile('CURRENT', encodeManifest(manifest));
  const entry = manifest.segments.at(-1) as SegmentEntry; // every manifest made here ends with a new segment
  yield* removeLeftovers(storage, manifest, at.names);
  const markFile = yield* call<StorageFile>((done) => storage.open('MARK', 'durable', done));
  const file = yield* call<StorageFile>((done) => storage.open(segmentName(entry.seq), 'durable', done));
  return {
    manifest,
    position: at.position,
    active: { entry, file, offset: at.offset },
    torn: undefined,
    snapshotFallback: undefined,
    fence,
    mark: { file: markFile, record: at.mark },
  };
}

function* removeLeftovers(storage: Storage, manifest: Manifest, names: readonly string[]): Coroutine<void> {
  const listed = new Set(manifest.segments.map((entry) => segmentName(entry.seq)));
  for (const snapshot of manifest.snapshots) listed.add(`snap-${snapshot.lsn}.snap`);
  for (const name of names) {
    const ours = segmentSeqOf(name) !== undefined || name.endsWith('.snap') || isTemporary(name);
    if (ours && !listed.has(name)) yield* removeIfThere(storage, name);
  }
  for (const entry of manifest.segments) {
    // Bytes after the sealed end were never part of the log, or have been copied; their space is freed.
    if (entry.sealed === undefined || !names.includes(segmentName(entry.seq))) continue;
    const bytes = yield* call<number | undefined>((done) => storage.size(segmentName(entry.seq), done));
    const { end } = entry.sealed;
    if (bytes !== undefined && bytes > end) {
      yield* call<void>((done) => storage.truncate(segmentName(entry.seq), end, done));
    }
  }
}

function isTemporary(name: string): boolean {
  return name.endsWith('.tmp') && !name.startsWith('LOCK');
}

function nextSeq(listed: readonly SegmentEntry[], names: readonly string[]): number {
  let last = 0;
  for (const entry of listed) last = Math.max(last, entry.seq);
  for (const name of names) last = Math.max(last, segmentSeqOf(name) ?? 0);
  return last + 1;
}
