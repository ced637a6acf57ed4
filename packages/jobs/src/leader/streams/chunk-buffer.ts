// Hot path: `push`, `at` and `shift` run once per chunk.
import type { Payload } from '../../job/payload/payload.js';

/** Dropped chunks at the front of the array before it is copied. */
const DROPPED_MAX = 1_024;

/** The chunks of one attempt that are in memory, `base` up to `next`. */
export class ChunkBuffer {
  base = 0;
  next = 0;
  bytes = 0;
  private chunks: Payload[] = [];
  /** The index of chunk `base`. */
  private head = 0;

  push(chunk: Payload): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    this.next += 1;
  }

  /** `base` ≤ offset < `next`. */
  at(offset: number): Payload {
    return this.chunks[this.head + offset - this.base] as Payload;
  }

  slice(from: number, to: number): Payload[] {
    const shift = this.head - this.base;
    return this.chunks.slice(from + shift, to + shift);
  }

  /** Drops chunk `base`, and returns its size. */
  shift(): number {
    const { length } = this.at(this.base);
    this.chunks[this.head] = '';
    this.head += 1;
    this.base += 1;
    this.bytes -= length;
    if (this.head > DROPPED_MAX && this.head * 2 > this.chunks.length) {
      this.chunks = this.chunks.slice(this.head);
      this.head = 0;
    }
    return length;
  }

  /** Without chunks, and the next one is `offset`. */
  clear(offset: number): void {
    this.chunks = [];
    this.head = 0;
    this.bytes = 0;
    this.base = offset;
    this.next = offset;
  }
}
