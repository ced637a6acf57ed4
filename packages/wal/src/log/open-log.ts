// From options to a log that serves: lock, recover, and only then hand it out.

import { BlobStore } from '../blob/blob-store.js';
import { codecOf } from '../format/codecs.js';
import { openStore } from '../recovery/open-store.js';
import type { ScannedBatch } from '../recovery/segment-scan.js';
import { type Coroutine, call, runCoroutine } from '../storage/coroutine.js';
import type { Callback } from '../storage/storage.js';
import { WalError, WalIoError } from '../wal-error.js';
import { Log } from './log.js';
import { type LogSettings, readOptions, type WalOptions } from './options.js';

/** Opens the directory and recovers it. Nothing is served, and no timer runs, before `done`. */
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
    const hasBlobs = yield* removeBlobDrafts(settings);
    const note = (batch: ScannedBatch): void => noteBlobs(batch, blobs);
    const onBatch = hasBlobs ? note : () => undefined;
    const store = yield* openStore(storage, host, { segmentBytes: settings.firstSegmentBytes, onBatch });
    return new Log(settings, store, blobs);
  } catch (error) {
    yield* call<void>((done) => storage.unlock(done));
    throw error;
  }
}

/** True if there are blobs. Drafts are unfinished work of a process that died. */
function* removeBlobDrafts({ storage }: LogSettings): Coroutine<boolean> {
  const names = yield* call<string[]>((done) => storage.list('blobs', done));
  const drafts = names.filter((name) => name.endsWith('.tmp'));
  for (const name of drafts) yield* call<void>((done) => storage.unlink(`blobs/${name}`, done));
  return names.length > drafts.length;
}

/** Records behind the snapshot keep their blobs until a snapshot has taken them over. */
function noteBlobs(batch: ScannedBatch, blobs: BlobStore): void {
  const { firstLsn, count, flags } = batch.header;
  codecOf(flags).decode(batch.bytes, batch.from, batch.to, firstLsn, count, (lsn, _payload, _type, blob) => {
    if (blob !== undefined) blobs.references.addRecord(blob, lsn);
  });
}
