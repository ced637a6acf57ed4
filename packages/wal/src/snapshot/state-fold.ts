// State as a fold over records. `apply` must be total, synchronous, and free of clocks, randomness and I/O:
// the same records give the same state, live and in replay.

import type { BlobRef } from '../blob/blob-ref.js';

export interface Fold<S = unknown> {
  empty(): S;
  /** `payload` is valid only during the call. */
  apply(state: S, lsn: number, payload: Buffer, type: number, blob: BlobRef | undefined): void;
  /** The state as chunks of at most 16 MiB, in an order `restore` understands. */
  save(state: S): Iterable<Uint8Array>;
  /** Adds one chunk of a saved state, in the order of `save`. `chunk` is valid only during the call. */
  restore(state: S, chunk: Buffer): void;
  /** Blobs that the state refers to; those that neither the state nor the log refers to are removed. */
  blobs?(state: S): Iterable<BlobRef>;
}

/** A fold by module and export: a thread cannot receive functions. */
export interface FoldModule {
  /** A file: URL or an absolute path. */
  readonly module: string;
  readonly export: string;
}
