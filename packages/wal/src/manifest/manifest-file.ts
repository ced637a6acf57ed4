// CURRENT as this process last wrote it. Every replacement first checks that no other process has taken over.

import { decodeManifest, encodeManifest, type Manifest } from '../format/manifest.js';
import type { Coroutine } from '../storage/coroutine.js';
import { readFile, replaceFile } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import { WalFencedError } from '../wal-error.js';

export class ManifestFile {
  private published: Manifest;
  private readonly storage: Storage;

  constructor(storage: Storage, manifest: Manifest) {
    this.storage = storage;
    this.published = manifest;
  }

  get manifest(): Manifest {
    return this.published;
  }

  *publish(change: (manifest: Manifest) => Manifest): Coroutine<Manifest> {
    yield* this.assertNotFenced();
    const changed = change(this.published);
    yield* replaceFile(this.storage, 'CURRENT', encodeManifest(changed));
    this.published = changed;
    return changed;
  }

  *assertNotFenced(): Coroutine<void> {
    const found = decodeManifest(yield* readFile(this.storage, 'CURRENT'));
    if (found.epoch !== this.published.epoch) throw new WalFencedError(this.published.epoch, found.epoch);
  }
}
