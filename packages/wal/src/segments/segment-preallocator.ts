// Keeps one segment ready ahead of the writer, and writes down in CURRENT which ones are full. Off the hot path.

import type { Committer, RetiredSegment } from '../commit/committer.js';
import type { Manifest, SegmentEntry } from '../format/manifest.js';
import { PAGE_BYTES } from '../format/page.js';
import { segmentName } from '../format/segment-header.js';
import type { WalHost } from '../host/host.js';
import type { ManifestKeeper } from '../manifest/manifest-file.js';
import { call, type Procedure } from '../storage/coroutine.js';
import type { DiskSpace } from '../storage/disk-space.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { prepareSegment } from './prepare-segment.js';
import type { SpareSegments } from './spare-segments.js';

export class SegmentSupply {
  private readonly storage: Storage;
  private readonly host: WalHost;
  private readonly keeper: ManifestKeeper;
  private readonly committer: Committer;
  private readonly segmentBytes: number;
  private readonly space: DiskSpace;
  private readonly spares: SpareSegments;
  /** Prepared and on the disk, but not yet listed: what a failed attempt leaves for the next one. */
  private prepared: SegmentEntry | undefined;

  constructor(
    storage: Storage,
    host: WalHost,
    keeper: ManifestKeeper,
    options: {
      readonly committer: Committer;
      readonly segmentBytes: number;
      readonly space: DiskSpace;
      readonly spares: SpareSegments;
    },
  ) {
    this.storage = storage;
    this.host = host;
    this.keeper = keeper;
    this.committer = options.committer;
    this.segmentBytes = options.segmentBytes;
    this.space = options.space;
    this.spares = options.spares;
  }

  get isDue(): boolean {
    return this.committer.segmentsReady === 0 || this.committer.retired.length > 0;
  }

  *replenish(): Procedure<void> {
    const needsOne = this.committer.segmentsReady === 0;
    if (needsOne && this.prepared === undefined) this.prepared = yield* this.prepare();
    const fresh = this.prepared;
    const retired = [...this.committer.retired];
    yield* this.keeper.publish((manifest) => withSegments(manifest, retired, fresh));
    this.committer.retired.splice(0, retired.length);
    for (const { segment } of retired) yield* call<void>((done) => this.storage.close(segment.file, done));
    if (fresh === undefined) return;
    const name = segmentName(fresh.seq);
    const file = yield* call<StorageFile>((done) => this.storage.open(name, 'durable', done));
    this.prepared = undefined;
    this.committer.provide({ entry: fresh, file, offset: PAGE_BYTES });
  }

  private *prepare(): Procedure<SegmentEntry> {
    const spare = this.spares.take();
    // A log that lives on its own spares still has to notice that others fill the disk.
    yield* this.space.check(spare === undefined ? this.segmentBytes : 0);
    const { segments, storeId } = this.keeper.manifest;
    const seq = (segments.at(-1)?.seq ?? 0) + 1;
    const entry = { seq, bytes: this.segmentBytes, salt: Math.floor(this.host.random() * 2 ** 32) };
    yield* prepareSegment(this.storage, storeId, entry, { spare });
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
