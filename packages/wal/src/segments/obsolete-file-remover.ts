// Files that CURRENT no longer lists. They are removed once no reader pins them, or else at the next open.

import type { EpochFence } from '../fencing/epoch-fence.js';
import { type Coroutine, runCoroutine } from '../storage/coroutine.js';
import { removeIfThere } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import type { RecycledSegments } from './recycled-segments.js';

export class ObsoleteFileRemover {
  private readonly storage: Storage;
  private readonly fence: EpochFence;
  private readonly recycledSegments: RecycledSegments;
  private names: string[] = [];
  private pins = 0;
  private isRemoving = false;

  constructor(storage: Storage, fence: EpochFence, recycledSegments: RecycledSegments) {
    this.storage = storage;
    this.fence = fence;
    this.recycledSegments = recycledSegments;
  }

  /** Keeps all files until the returned function is called. */
  pin(): () => void {
    this.pins += 1;
    let pinned = true;
    return () => {
      if (!pinned) return;
      pinned = false;
      this.pins -= 1;
      this.removeUnpinned();
    };
  }

  /** Only for names that a durable CURRENT no longer lists. */
  add(names: readonly string[]): void {
    this.names.push(...names);
    this.removeUnpinned();
  }

  private removeUnpinned(): void {
    if (this.pins > 0 || this.isRemoving || this.names.length === 0) return;
    this.isRemoving = true;
    runCoroutine(this.removeAll(), (error) => {
      this.isRemoving = false;
      // A file that cannot be removed only takes space; the next open tries again.
      if (error === null) this.removeUnpinned();
    });
  }

  private *removeAll(): Coroutine<void> {
    const names = this.names;
    this.names = [];
    for (const name of names) {
      // Another process may list the file.
      this.fence.assert();
      if (!(yield* this.recycledSegments.keep(name))) yield* removeIfThere(this.storage, name);
    }
  }
}
