// Hot path: no allocation per record.
// Who is to be told when a batch is durable, in the order in which they appended.

import type { Durable } from './batch-buffer.js';

export class Waiters {
  private readonly calls: (Durable | undefined)[] = [];
  private readonly lsns: number[] = [];
  private count = 0;

  add(call: Durable, lsn: number): void {
    this.calls[this.count] = call;
    this.lsns[this.count] = lsn;
    this.count += 1;
  }

  /** Tells everyone once and forgets them; what a waiter throws is its own affair and must not keep others waiting. */
  settle(error: Error | null, onThrow: (thrown: unknown) => void): void {
    const count = this.count;
    this.count = 0;
    for (let index = 0; index < count; index += 1) {
      const call = this.calls[index] as Durable; // add() filled every index below count
      this.calls[index] = undefined;
      try {
        call(error, this.lsns[index] as number);
      } catch (thrown) {
        onThrow(thrown);
      }
    }
  }
}
