// Work beside the hot path, one piece at a time: whatever replaces CURRENT must not overlap with another replacement.

import { type Procedure, run } from '../storage/procedure.js';
import type { Done } from '../storage/storage.js';

export class Chores {
  readonly #queue: (() => void)[] = [];
  #running = false;

  get isIdle(): boolean {
    return !this.#running;
  }

  add<T>(start: () => Procedure<T>, done: Done<T>): void {
    this.#queue.push(() => {
      run(start(), (error, value) => {
        this.#running = false;
        done(error, value);
        this.#next();
      });
    });
    this.#next();
  }

  #next(): void {
    if (this.#running) return;
    const start = this.#queue.shift();
    if (start === undefined) return;
    this.#running = true;
    start();
  }
}
