// Keeps one segment prepared ahead of the committer, and seals full segments in CURRENT. Off the hot path.

import type { Committer, RetiredSegment } from '../commit/committer.js';
import type { EpochFence } from '../fencing/epoch-fence.js';
import type { Manifest, SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page-padding.js';
import { segmentName } from '../format/segment-header.js';
import type { WalHost } from '../host/wal-host.js';
import type { ManifestFile } from '../manifest/manifest-file.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import type { DiskSpace } from '../storage/disk-space.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { prepareSegment, randomSalt } from './prepare-segment.js';
import type { RecycledSegments } from './recycled-segments.js';

export class SegmentRotator {
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly manifestFile: ManifestFile;
  private readonly committer: Committer;
  private readonly fence: EpochFence;
  private readonly segmentBytes: number;
  private readonly diskSpace: DiskSpace;
  private readonly recycledSegments: RecycledSegments;
  /** Prepared but not yet listed: a failed attempt leaves it for the next one. */
  private prepared: SegmentEntry | undefined;

  constructor(
    storage: Storage,
    host: WalHost,
    manifestFile: ManifestFile,
    options: {
      readonly committer: Committer;
      readonly fence: EpochFence;
      readonly segmentBytes: number;
      readonly diskSpace: DiskSpace;
      readonly recycledSegments: RecycledSegments;
    },
  ) {
    this.storage = storage;
    this.host = host;
    this.manifestFile = manifestFile;
    this.committer = options.committer;
    this.fence = options.fence;
    this.segmentBytes = options.segmentBytes;
    this.diskSpace = options.diskSpace;
    this.recycledSegments = options.recycledSegments;
  }

  get isDue(): boolean {
    return this.committer.segmentsReady === 0 || this.committer.retired.length > 0;
  }

  *provideNext(): Coroutine<void> {
    const needsOne = this.committer.segmentsReady === 0;
    if (needsOne && this.prepared === undefined) this.prepared = yield* this.prepare();
    const fresh = this.prepared;
    const retired = [...this.committer.retired];
    yield* this.manifestFile.publish((manifest) => withSegments(manifest, retired, fresh));
    this.committer.retired.splice(0, retired.length);
    for (const { segment } of retired) yield* call<void>((done) => this.storage.close(segment.file, done));
    if (fresh === undefined) return;
    const name = segmentName(fresh.seq);
    const file = yield* call<StorageFile>((done) => this.storage.open(name, 'durable', done));
    this.prepared = undefined;
    this.committer.addSegment({ entry: fresh, file, offset: PAGE_BYTES });
  }

  private *prepare(): Coroutine<SegmentEntry> {
    const recycled = this.recycledSegments.take();
    // A recycled segment needs no space, but other programs may have filled the disk.
    yield* this.diskSpace.check(recycled === undefined ? this.segmentBytes : 0);
    const { segments, storeId } = this.manifestFile.manifest;
    const seq = (segments.at(-1)?.seq ?? 0) + 1;
    const entry = { seq, bytes: this.segmentBytes, salt: randomSalt(this.host) };
    yield* prepareSegment(this.storage, storeId, entry, { recycled, fence: this.fence });
    return entry;
  }
}

function withSegments(
  manifest: Manifest,
  retired: readonly RetiredSegment[],
  fresh: SegmentEntry | undefined,
): Manifest {
  const segments = manifest.segments.map((entry) => {
    const closed = retired.find(({ segment }) => segment.entry.seq === entry.seq);
    return closed === undefined ? entry : { ...entry, sealed: closed.sealed };
  });
  const known = fresh === undefined || segments.some((entry) => entry.seq === fresh.seq);
  return { ...manifest, segments: known ? segments : [...segments, fresh] };
}
