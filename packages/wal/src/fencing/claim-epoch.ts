// Publishes a new epoch in EPOCH: the first change of an opening, durable before the log is read.

import { decodeEpoch, type EpochRecord, encodeEpoch } from '../format/epoch-record.js';
import { copyOffset, PAIR_BYTES, PAIR_OFFSET } from '../format/paired-record.js';
import type { WalHost } from '../host/wal-host.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { readAt, syncFile, writeFully } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { errnoOf, WalCorruptError, WalFencedError } from '../wal-error.js';
import { EpochFence } from './epoch-fence.js';

const EPOCH = 'EPOCH';

/** The epoch in the file. Throws WalCorruptError if the file is missing or neither copy is valid. */
export function* readEpoch(storage: Storage): Coroutine<EpochRecord> {
  const found = yield* readIfThere(storage);
  if (found === undefined) throw damaged('the file is missing');
  const record = decodeEpoch(found);
  if (record === undefined) throw damaged('neither copy of the epoch is valid');
  return record;
}

/** A number above `past` and above the one in EPOCH, which must be there: a process may be using it. */
export function* claimEpoch(storage: Storage, host: WalHost, past: number): Coroutine<EpochFence> {
  const { epoch } = yield* readEpoch(storage);
  return yield* publishEpoch(storage, host, Math.max(epoch, past) + 1);
}

/** As `claimEpoch`, for a directory without a log, or one that is being repaired. */
export function* claimFirstEpoch(storage: Storage, host: WalHost, past: number): Coroutine<EpochFence> {
  const found = yield* readIfThere(storage);
  const epoch = found === undefined ? 0 : (decodeEpoch(found)?.epoch ?? 0);
  return yield* publishEpoch(storage, host, Math.max(epoch, past) + 1);
}

function* readIfThere(storage: Storage): Coroutine<Buffer | undefined> {
  const bytes = yield* call<number | undefined>((done) => storage.size(EPOCH, done));
  if (bytes === undefined) return undefined;
  const pair = Buffer.alloc(PAIR_BYTES);
  return pair.subarray(0, yield* readAt(storage, EPOCH, pair, PAIR_OFFSET));
}

function* publishEpoch(storage: Storage, host: WalHost, epoch: number): Coroutine<EpochFence> {
  const nonce = Buffer.from(Array.from({ length: 16 }, () => Math.floor(host.random() * 256)));
  const own = { epoch, nonce: nonce.toString('hex') };
  const file = yield* openForWriting(storage);
  try {
    yield* writeFully(storage, file, encodeEpoch(own), copyOffset(epoch));
    yield* syncFile(storage, file);
    yield* call<void>((done) => storage.syncDir('.', done));
    const claimed = Buffer.alloc(PAIR_BYTES);
    yield* call<number>((done) => storage.read(file, claimed, PAIR_OFFSET, done));
    // Another process may have claimed the directory since the write.
    const newest = decodeEpoch(claimed);
    if (newest?.nonce !== own.nonce) throw new WalFencedError(epoch, newest?.epoch);
    return new EpochFence(storage, file, own, claimed);
  } catch (error) {
    yield* call<void>((done) => storage.close(file, done));
    throw error;
  }
}

/** The file is never replaced: a process that has it open would not see the new one. */
function* openForWriting(storage: Storage): Coroutine<StorageFile> {
  try {
    return yield* call<StorageFile>((done) => storage.open(EPOCH, 'create', done));
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return yield* call<StorageFile>((done) => storage.open(EPOCH, 'durable', done));
  }
}

function damaged(reason: string): WalCorruptError {
  return new WalCorruptError({ file: EPOCH, offset: 0, reason });
}
