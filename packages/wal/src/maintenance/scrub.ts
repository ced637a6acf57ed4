// Reads all sealed segments, snapshots and blobs, and reports damage while a second copy may exist.

import { isBlobName, readBlob } from '../blob/blob-file.js';
import { type Manifest, positionBefore } from '../format/manifest.js';
import { snapshotName } from '../format/snapshot-file.js';
import { scanSealed } from '../recovery/scan-log.js';
import { verifySnapshot } from '../snapshot/snapshot-reader.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import type { Storage } from '../storage/storage.js';
import { type Damage, WalBlobError, WalCorruptError } from '../wal-error.js';

export interface ScrubReport {
  readonly files: number;
  readonly bytes: number;
  readonly damage: readonly Damage[];
}

/** Damage is reported, not thrown. */
export function* scrub(storage: Storage, manifest: Manifest): Coroutine<ScrubReport> {
  const damage: Damage[] = [];
  let files = 0;
  let bytes = 0;
  for (const [index, entry] of manifest.segments.entries()) {
    const before = positionBefore(manifest, index);
    if (entry.sealed === undefined || before === undefined) continue;
    files += 1;
    bytes += entry.sealed.end;
    yield* collect(
      damage,
      scanSealed(storage, manifest, entry, before, () => undefined),
    );
  }
  for (const entry of manifest.snapshots) {
    files += 1;
    bytes += entry.bytes;
    const reason = yield* verifySnapshot(storage, manifest.storeId, entry);
    if (reason !== undefined)
      damage.push({ file: snapshotName(entry.lsn), offset: 0, lastLsn: entry.lsn, reason });
  }
  for (const name of yield* call<string[]>((done) => storage.list('blobs', done))) {
    if (!isBlobName(name)) continue;
    const size = (yield* call<number | undefined>((done) => storage.size(`blobs/${name}`, done))) ?? 0;
    files += 1;
    bytes += size;
    yield* collect(damage, readBlob(storage, { sha256: name, bytes: size }));
  }
  return { files, bytes, damage };
}

function* collect(damage: Damage[], check: Coroutine<unknown>): Coroutine<void> {
  try {
    yield* check;
  } catch (error) {
    if (error instanceof WalCorruptError) damage.push(error.damage);
    else if (error instanceof WalBlobError)
      damage.push({ file: `blobs/${error.sha256}`, offset: 0, reason: error.message });
    else throw error;
  }
}
