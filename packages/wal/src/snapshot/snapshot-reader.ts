// Reads a snapshot section by section with all checks, and checks a whole file against the digest in CURRENT.

import { createHash } from 'node:crypto';
import type { SnapshotEntry } from '../format/manifest.js';
import {
  decodeSectionHead,
  decodeSnapshotHeader,
  SECTION_BYTES_MAX,
  SECTION_END,
  SECTION_HEAD_BYTES,
  SNAPSHOT_HEADER_BYTES,
  sectionCrc,
  snapshotName,
} from '../format/snapshot-file.js';
import { assertReadable } from '../format/store-file.js';
import { type Call, type Coroutine, call, startCall } from '../storage/coroutine.js';
import { withOpenFile } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalCorruptError } from '../wal-error.js';

const CHUNK_BYTES = 1024 * 1024;

/** The problem of the file, or undefined if it is the one in CURRENT. */
export function* verifySnapshot(
  storage: Storage,
  storeId: string,
  entry: SnapshotEntry,
): Coroutine<string | undefined> {
  const name = snapshotName(entry.lsn);
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  if (bytes === undefined) return 'the file is missing';
  if (bytes !== entry.bytes) return `${bytes} bytes long, ${entry.bytes} are listed`;
  const digest = yield* withOpenFile(storage, name, function* (file) {
    yield* call<void>((done) => storage.sync(file, done));
    return yield* digestFile(storage, file, bytes);
  });
  if (digest.sha256 !== entry.sha256) return 'its SHA-256 is not the one listed';
  const header = decodeSnapshotHeader(digest.head);
  if (header?.storeId !== storeId || header.lsn !== entry.lsn)
    return 'the header belongs to another snapshot';
  assertReadable(name, header.major, 0);
  return undefined;
}

/** SHA-256 of a file, and its first bytes. The next chunk is read while this one is hashed. */
function* digestFile(
  storage: Storage,
  file: StorageFile,
  bytes: number,
): Coroutine<{ readonly sha256: string; readonly head: Buffer }> {
  const hash = createHash('sha256');
  const chunks = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)] as const;
  let head: Buffer = Buffer.alloc(0);
  let offset = 0;
  const readAt = (position: number, index: number): Call<number> => {
    const into = chunks[index % 2 === 0 ? 0 : 1].subarray(0, Math.min(CHUNK_BYTES, bytes - position));
    return startCall((done) => storage.read(file, into, position, done));
  };
  let index = 0;
  let pending = readAt(0, 0);
  while (offset < bytes) {
    const count = yield* call(pending);
    if (count === 0) break;
    const chunk = chunks[index % 2 === 0 ? 0 : 1].subarray(0, count);
    offset += count;
    index += 1;
    if (offset < bytes) pending = readAt(offset, index);
    if (index === 1) head = Buffer.from(chunk.subarray(0, SNAPSHOT_HEADER_BYTES));
    hash.update(chunk);
  }
  return { sha256: hash.digest('hex'), head };
}

/** Visits every section but the last, which marks the end. */
export function* readSnapshot(
  storage: Storage,
  name: string,
  visit: (kind: number, payload: Buffer) => void,
): Coroutine<void> {
  const bytes = (yield* call<number | undefined>((done) => storage.size(name, done))) ?? 0;
  const file = yield* call<StorageFile>((done) => storage.open(name, 'read', done));
  const bad = (offset: number, reason: string): WalCorruptError =>
    new WalCorruptError({ file: name, offset, reason });
  const read = function* (offset: number, count: number): Coroutine<Buffer> {
    const into = Buffer.allocUnsafe(Math.max(0, Math.min(count, bytes - offset)));
    const got = yield* call<number>((done) => storage.read(file, into, offset, done));
    if (got !== count) throw bad(offset, 'the file ends early');
    return into;
  };
  try {
    const header = decodeSnapshotHeader(yield* read(0, SNAPSHOT_HEADER_BYTES));
    if (header === undefined) throw bad(0, 'no valid header');
    let { crc } = header;
    let offset = SNAPSHOT_HEADER_BYTES;
    for (let sections = 0; ; sections += 1) {
      const raw = yield* read(offset, SECTION_HEAD_BYTES);
      const head = decodeSectionHead(raw);
      if (head.bytes > SECTION_BYTES_MAX) throw bad(offset, 'a section is longer than allowed');
      const payload = yield* read(offset + SECTION_HEAD_BYTES, head.bytes);
      crc = sectionCrc(raw, payload, crc);
      if (crc !== head.crc) throw bad(offset, 'section crc is wrong');
      offset += SECTION_HEAD_BYTES + head.bytes;
      if (head.kind !== SECTION_END) {
        visit(head.kind, payload);
        continue;
      }
      if (offset !== bytes || payload.readUInt32LE(0) !== sections) throw bad(offset, 'sections are missing');
      return;
    }
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
}
