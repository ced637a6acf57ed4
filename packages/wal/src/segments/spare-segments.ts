// Segments that are no longer needed, kept for their blocks. They are drafts by name, so a crash forgets them.

import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import type { LogSettings } from '../log/options.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import type { DiskSpace } from '../storage/disk-space.js';

/** Also without snapshots: a log may be trimmed. */
const SPARES_MIN = 2;

export class SpareSegments {
  private readonly settings: LogSettings;
  private readonly diskSpace: DiskSpace;
  private readonly names: string[] = [];

  constructor(settings: LogSettings, space: DiskSpace) {
    this.settings = settings;
    this.diskSpace = space;
  }

  /** False if the file is of no use here, or its space is wanted elsewhere. */
  *keep(name: string): Coroutine<boolean> {
    const { storage, segmentBytes } = this.settings;
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

  /** A snapshot lets go of all that was written between two others at one stroke, and before the next one as much is needed again. */
  private get countMax(): number {
    const { snapshotEveryBytes, segmentBytes } = this.settings;
    return Math.max(SPARES_MIN, Math.ceil(snapshotEveryBytes / segmentBytes) + 1);
  }
}
