// A blob as a whole: written in one call, read in one call.

import { createHash } from 'node:crypto';
import type { WalHost } from '../host/wal-host.js';
import { yieldToLoop } from '../host/yield-to-loop.js';
import { type Coroutine, call, runCoroutine, startCall } from '../storage/coroutine.js';
import { readAt, removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalBlobError } from '../wal-error.js';
import type { BlobRef } from './blob-ref.js';

const SLICE_BYTES = 4 * 1024 * 1024;
const WRITE_BYTES = 64 * 1024 * 1024;

/**
 * Writes and syncs the content under a temporary name, to be renamed to its final one. It is hashed while the
 * disk works, a slice per pass of the event loop.
 */
export function* writeBlob(
  storage: Storage,
  host: WalHost,
  bytes: Uint8Array,
  tempName: string,
): Coroutine<BlobRef> {
  const file = yield* call<StorageFile>((done) => storage.open(tempName, 'create', done));
  const hash = createHash('sha256');
  try {
    const writing = startCall<void>((done) => runCoroutine(writeAndSync(storage, file, bytes), done));
    for (let offset = 0; offset < bytes.length; offset += SLICE_BYTES) {
      if (offset > 0) yield* call<void>((done) => yieldToLoop(host, () => done(null)));
      hash.update(bytes.subarray(offset, offset + SLICE_BYTES));
    }
    yield* call(writing);
  } catch (error) {
    yield* call<void>((done) => storage.close(file, done));
    yield* removeIfThere(storage, tempName);
    throw error;
  }
  yield* call<void>((done) => storage.close(file, done));
  return { sha256: hash.digest('hex'), bytes: bytes.length };
}

function* writeAndSync(storage: Storage, file: StorageFile, bytes: Uint8Array): Coroutine<void> {
  for (let offset = 0; offset < bytes.length; offset += WRITE_BYTES) {
    yield* writeFully(storage, file, bytes.subarray(offset, offset + WRITE_BYTES), offset);
  }
  yield* syncFile(storage, file);
}

/** The content, checked against its name. */
export function* readBlob(storage: Storage, ref: BlobRef): Coroutine<Buffer> {
  const name = blobName(ref.sha256);
  const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
  if (bytes === undefined) throw new WalBlobError(ref.sha256, 'the file is missing');
  if (bytes !== ref.bytes)
    throw new WalBlobError(ref.sha256, `${bytes} bytes long, ${ref.bytes} are recorded`);
  const into = Buffer.allocUnsafeSlow(bytes);
  const count = yield* readAt(storage, name, into, 0);
  if (count !== bytes || createHash('sha256').update(into).digest('hex') !== ref.sha256) {
    throw new WalBlobError(ref.sha256, 'the content does not match its SHA-256');
  }
  return into;
}

export function blobName(sha256: string): string {
  return `blobs/${sha256}`;
}

export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}
