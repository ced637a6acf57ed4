// A consistent copy of a log, taken while its process goes on writing. What CURRENT lists at the beginning is copied up to where it
// stood then; an end in the middle of a batch is what a crash leaves too, and opening the copy cuts it.

import { isBlobName } from '../blob/blob-file.js';
import { batchExtent, crcSeed, readBatchHeader } from '../format/batch.js';
import { decodeManifest, encodeManifest, type Manifest, type SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page.js';
import { segmentName } from '../format/segment-header.js';
import { snapshotName } from '../format/snapshot-file.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import { createFile, readFile, removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import { nodeStorage } from '../storage/node-storage.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { errnoOf, WalCopyError, WalCorruptError } from '../wal-error.js';

export interface CopyReport {
  readonly files: number;
  readonly bytes: number;
  /** How often the log forgot something in the middle of it; what was copied by then is kept. */
  readonly retries: number;
}

export interface CopyOptions {
  /** Told how many files are in the copy, after each. */
  readonly onFile?: (files: number) => void;
  /** How much is read at once. */
  readonly chunkBytes?: number;
}

const TRIES_MAX = 20;
const CHUNK_BYTES = 1024 * 1024;
/** Marks a file that is copied anew in every try. */
const GROWING = 'growing';

/** Into an empty directory. Everything that was durable when this was called is in the copy; what came later may be. */
export function copyWal(
  from: string | Storage,
  to: string | Storage,
  options: CopyOptions = {},
): Promise<CopyReport> {
  const source = typeof from === 'string' ? nodeStorage(from) : from;
  const target = typeof to === 'string' ? nodeStorage(to) : to;
  return new Promise((resolve, reject) => {
    runCoroutine(copy(source, target, options), (error, report) =>
      error === null ? resolve(report) : reject(error),
    );
  });
}

export function* copy(from: Storage, to: Storage, options: CopyOptions = {}): Coroutine<CopyReport> {
  const copying = new CopyTask(from, to, options);
  // It is replaced by rename, so in a log it is always there.
  yield* readFile(from, 'CURRENT');
  yield* call<void>((done) => to.mkdir('blobs', done));
  for (let retries = 0; retries < TRIES_MAX; retries += 1) {
    const manifest = yield* copying.tryOnce();
    if (manifest === undefined) continue;
    yield* copying.complete(manifest);
    return { files: copying.done.size, bytes: copying.bytes, retries };
  }
  throw new WalCopyError(TRIES_MAX);
}

class CopyTask {
  /** Files in the target, by what makes them the same file. */
  readonly done = new Map<string, string>();
  bytes = 0;
  private readonly from: Storage;
  private readonly to: Storage;
  private readonly chunk: Buffer;
  private readonly onFile: CopyOptions['onFile'];

  constructor(from: Storage, to: Storage, { chunkBytes = CHUNK_BYTES, onFile }: CopyOptions) {
    this.from = from;
    this.to = to;
    this.chunk = Buffer.allocUnsafe(chunkBytes);
    this.onFile = onFile;
  }

  /** Undefined if something that was being copied is no longer part of the log: its file may be gone, or another one by now. */
  *tryOnce(): Coroutine<Manifest | undefined> {
    try {
      const manifest = yield* this.manifest();
      yield* this.files(manifest);
      return isStillThere(manifest, yield* this.manifest()) ? manifest : undefined;
    } catch (error) {
      if (isVanished(error)) return undefined;
      throw error;
    }
  }

  /** CURRENT comes last: before it there is no log in the target. */
  *complete(manifest: Manifest): Coroutine<void> {
    const listed = new Set([
      ...manifest.segments.map(({ seq }) => segmentName(seq)),
      ...manifest.snapshots.map(({ lsn }) => snapshotName(lsn)),
    ]);
    for (const name of [...this.done.keys()]) {
      if (name.startsWith('blobs/') || listed.has(name)) continue;
      yield* removeIfThere(this.to, name);
      this.done.delete(name);
    }
    yield* createFile(this.to, 'STORE', yield* readFile(this.from, 'STORE'));
    yield* call<void>((done) => this.to.syncDir('blobs', done));
    yield* call<void>((done) => this.to.syncDir('.', done));
    yield* createFile(this.to, 'CURRENT', encodeManifest(manifest));
    yield* call<void>((done) => this.to.syncDir('.', done));
  }

  private *manifest(): Coroutine<Manifest> {
    return decodeManifest(yield* readFile(this.from, 'CURRENT'));
  }

  private *files(manifest: Manifest): Coroutine<void> {
    // From the last to the first: where a segment was empty, the one before it may have grown, never the other way round.
    const ends = new Map<number, number>();
    for (const entry of manifest.segments.toReversed()) ends.set(entry.seq, yield* this.endOf(entry));
    for (const entry of manifest.segments) {
      const name = segmentName(entry.seq);
      const isSealed = entry.sealed !== undefined;
      yield* this.file(name, isSealed ? `sealed ${entry.salt}` : GROWING, ends.get(entry.seq));
      // Zeros behind the last batch, as everywhere.
      if (!isSealed) yield* call<void>((done) => this.to.truncate(name, entry.bytes, done));
    }
    for (const { lsn, sha256 } of manifest.snapshots) yield* this.file(snapshotName(lsn), sha256);
    // Behind the log: a record is written only when its blob is there.
    for (const name of yield* call<string[]>((done) => this.from.list('blobs', done))) {
      if (isBlobName(name)) yield* this.file(`blobs/${name}`, name);
    }
  }

  /** Where the batches end that have begun by now. All but the last of them are complete: one is written after the other. */
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

  private *file(name: string, mark: string, end = Number.MAX_SAFE_INTEGER): Coroutine<void> {
    if (mark !== GROWING && this.done.get(name) === mark) return;
    yield* removeIfThere(this.to, name);
    const source = yield* call<StorageFile>((done) => this.from.open(name, 'read', done));
    try {
      const target = yield* call<StorageFile>((done) => this.to.open(name, 'create', done));
      try {
        yield* this.content(source, target, end);
        yield* syncFile(this.to, target);
      } finally {
        yield* call<void>((done) => this.to.close(target, done));
      }
    } finally {
      yield* call<void>((done) => this.from.close(source, done));
    }
    this.done.set(name, mark);
    this.onFile?.(this.done.size);
  }

  private *content(source: StorageFile, target: StorageFile, end: number): Coroutine<void> {
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

/** A snapshot that came, or a segment that went, may have taken blobs and blocks along. */
function isStillThere(copied: Manifest, now: Manifest): boolean {
  const salts = new Map(now.segments.map(({ seq, salt }) => [seq, salt]));
  const newest = (manifest: Manifest): string => manifest.snapshots.map(({ sha256 }) => sha256).join();
  return copied.segments.every(({ seq, salt }) => salts.get(seq) === salt) && newest(copied) === newest(now);
}

/** A file was removed between its listing and its opening, or CURRENT replaced between its size and its content. */
function isVanished(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT' || (error instanceof WalCorruptError && error.damage.file === 'CURRENT');
}
