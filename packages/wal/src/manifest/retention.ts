// Which segments and snapshots may be dropped, as changes of the manifest. Pure.

import type { Manifest, SegmentEntry, SnapshotEntry } from '../format/manifest.js';
import { segmentName } from '../format/segment-header.js';
import { snapshotName } from '../format/snapshot-file.js';

const GENERATIONS = 2;

/** Adds a snapshot. It and its predecessor are kept, with every segment that the older one needs. */
export function withSnapshot(manifest: Manifest, snapshot: SnapshotEntry): Manifest {
  const snapshots = [snapshot, ...manifest.snapshots].slice(0, GENERATIONS);
  const oldest = snapshots.length < GENERATIONS ? undefined : snapshots.at(-1);
  return withoutSegments({ ...manifest, snapshots }, oldest?.lsn ?? 0);
}

/** Drops leading segments whose records are all at or below `lsn`. */
export function withoutSegments(manifest: Manifest, lsn: number): Manifest {
  let { start } = manifest;
  let dropped = 0;
  for (const { sealed } of manifest.segments) {
    if (sealed === undefined || sealed.lsn > lsn) break;
    start = { batch: sealed.batch, lsn: sealed.lsn, crc: sealed.crc };
    dropped += 1;
  }
  return { ...manifest, start, segments: manifest.segments.slice(dropped) };
}

/** The last LSN that `trim` may drop: none that the older snapshot needs. */
export function trimLimit(manifest: Manifest, wanted: number, snapshots: boolean): number {
  if (!snapshots) return wanted;
  if (manifest.snapshots.length < GENERATIONS) return 0;
  return Math.min(wanted, manifest.snapshots.at(-1)?.lsn ?? 0);
}

/** Files that the old manifest lists and the new one does not. */
export function droppedFiles(before: Manifest, after: Manifest): string[] {
  const kept = new Set(listedFiles(after));
  return listedFiles(before).filter((name) => !kept.has(name));
}

function listedFiles(manifest: Manifest): string[] {
  return [
    ...manifest.segments.map((entry: SegmentEntry) => segmentName(entry.seq)),
    ...manifest.snapshots.map((entry) => snapshotName(entry.lsn)),
  ];
}

/** Sealed bytes after the newest snapshot. */
export function sealedBytesAfterSnapshot(manifest: Manifest): number {
  const lsn = manifest.snapshots[0]?.lsn ?? manifest.start.lsn;
  let bytes = 0;
  for (const { sealed } of manifest.segments)
    if (sealed !== undefined && sealed.lsn > lsn) bytes += sealed.end;
  return bytes;
}

export function lastSealedLsn(manifest: Manifest): number {
  let { lsn } = manifest.start;
  for (const { sealed } of manifest.segments) if (sealed !== undefined) lsn = sealed.lsn;
  return lsn;
}
