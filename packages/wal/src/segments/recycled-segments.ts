// Obsolete segments kept for their disk blocks, to be overwritten as new ones. Only those that this process
// made: a former owner that is not quite dead may still have its own open. Their names end in .tmp, so the
// next open removes them after a crash.

import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import type { DiskSpace } from '../storage/disk-space.js';
import type { Storage } from '../storage/storage.js';

/** Without snapshots too, since `trim` frees segments. */
const RECYCLED_MIN = 2;

export interface RecycledSegmentsOptions {
  readonly storage: Storage;
  readonly segmentBytes: number;
  readonly snapshotEveryBytes: number;
}

export class RecycledSegments {
  private readonly options: RecycledSegmentsOptions;
  private readonly diskSpace: DiskSpace;
  private readonly firstOwnSeq: number;
  private readonly names: string[] = [];

  constructor(options: RecycledSegmentsOptions, diskSpace: DiskSpace, firstOwnSeq: number) {
    this.options = options;
    this.firstOwnSeq = firstOwnSeq;
    this.diskSpace = diskSpace;
  }

  /** False if the file is no segment of this process and of the right size, or its space is needed. */
  *keep(name: string): Coroutine<boolean> {
    const { storage, segmentBytes } = this.options;
    const seq = segmentSeqOf(name);
    if (
      seq === undefined ||
      seq < this.firstOwnSeq ||
      this.names.length >= this.countMax ||
      this.diskSpace.low !== undefined
    )
      return false;
    const bytes = yield* call<number | undefined>((done) => storage.size(name, done));
    if (bytes !== segmentBytes) return false;
    const recycled = `recycled-${segmentName(seq)}.tmp`;
    yield* call<void>((done) => storage.rename(name, recycled, done));
    this.names.push(recycled);
    return true;
  }

  take(): string | undefined {
    return this.names.shift();
  }

  /** A snapshot frees the segments of one interval at once, and the next interval needs as many. */
  private get countMax(): number {
    const { snapshotEveryBytes, segmentBytes } = this.options;
    return Math.max(RECYCLED_MIN, Math.ceil(snapshotEveryBytes / segmentBytes) + 1);
  }
}
