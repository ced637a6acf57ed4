// Obsolete segments kept for their disk blocks, to be overwritten as new ones. Their names end in .tmp, so
// the next open removes them after a crash.

import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import type { DiskSpace } from '../storage/disk-space.js';
import type { Storage } from '../storage/storage.js';

/** Without snapshots too, since `trim` frees segments. */
const SPARES_MIN = 2;

export interface SpareSegmentsOptions {
  readonly storage: Storage;
  readonly segmentBytes: number;
  readonly snapshotEveryBytes: number;
}

export class SpareSegments {
  private readonly options: SpareSegmentsOptions;
  private readonly diskSpace: DiskSpace;
  private readonly names: string[] = [];

  constructor(options: SpareSegmentsOptions, diskSpace: DiskSpace) {
    this.options = options;
    this.diskSpace = diskSpace;
  }

  /** False if the file is no segment of the right size, or its space is needed. */
  *keep(name: string): Coroutine<boolean> {
    const { storage, segmentBytes } = this.options;
    const seq = segmentSeqOf(name);
    if (seq === undefined || this.names.length >= this.countMax || this.diskSpace.low !== undefined)
      return false;
    const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
    if (bytes !== segmentBytes) return false;
    const spare = `spare-${segmentName(seq)}.tmp`;
    yield* call<void>((done) => storage.rename(name, spare, done));
    this.names.push(spare);
    return true;
  }

  take(): string | undefined {
    return this.names.shift();
  }

  /** A snapshot frees the segments of one interval at once, and the next interval needs as many. */
  private get countMax(): number {
    const { snapshotEveryBytes, segmentBytes } = this.options;
    return Math.max(SPARES_MIN, Math.ceil(snapshotEveryBytes / segmentBytes) + 1);
  }
}
