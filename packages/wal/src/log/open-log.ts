// Opens a log: checks the options, locks the directory, recovers it.

import { BlobStore } from '../blob/blob-store.js';
import { codecOf } from '../codec/codec-lookup.js';
import { RecordFormatError } from '../codec/record-codec.js';
import { assertContentReadable } from '../format/content-format.js';
import { decodeStoreIdentity } from '../format/store-identity.js';
import { openStore } from '../recovery/open-store.js';
import type { ScannedBatch } from '../recovery/scan-segment.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import { readFile } from '../storage/file-operations.js';
import type { Callback } from '../storage/storage.js';
import {
  errnoOf,
  WalCorruptError,
  WalDiskFullError,
  WalError,
  WalIoError,
  WalNetworkError,
} from '../wal-error.js';
import { Log } from './log.js';
import { type LogSettings, readOptions, type WalOptions } from './wal-options.js';

/** Opens and recovers the directory. No append is accepted and no timer runs before `done`. */
export function openLog(options: WalOptions, done: Callback<Log>): void {
  let settings: LogSettings;
  try {
    settings = readOptions(options);
  } catch (error) {
    done(error as Error, undefined as never);
    return;
  }
  runCoroutine(open(settings), (error, log) => {
    done(error === null ? null : openingError(error, settings), log);
  });
}

/** A full disk at the opening says nothing about the log: it opens once there is space. */
function openingError(error: Error, { firstSegmentBytes }: LogSettings): WalError {
  const cause = error instanceof WalIoError ? error.cause : error;
  const errno = errnoOf(cause);
  if (errno === 'ENOSPC' || errno === 'EDQUOT') return new WalDiskFullError(2 * firstSegmentBytes, cause);
  return error instanceof WalError ? error : new WalIoError('opening the log', error);
}

function* open(settings: LogSettings): Coroutine<Log> {
  const { storage, host } = settings;
  yield* checkVersions(settings);
  const lockProblem = yield* call<string | undefined>((done) => storage.lock(done));
  try {
    if (lockProblem !== undefined) settings.onEvent({ kind: 'lock-unavailable', reason: lockProblem });
    yield* checkFileSystem(settings);
    const nonce = Math.floor(host.random() * 2 ** 32).toString(16);
    const blobs = new BlobStore(storage, host, nonce);
    const hasBlobs = yield* removeTempBlobs(settings);
    const onBatch = hasBlobs ? (batch: ScannedBatch) => addBlobReferences(batch, blobs) : () => undefined;
    const store = yield* openStore(storage, host, {
      segmentBytes: settings.firstSegmentBytes,
      content: settings.content,
      onBatch,
    });
    return new Log(settings, store, blobs);
  } catch (error) {
    yield* call<void>((done) => storage.unlock(done));
    throw error;
  }
}

/**
 * Before the lock, so that a directory of another version stays byte for byte as it is. A damaged STORE and a
 * directory that cannot be used are reported by the steps that follow, which look again.
 */
function* checkVersions({ storage, content }: LogSettings): Coroutine<void> {
  try {
    const bytes = yield* call<number | undefined>((done) => storage.size('STORE', done));
    if (bytes === undefined) return;
    assertContentReadable(decodeStoreIdentity(yield* readFile(storage, 'STORE')).content, content);
  } catch (error) {
    if (error instanceof WalError && !(error instanceof WalCorruptError)) throw error;
  }
}

function* checkFileSystem({ storage, allowNetworkFs, onEvent }: LogSettings): Coroutine<void> {
  const fileSystem = yield* call<string | undefined>((done) => storage.networkFileSystem(done));
  if (fileSystem === undefined) return;
  if (!allowNetworkFs) throw new WalNetworkError(fileSystem);
  onEvent({ kind: 'network-file-system', fileSystem });
}

/** Removes the unfinished blobs of a dead process. True if there are others. */
function* removeTempBlobs({ storage }: LogSettings): Coroutine<boolean> {
  const names = yield* call<string[]>((done) => storage.list('blobs', done));
  const temporary = names.filter((name) => name.endsWith('.tmp'));
  for (const name of temporary) yield* call<void>((done) => storage.unlink(`blobs/${name}`, done));
  return names.length > temporary.length;
}

/** Records after the snapshot keep their blobs until a snapshot lists them. */
function addBlobReferences(batch: ScannedBatch, blobs: BlobStore): void {
  const { firstLsn, count, flags } = batch.header;
  const { bytes, from, to } = batch;
  const end = codecOf(flags).decode(bytes, from, to, firstLsn, count, (lsn, _payload, _type, blob) => {
    if (blob !== undefined) blobs.references.addRecord(blob, lsn);
  });
  if (end !== to) throw new RecordFormatError(firstLsn + count, 'bytes stand after the last record');
}
