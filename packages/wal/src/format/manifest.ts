// CURRENT: the files of the log and the end of each sealed segment. Replaced as a whole, by rename.

import { WalCorruptError } from '../wal-error.js';
import type { Position } from './batch.js';
import { decodeFramedJson, encodeFramedJson } from './framed-json.js';
import { manifestProblem } from './manifest-check.js';

export interface SealedEnd extends Position {
  /** Offset of the end of the last batch; bytes beyond it are not part of the log. */
  readonly end: number;
}

export interface SegmentEntry {
  readonly seq: number;
  readonly bytes: number;
  readonly salt: number;
  /** Present once the segment accepts no more batches. */
  readonly sealed?: SealedEnd | undefined;
}

export interface SnapshotEntry {
  readonly lsn: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** A range of records that a repair gave up. */
export interface Loss {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

export interface Manifest {
  readonly storeId: string;
  readonly epoch: number;
  /** Position before the first listed segment. */
  readonly start: Position;
  readonly segments: readonly SegmentEntry[];
  /** Newest first, at most two. */
  readonly snapshots: readonly SnapshotEntry[];
  readonly losses: readonly Loss[];
  /** Present after a clean shutdown: the last batch and record. */
  readonly clean?: { readonly batch: number; readonly lsn: number } | undefined;
}

export function encodeManifest(manifest: Manifest): Buffer {
  return encodeFramedJson('CURRENT', manifest);
}

export function decodeManifest(bytes: Buffer): Manifest {
  const manifest = decodeFramedJson('CURRENT', bytes);
  const problem = manifestProblem(manifest);
  if (problem !== undefined)
    throw new WalCorruptError({ file: 'CURRENT', offset: 0, reason: `${problem} is not valid` });
  return manifest as Manifest; // manifestProblem has checked every field
}

/** The position before segment `index`; undefined if the manifest does not have it. */
export function positionBefore(manifest: Manifest, index: number): Position | undefined {
  if (index === 0) return manifest.start;
  return manifest.segments[index - 1]?.sealed;
}

export function isDeclaredLoss(losses: readonly Loss[], from: number, to: number): boolean {
  return losses.some((loss) => loss.from === from && loss.to === to);
}
