// CURRENT as this process last wrote it. It is not replaced once another process has opened the directory.

import type { EpochFence } from '../fencing/epoch-fence.js';
import { encodeManifest, type Manifest } from '../format/manifest.js';
import type { Coroutine } from '../storage/coroutine.js';

export class ManifestFile {
  private published: Manifest;
  private readonly fence: EpochFence;

  constructor(fence: EpochFence, manifest: Manifest) {
    this.fence = fence;
    this.published = manifest;
  }

  get manifest(): Manifest {
    return this.published;
  }

  *publish(change: (manifest: Manifest) => Manifest): Coroutine<Manifest> {
    const changed = change(this.published);
    yield* this.fence.replaceFile('CURRENT', encodeManifest(changed));
    this.published = changed;
    return changed;
  }
}
