// Making a segment ready: full size, all zeros behind its header, synced, under its final name. Only then may it be listed.

import type { SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page.js';
import { encodeSegmentHeader, segmentName } from '../format/segment-header.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { moveIntoPlace, removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';

const CHUNK_BYTES = 1024 * 1024;
const SYNC_BYTES = 4 * CHUNK_BYTES;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

export interface SegmentContent {
  /** Whole batches that stand behind the header from the beginning. */
  readonly batches?: Uint8Array | undefined;
  /** A file of exactly this size that nobody needs any more: overwriting blocks is far cheaper than allocating them. */
  readonly spare?: string | undefined;
}

export function* prepareSegment(
  storage: Storage,
  storeId: string,
  entry: SegmentEntry,
  content: SegmentContent = {},
): Coroutine<void> {
  const name = segmentName(entry.seq);
  const draft = `${name}.tmp`;
  const file = yield* openDraft(storage, draft, content.spare);
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
      // In small portions: the writer ahead must not wait behind a segment's worth of dirty pages.
      if (offset % SYNC_BYTES === 0) yield* syncFile(storage, file);
    }
    if (content.batches !== undefined) yield* writeFully(storage, file, content.batches, PAGE_BYTES);
    yield* syncFile(storage, file);
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
  yield* moveIntoPlace(storage, draft, name);
}

function* openDraft(storage: Storage, draft: string, spare: string | undefined): Coroutine<StorageFile> {
  yield* removeIfThere(storage, draft);
  if (spare === undefined) return yield* call<StorageFile>((done) => storage.open(draft, 'create', done));
  yield* call<void>((done) => storage.rename(spare, draft, done));
  return yield* call<StorageFile>((done) => storage.open(draft, 'durable', done));
}
