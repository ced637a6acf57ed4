import type { Position } from '../format/batch.js';
import type { Manifest, SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import type { LogEnd } from './scan-log.js';

/** A batch that is copied to another segment: its own segment ends before it. */
export interface MovedBatch {
  readonly index: number;
  readonly offset: number;
  readonly before: Position;
}

/** Records the end of every old segment; empty ones are dropped. */
export function sealSegments(old: Manifest, end: LogEnd, moved: MovedBatch | undefined): SegmentEntry[] {
  const sealed: SegmentEntry[] = [];
  for (const [index, entry] of old.segments.entries()) {
    if (entry.sealed !== undefined) {
      sealed.push(entry);
      continue;
    }
    const reached =
      moved?.index === index ? { offset: moved.offset, position: moved.before } : end.ends.get(index);
    if (reached === undefined || reached.offset === PAGE_BYTES) continue;
    const { batch, lsn, crc } = reached.position;
    sealed.push({ ...entry, sealed: { end: reached.offset, batch, lsn, crc } });
  }
  return sealed;
}
