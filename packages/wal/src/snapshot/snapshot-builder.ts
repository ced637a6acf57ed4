import type { Callback } from '../storage/storage.js';

export interface BuildRequest {
  /** Records up to this one go into the snapshot. */
  readonly lsn: number;
  /** File to write, which does not exist yet. */
  readonly tempName: string;
}

export interface BuiltSnapshot {
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes a snapshot from the files in CURRENT: the newest snapshot and the sealed segments after it. */
export interface SnapshotBuilder {
  build(request: BuildRequest, done: Callback<BuiltSnapshot>): void;
}
