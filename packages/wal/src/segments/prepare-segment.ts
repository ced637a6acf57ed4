// Prepares a segment before it is listed: full size, zeros after the header, synced, final name.

import type { EpochFence } from '../fencing/epoch-fence.js';
import type { SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import { encodeSegmentHeader, segmentName } from '../format/segment-header.js';
import type { WalHost } from '../host/wal-host.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { moveIntoPlace, removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';

const CHUNK_BYTES = 1024 * 1024;
const SYNC_BYTES = 4 * CHUNK_BYTES;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

export interface SegmentContent {
  /** Whole batches to write after the header. */
  readonly batches?: Uint8Array | undefined;
  /** An obsolete file of exactly this size: overwriting blocks is far cheaper than allocating them. */
  readonly recycled?: string | undefined;
  /** Asked before the segment gets its name. */
  readonly fence: EpochFence;
}

export function* prepareSegment(
  storage: Storage,
  storeId: string,
  entry: SegmentEntry,
  content: SegmentContent,
): Coroutine<void> {
  const name = segmentName(entry.seq);
  const tempName = content.fence.tempNameOf(name);
  const file = yield* openTempFile(storage, tempName, content.recycled);
  try {
    const head = Buffer.alloc(Math.min(entry.bytes, CHUNK_BYTES));
    encodeSegmentHeader({ storeId, ...entry }).copy(head);
    yield* writeFully(storage, file, head, 0);
    for (let offset = head.length; offset < entry.bytes; offset += CHUNK_BYTES) {
      yield* writeFully(
        storage,
        file,
        ZEROS.subarray(0, Math.min(CHUNK_BYTES, entry.bytes - offset)),
        offset,
      );
      // Often, so that a commit does not wait for the dirty pages of a whole segment.
      if (offset % SYNC_BYTES === 0) yield* syncFile(storage, file);
    }
    if (content.batches !== undefined) yield* writeFully(storage, file, content.batches, PAGE_BYTES);
    yield* syncFile(storage, file);
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
  content.fence.assert();
  yield* moveIntoPlace(storage, tempName, name);
}

function* openTempFile(
  storage: Storage,
  tempName: string,
  recycled: string | undefined,
): Coroutine<StorageFile> {
  yield* removeIfThere(storage, tempName);
  if (recycled === undefined)
    return yield* call<StorageFile>((done) => storage.open(tempName, 'create', done));
  yield* call<void>((done) => storage.rename(recycled, tempName, done));
  return yield* call<StorageFile>((done) => storage.open(tempName, 'durable', done));
}

/** Random, so that a batch left over from another use of the same disk blocks does not validate. */
export function randomSalt(host: WalHost): number {
  return Math.floor(host.random() * 2 ** 32);
}
