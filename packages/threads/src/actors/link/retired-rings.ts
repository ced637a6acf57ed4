import { isRingSettled } from '../../ring/byte-ring.js';
import { messagesIn } from './node-record-reader.js';

/** Both rings between two threads. */
export type RingPair = readonly [SharedArrayBuffer, SharedArrayBuffer];

/**
 * Rings between threads other than the main one. When one of two threads ends, the other accounts for the
 * records between them; if it ends too before it could, the main thread does.
 */
export class RetiredRings {
  private readonly present = new Map<string, RingPair>();
  private retired: { readonly left: number; readonly rings: RingPair }[] = [];

  /** The rings between two threads from now on. */
  use(a: number, b: number, rings: RingPair): void {
    this.present.set(keyOf(a, b), rings);
  }

  /** A thread has ended. Returns the messages for which no thread is left to account. */
  threadEnded(thread: number, others: readonly number[]): number {
    const orphaned = this.retired.filter(({ left }) => left === thread);
    this.retired = this.retired.filter(({ left, rings }) => left !== thread && !rings.every(isRingSettled));
    for (const other of others) {
      const rings = this.present.get(keyOf(thread, other));
      if (rings !== undefined) this.retired.push({ left: other, rings });
    }
    return orphaned
      .flatMap(({ rings }) => rings.filter((ring) => !isRingSettled(ring)))
      .reduce((sum, ring) => sum + messagesIn(ring), 0);
  }
}

function keyOf(a: number, b: number): string {
  return `${Math.min(a, b)}-${Math.max(a, b)}`;
}
