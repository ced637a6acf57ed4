// Files that CURRENT no longer lists. They go once nobody reads them; what cannot be removed now goes at the next open.

import { type Coroutine, runCoroutine } from '../storage/coroutine.js';
import { removeIfThere } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import type { SpareSegments } from './spare-segments.js';

export class ObsoleteFiles {
  private readonly storage: Storage;
  private readonly spares: SpareSegments;
  private names: string[] = [];
  private pins = 0;
  private isRemoving = false;

  constructor(storage: Storage, spares: SpareSegments) {
    this.storage = storage;
    this.spares = spares;
  }

  /** Keeps every file until the returned function is called. */
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

  /** Only for names whose disappearance from CURRENT is durable. */
  add(names: readonly string[]): void {
    this.names.push(...names);
    this.removeUnpinned();
  }

  private removeUnpinned(): void {
    if (this.pins > 0 || this.isRemoving || this.names.length === 0) return;
    this.isRemoving = true;
    runCoroutine(this.removeAll(), (error) => {
      this.isRemoving = false;
      // A file that cannot be removed is only space; the next open tries again.
      if (error === null) this.removeUnpinned();
    });
  }

  private *removeAll(): Coroutine<void> {
    const names = this.names;
    this.names = [];
    for (const name of names) {
      if (!(yield* this.spares.keep(name))) yield* removeIfThere(this.storage, name);
    }
  }
}
