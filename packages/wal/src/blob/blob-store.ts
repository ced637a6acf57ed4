// Payloads too large for a batch, each in a file named after its SHA-256. Durable before any record refers to it.

import { createHash } from 'node:crypto';
import type { BlobRef } from '../format/record.js';
import { removeIfThere, syncFile } from '../storage/durable-file.js';
import { begin, call, type Procedure } from '../storage/procedure.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalBlobError } from '../wal-error.js';

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Writes and syncs the content under a draft name; it counts only once it was moved to its own. */
export function* writeBlob(storage: Storage, bytes: Uint8Array, draft: string): Procedure<BlobRef> {
  const file = yield* call<StorageFile>((done) => storage.open(draft, 'create', done));
  let sha256: string;
  try {
    sha256 = yield* writeAndHash(storage, file, bytes);
    yield* syncFile(storage, file);
  } catch (error) {
    yield* call<void>((done) => storage.close(file, done));
    yield* removeIfThere(storage, draft);
    throw error;
  }
  yield* call<void>((done) => storage.close(file, done));
  return { sha256, bytes: bytes.length };
}

/** Each chunk is hashed while it is being written. */
function* writeAndHash(storage: Storage, file: StorageFile, bytes: Uint8Array): Procedure<string> {
  const hash = createHash('sha256');
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
    const chunk = bytes.subarray(offset, Math.min(bytes.length, offset + CHUNK_BYTES));
    const writing = begin<number>((done) => storage.write(file, chunk, offset, done));
    hash.update(chunk);
    let written = yield* call(writing);
    while (written < chunk.length) {
      const rest = chunk.subarray(written);
      const position = offset + written;
      const more = yield* call<number>((done) => storage.write(file, rest, position, done));
      if (more === 0) throw new Error(`${file.name}: short write at ${position}`);
      written += more;
    }
  }
  return hash.digest('hex');
}

/** The payload, checked against its name. */
export function* readBlob(storage: Storage, ref: BlobRef): Procedure<Buffer> {
  const name = blobName(ref.sha256);
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  if (bytes === undefined) throw new WalBlobError(ref.sha256, 'the file is missing');
  if (bytes !== ref.bytes)
    throw new WalBlobError(ref.sha256, `${bytes} bytes long, ${ref.bytes} are recorded`);
  const file = yield* call<StorageFile>((done) => storage.open(name, 'read', done));
  const into = Buffer.allocUnsafeSlow(bytes);
  let count: number;
  try {
    count = yield* call<number>((done) => storage.read(file, into, 0, done));
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
  if (count !== bytes || createHash('sha256').update(into).digest('hex') !== ref.sha256) {
    throw new WalBlobError(ref.sha256, 'the content is not what its name says');
  }
  return into;
}

export function blobName(sha256: string): string {
  return `blobs/${sha256}`;
}

export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}
