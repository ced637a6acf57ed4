// Making a segment ready: full size, all zeros behind its header, synced, under its final name. Only then may it be listed.

import type { SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page.js';
import { encodeSegmentHeader, segmentName } from '../format/segment-header.js';
import { moveIntoPlace, removeIfThere, syncFile, writeFully } from '../storage/durable-file.js';
import { call, type Procedure } from '../storage/procedure.js';
import type { Storage, StorageFile } from '../storage/storage.js';

const CHUNK_BYTES = 1024 * 1024;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** `batch`, if given, is a whole batch that stands behind the header from the beginning. */
export function* prepareSegment(
  storage: Storage,
  storeId: string,
  entry: SegmentEntry,
  batch?: Uint8Array,
): Procedure<void> {
  const name = segmentName(entry.seq);
  const draft = `${name}.tmp`;
  yield* removeIfThere(storage, draft);
  const file = yield* call<StorageFile>((done) => storage.open(draft, 'create', done));
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
    }
    if (batch !== undefined) yield* writeFully(storage, file, batch, PAGE_BYTES);
    yield* syncFile(storage, file);
  } finally {
    yield* call<void>((done) => storage.close(file, done));
  }
  yield* moveIntoPlace(storage, draft, name);
}
