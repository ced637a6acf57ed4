// Hot path: no allocation per record.
// Who is to be told when a batch is durable, in the order in which they appended.

import type { AppendCallback } from './batch-buffer.js';

export class AppendCallbacks {
  private readonly callbacks: (AppendCallback | undefined)[] = [];
  private readonly lsns: number[] = [];
  private count = 0;

  add(callback: AppendCallback, lsn: number): void {
    this.callbacks[this.count] = callback;
    this.lsns[this.count] = lsn;
    this.count += 1;
  }

  /** Tells everyone once and forgets them; what a waiter throws is its own affair and must not keep others waiting. */
  invokeAll(error: Error | null, onThrow: (thrown: unknown) => void): void {
    const count = this.count;
    this.count = 0;
    for (let index = 0; index < count; index += 1) {
      const call = this.callbacks[index] as AppendCallback; // add() filled every index below count
      this.callbacks[index] = undefined;
      try {
        call(error, this.lsns[index] as number);
      } catch (thrown) {
        onThrow(thrown);
      }
    }
  }
}
