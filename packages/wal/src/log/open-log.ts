// Opens a log: checks the options, locks the directory, recovers it.

import { BlobStore } from '../blob/blob-store.js';
import { codecOf } from '../codec/codec-lookup.js';
import { openStore } from '../recovery/open-store.js';
import type { ScannedBatch } from '../recovery/scan-segment.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import type { Callback } from '../storage/storage.js';
import { WalError, WalIoError } from '../wal-error.js';
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
    if (error === null || error instanceof WalError) done(error, log);
    else done(new WalIoError('opening the log', error), log);
  });
}

function* open(settings: LogSettings): Coroutine<Log> {
  const { storage, host } = settings;
  yield* call<void>((done) => storage.lock(done));
  try {
    const nonce = Math.floor(host.random() * 2 ** 32).toString(16);
    const blobs = new BlobStore(storage, host, nonce);
    const hasBlobs = yield* removeTempBlobs(settings);
    const onBatch = hasBlobs ? (batch: ScannedBatch) => addBlobReferences(batch, blobs) : () => undefined;
    const store = yield* openStore(storage, host, { segmentBytes: settings.firstSegmentBytes, onBatch });
    return new Log(settings, store, blobs);
  } catch (error) {
    yield* call<void>((done) => storage.unlock(done));
    throw error;
  }
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
  codecOf(flags).decode(batch.bytes, batch.from, batch.to, firstLsn, count, (lsn, _payload, _type, blob) => {
    if (blob !== undefined) blobs.references.addRecord(blob, lsn);
  });
}
