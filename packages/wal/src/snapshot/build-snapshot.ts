// Folds the newest snapshot and the sealed segments after it into a new snapshot, and reads that back. Uses
// files only, so it can run on any thread while the log is in use.

import type { BlobRef } from '../blob/blob-ref.js';
import { decodeManifest } from '../format/manifest.js';
import { SECTION_STATE, snapshotName } from '../format/snapshot-file.js';
import { replaySegments } from '../recovery/replay-segments.js';
import type { Coroutine } from '../storage/coroutine.js';
import { readFile, removeIfThere } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import { WalSnapshotError } from '../wal-error.js';
import type { BuildRequest, BuiltSnapshot } from './snapshot-builder.js';
import { readSnapshot } from './snapshot-reader.js';
import { writeSnapshot } from './snapshot-writer.js';
import type { Fold } from './state-fold.js';

export function* buildSnapshot<S>(
  storage: Storage,
  fold: Fold<S>,
  request: BuildRequest,
): Coroutine<BuiltSnapshot> {
  // The folded state is garbage before it is read back: memory for one state is enough.
  const written = yield* writeFolded(storage, fold, request);
  yield* verifyByLoading(storage, fold, request.tempName);
  return written;
}

function* writeFolded<S>(storage: Storage, fold: Fold<S>, request: BuildRequest): Coroutine<BuiltSnapshot> {
  const manifest = decodeManifest(yield* readFile(storage, 'CURRENT'));
  const segments = manifest.segments.filter((entry) => entry.sealed !== undefined);
  const state = fold.empty();
  const [base] = manifest.snapshots;
  if (base !== undefined) yield* restoreSnapshot(storage, fold, state, base.lsn);

  const seen = new Map<string, BlobRef>();
  const range = { from: (base?.lsn ?? manifest.start.lsn) + 1, to: request.lsn };
  yield* replaySegments(storage, { ...manifest, segments }, range, (lsn, payload, type, blob) => {
    if (blob !== undefined) seen.set(blob.sha256, blob);
    fold.apply(state, lsn, payload, type, blob);
  });

  // Records of the folded range stay readable until the next snapshot, so their blobs must stay too.
  const blobs = fold.blobs === undefined ? undefined : [...fold.blobs(state), ...seen.values()];
  yield* removeIfThere(storage, request.tempName);
  const content = { storeId: manifest.storeId, lsn: request.lsn, state: fold.save(state), blobs };
  return yield* writeSnapshot(storage, request.tempName, content);
}

export function* restoreSnapshot<S>(storage: Storage, fold: Fold<S>, state: S, lsn: number): Coroutine<void> {
  yield* readSnapshot(storage, snapshotName(lsn), (kind, payload) => {
    if (kind === SECTION_STATE) fold.restore(state, payload);
  });
}

function* verifyByLoading<S>(storage: Storage, fold: Fold<S>, tempName: string): Coroutine<void> {
  const state = fold.empty();
  try {
    yield* readSnapshot(storage, tempName, (kind, payload) => {
      if (kind === SECTION_STATE) fold.restore(state, payload);
    });
  } catch (error) {
    throw new WalSnapshotError(`${tempName} cannot be loaded again`, { cause: error });
  }
}
