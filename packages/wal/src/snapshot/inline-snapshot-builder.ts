import { runCoroutine } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';
import { buildSnapshot } from './build-snapshot.js';
import type { SnapshotBuilder } from './snapshot-builder.js';
import type { Fold } from './state-fold.js';

/** Runs the fold on the caller's thread: for simulations and for small states. */
export function inlineSnapshotBuilder<S>(storage: Storage, fold: Fold<S>): SnapshotBuilder {
  return { build: (request, done) => runCoroutine(buildSnapshot(storage, fold, request), done) };
}
