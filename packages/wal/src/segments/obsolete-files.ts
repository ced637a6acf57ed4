// Files that CURRENT no longer lists. They go once nobody reads them; what cannot be removed now goes at the next open.

import { type Procedure, run } from '../storage/coroutine.js';
import { removeIfThere } from '../storage/file-operations.js';
import type { Storage } from '../storage/storage.js';
import type { SpareSegments } from './spare-segments.js';

export class Removal {
  private readonly storage: Storage;
  private readonly spares: SpareSegments;
  private doomed: string[] = [];
  private readers = 0;
  private running = false;

  constructor(storage: Storage, spares: SpareSegments) {
    this.storage = storage;
    this.spares = spares;
  }

  /** Keeps every file until the returned function is called. */
  pin(): () => void {
    this.readers += 1;
    let pinned = true;
    return () => {
      if (!pinned) return;
      pinned = false;
      this.readers -= 1;
      this.sweep();
    };
  }

  /** Only for names whose disappearance from CURRENT is durable. */
  doom(names: readonly string[]): void {
    this.doomed.push(...names);
    this.sweep();
  }

  private sweep(): void {
    if (this.readers > 0 || this.running || this.doomed.length === 0) return;
    this.running = true;
    run(this.removeAll(), (error) => {
      this.running = false;
      // A file that cannot be removed is only space; the next open tries again.
      if (error === null) this.sweep();
    });
  }

  private *removeAll(): Procedure<void> {
    const names = this.doomed;
    this.doomed = [];
    for (const name of names) {
      if (!(yield* this.spares.keep(name))) yield* removeIfThere(this.storage, name);
    }
  }
}
