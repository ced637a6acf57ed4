// CURRENT: which files count, and how far each was known to be good. Replaced only as a whole, by rename.

import { WalCorruptError } from '../wal-error.js';
import type { Position } from './batch.js';
import { decodeFramedJson, encodeFramedJson } from './framed-json.js';

export interface SealedEnd extends Position {
  /** Where its last batch ends; what lies beyond is not part of the log. */
  readonly end: number;
}

export interface SegmentEntry {
  readonly seq: number;
  readonly bytes: number;
  readonly salt: number;
  /** Present once the segment takes no more batches. */
  readonly sealed?: SealedEnd;
}

export interface SnapshotEntry {
  readonly lsn: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** A range of records given up by an explicit repair. */
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
  readonly clean?: { readonly batch: number; readonly lsn: number };
}

export function encodeManifest(manifest: Manifest): Buffer {
  return encodeFramedJson('CURRENT', manifest);
}

export function decodeManifest(bytes: Buffer): Manifest {
  // The CRC has just vouched that these are bytes encodeManifest wrote.
  const manifest = decodeFramedJson('CURRENT', bytes) as Manifest;
  if (
    !Array.isArray(manifest.segments) ||
    !Array.isArray(manifest.snapshots) ||
    !Number.isInteger(manifest.epoch)
  ) {
    throw new WalCorruptError({ file: 'CURRENT', offset: 0, reason: 'fields are missing' });
  }
  return manifest;
}

/** The position before segment `index` as far as the manifest knows it. */
export function positionBefore(manifest: Manifest, index: number): Position | undefined {
  if (index === 0) return manifest.start;
  return manifest.segments[index - 1]?.sealed;
}

export function isDeclaredLoss(losses: readonly Loss[], from: number, to: number): boolean {
  return losses.some((loss) => loss.from === from && loss.to === to);
}
