// A consistent copy of a log in use. The files that CURRENT lists at the beginning are copied up to their end
// at that time. An end in the middle of a batch is the same as after a crash: opening the copy cuts it.

import { isBlobName } from '../blob/blob-file.js';
import { batchExtent, crcSeed, readBatchHeader } from '../format/batch.js';
import { encodeEpochFile } from '../format/epoch-record.js';
import { decodeManifest, encodeManifest, type Manifest, type SegmentEntry } from '../format/manifest.js';
import { NO_MARK } from '../format/mark-record.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import { segmentName } from '../format/segment-header.js';
import { snapshotName } from '../format/snapshot-file.js';
import { encodeMarkFile, readMark } from '../mark/mark-file.js';
import { integer } from '../option-check.js';
import { type Coroutine, call, promiseOf, runCoroutine } from '../storage/coroutine.js';
import { createFile, readFile, removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import { storageOf } from '../storage/node-storage.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { errnoOf, WalCopyError, WalCorruptError } from '../wal-error.js';

export interface CopyReport {
  readonly files: number;
  readonly bytes: number;
  /** How often the log dropped a file during the copy. Files copied before that are kept. */
  readonly retries: number;
}

export interface CopyOptions {
  /** Called after each file with the number of files in the copy. */
  readonly onFile?: ((files: number) => void) | undefined;
  /** Bytes per read. Default 1 MiB. */
  readonly chunkBytes?: number | undefined;
}

const TRIES_MAX = 20;
const CHUNK_BYTES = 1024 * 1024;
const CHUNK_BYTES_MAX = 1024 * CHUNK_BYTES;
/** Version of a file that is copied again in every try. */
const GROWING = 'growing';

/** Copies into an empty directory: all records durable at the time of the call, and maybe later ones. */
export function copyWal(
  from: string | Storage,
  to: string | Storage,
  options: CopyOptions = {},
): Promise<CopyReport> {
  return promiseOf((done) => runCoroutine(copy(storageOf(from), storageOf(to), options), done));
}

export function* copy(from: Storage, to: Storage, options: CopyOptions = {}): Coroutine<CopyReport> {
  const task = new CopyTask(from, to, options);
  // CURRENT is replaced by rename, so every log has it at all times.
  yield* readFile(from, 'CURRENT');
  yield* call<void>((done) => to.mkdir('blobs', done));
  for (let retries = 0; retries < TRIES_MAX; retries += 1) {
    const manifest = yield* task.tryOnce();
    if (manifest === undefined) continue;
    yield* task.complete(manifest);
    return { files: task.copied.size, bytes: task.bytes, retries };
  }
  throw new WalCopyError(TRIES_MAX);
}

class CopyTask {
  /** Files in the target, each with the version that was copied. */
  readonly copied = new Map<string, string>();
  bytes = 0;
  private mark = NO_MARK;
  private readonly from: Storage;
  private readonly to: Storage;
  private readonly chunk: Buffer;
  private readonly onFile: CopyOptions['onFile'];

  constructor(from: Storage, to: Storage, { chunkBytes = CHUNK_BYTES, onFile }: CopyOptions) {
    this.from = from;
    this.to = to;
    this.chunk = Buffer.allocUnsafe(integer('chunkBytes', chunkBytes, 1, CHUNK_BYTES_MAX));
    this.onFile = onFile;
  }

  /** Undefined if a file left the log during the copy: it may be gone, or another one by now. */
  *tryOnce(): Coroutine<Manifest | undefined> {
    try {
      // Before the segments: they reach at least this far.
      this.mark = yield* readMark(this.from);
      const manifest = yield* this.readManifest();
      yield* this.copyFiles(manifest);
      return isUnchanged(manifest, yield* this.readManifest()) ? manifest : undefined;
    } catch (error) {
      if (isFileGone(error)) return undefined;
      throw error;
    }
  }

  /** CURRENT is written last: without it the target is no log. */
  *complete(manifest: Manifest): Coroutine<void> {
    const listed = new Set([
      ...manifest.segments.map(({ seq }) => segmentName(seq)),
      ...manifest.snapshots.map(({ lsn }) => snapshotName(lsn)),
    ]);
    for (const name of [...this.copied.keys()]) {
      if (name.startsWith('blobs/') || listed.has(name)) continue;
      yield* removeIfThere(this.to, name);
      this.copied.delete(name);
    }
    yield* createFile(this.to, 'STORE', yield* readFile(this.from, 'STORE'));
    yield* createFile(this.to, 'MARK', encodeMarkFile(this.mark));
    yield* createFile(this.to, 'EPOCH', encodeEpochFile(manifest.epoch));
    yield* call<void>((done) => this.to.syncDir('blobs', done));
    yield* call<void>((done) => this.to.syncDir('.', done));
    yield* createFile(this.to, 'CURRENT', encodeManifest(manifest));
    yield* call<void>((done) => this.to.syncDir('.', done));
  }

  private *readManifest(): Coroutine<Manifest> {
    return decodeManifest(yield* readFile(this.from, 'CURRENT'));
  }

  private *copyFiles(manifest: Manifest): Coroutine<void> {
    // Last segment first: while a segment is empty, only the one before it can grow.
    const ends = new Map<number, number>();
    for (const entry of manifest.segments.toReversed()) ends.set(entry.seq, yield* this.endOf(entry));
    for (const entry of manifest.segments) {
      const name = segmentName(entry.seq);
      const isSealed = entry.sealed !== undefined;
      yield* this.copyFile(name, isSealed ? `sealed ${entry.salt}` : GROWING, ends.get(entry.seq));
      // Zeros after the last batch, as in every segment.
      if (!isSealed) yield* call<void>((done) => this.to.truncate(name, entry.bytes, done));
    }
    for (const { lsn, sha256 } of manifest.snapshots) yield* this.copyFile(snapshotName(lsn), sha256);
    // After the segments: a blob exists before a record refers to it.
    for (const name of yield* call<string[]>((done) => this.from.list('blobs', done))) {
      if (isBlobName(name)) yield* this.copyFile(`blobs/${name}`, name);
    }
  }

  /** End of the batches started by now. All but the last are complete. */
  private *endOf(entry: SegmentEntry): Coroutine<number> {
    if (entry.sealed !== undefined) return entry.sealed.end;
    const seed = crcSeed(entry);
    const page = Buffer.alloc(PAGE_BYTES);
    const file = yield* call<StorageFile>((done) => this.from.open(segmentName(entry.seq), 'read', done));
    let end = PAGE_BYTES;
    try {
      while (end < entry.bytes) {
        const position = end;
        yield* call<number>((done) => this.from.read(file, page, position, done));
        const header = readBatchHeader(page, 0, seed);
        if (header === undefined) break;
        end += batchExtent(header.bodyLen);
      }
    } finally {
      yield* call<void>((done) => this.from.close(file, done));
    }
    return end;
  }

  private *copyFile(name: string, version: string, end = Number.MAX_SAFE_INTEGER): Coroutine<void> {
    if (version !== GROWING && this.copied.get(name) === version) return;
    yield* removeIfThere(this.to, name);
    const source = yield* call<StorageFile>((done) => this.from.open(name, 'read', done));
    try {
      const target = yield* call<StorageFile>((done) => this.to.open(name, 'create', done));
      try {
        yield* this.copyContent(source, target, end);
        yield* syncFile(this.to, target);
      } finally {
        yield* call<void>((done) => this.to.close(target, done));
      }
    } finally {
      yield* call<void>((done) => this.from.close(source, done));
    }
    this.copied.set(name, version);
    this.onFile?.(this.copied.size);
  }

  private *copyContent(source: StorageFile, target: StorageFile, end: number): Coroutine<void> {
    for (let at = 0; at < end; ) {
      const into = this.chunk.subarray(0, Math.min(this.chunk.length, end - at));
      const position = at;
      const count = yield* call<number>((done) => this.from.read(source, into, position, done));
      if (count === 0) return;
      yield* writeFully(this.to, target, into.subarray(0, count), at);
      at += count;
      this.bytes += count;
    }
  }
}

/** False after a new snapshot or a dropped segment, with which blobs and disk blocks may have gone. */
function isUnchanged(copied: Manifest, now: Manifest): boolean {
  const salts = new Map(now.segments.map(({ seq, salt }) => [seq, salt]));
  const digests = (manifest: Manifest): string => manifest.snapshots.map(({ sha256 }) => sha256).join();
  return (
    copied.segments.every(({ seq, salt }) => salts.get(seq) === salt) && digests(copied) === digests(now)
  );
}

/** A file was removed after it was listed, or CURRENT was replaced while it was read. */
function isFileGone(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT' || (error instanceof WalCorruptError && error.damage.file === 'CURRENT');
}
