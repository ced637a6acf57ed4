import type { RingPositions } from '@troupe/core';
import { isRingSettled, ringNumber, ringPositions } from '../../ring/byte-ring.js';
import { messagesIn } from './node-record-reader.js';

/** Both rings between two threads. */
export type RingPair = readonly [SharedArrayBuffer, SharedArrayBuffer];

/**
 * The rings between all threads. When one of two threads ends, the other accounts for the records between
 * them; if it ends too before it could, the main thread does.
 */
export class RetiredRings {
  private readonly present = new Map<string, RingPair>();
  private retired: { readonly left: number; readonly rings: RingPair }[] = [];

  /** The rings between two threads from now on. */
  use(a: number, b: number, rings: RingPair): void {
    this.present.set(keyOf(a, b), rings);
  }

  /** Of a ring that a thread may use; undefined for one that is settled. */
  positionsOf(ring: number): RingPositions | undefined {
    const pairs = [...this.present.values(), ...this.retired.map(({ rings }) => rings)];
    const memory = pairs.flat().find((one) => ringNumber(one) === ring);
    return memory === undefined ? undefined : ringPositions(memory);
  }

  /**
   * A thread has ended. `others`: those that may end, which the main one does not. Returns the messages for
   * which no thread is left to account.
   */
  threadEnded(thread: number, others: readonly number[]): number {
    const orphaned = this.retired.filter(({ left }) => left === thread);
    this.retired = this.retired.filter(({ left, rings }) => left !== thread && !rings.every(isRingSettled));
    for (const other of others) {
      const rings = this.present.get(keyOf(thread, other));
      if (rings !== undefined) this.retired.push({ left: other, rings });
    }
    return orphaned.flatMap(({ rings }) => rings).reduce((sum, ring) => sum + messagesIn(ring), 0);
  }
}

function keyOf(a: number, b: number): string {
  return `${Math.min(a, b)}-${Math.max(a, b)}`;
}
