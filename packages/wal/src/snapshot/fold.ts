// State as a fold over records. `apply` must be total, synchronous, and free of clocks, randomness and I/O: the same
// records give the same state, live and in replay.

import type { BlobRef } from '../format/record.js';
import type { Callback } from '../storage/storage.js';

export interface Fold<S = unknown> {
  empty(): S;
  /** `payload` is valid only during the call. */
  apply(state: S, lsn: number, payload: Buffer, type: number, blob: BlobRef | undefined): void;
  /** The state as chunks of at most 16 MiB, in an order `restore` understands. */
  save(state: S): Iterable<Uint8Array>;
  /** Adds one chunk of a saved state, in the order in which they were saved. `chunk` is valid only during the call. */
  restore(state: S, chunk: Buffer): void;
  /** Blobs the state still refers to; those that neither it nor the log names are removed. */
  blobs?(state: S): Iterable<BlobRef>;
}

/** Where to find a fold: functions do not cross threads, modules do. */
export interface FoldModule {
  /** A file: URL or an absolute path. */
  readonly module: string;
  readonly export: string;
}

export interface BuildRequest {
  /** Records up to this one go into the snapshot. */
  readonly lsn: number;
  /** File to write, which does not exist yet. */
  readonly draft: string;
}

export interface BuiltSnapshot {
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes a snapshot from what CURRENT lists: the newest snapshot, and the sealed segments behind it. */
export interface SnapshotBuilder {
  build(request: BuildRequest, done: Callback<BuiltSnapshot>): void;
}
