import type { Committer } from '../commit/committer.js';
import type { Manifest, SegmentEntry } from '../format/manifest.js';

/** The manifest for readers: only segments with durable records, each with its present end. */
export function manifestForReaders(manifest: Manifest, committer: Committer): Manifest {
  const segments: SegmentEntry[] = [];
  for (const entry of manifest.segments) {
    const retired = committer.retired.find(({ segment }) => segment.entry.seq === entry.seq);
    if (entry.sealed !== undefined) segments.push(entry);
    else if (retired !== undefined) segments.push({ ...entry, sealed: retired.sealed });
    else if (entry.seq === committer.activeSeq) segments.push({ ...entry, sealed: committer.activeEnd });
  }
  return { ...manifest, segments };
}
