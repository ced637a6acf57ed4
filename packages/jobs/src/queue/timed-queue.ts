// Hot path: `push` and `pop` run once per job that ends.
import { TimedHeap } from './timed-heap.js';

/** How far back a value that comes a little late is sorted in. */
const SORTED_BACK_MAX = 32;

/**
 * Values by time, earliest first, equal times by `order`: what a heap would give, in the same order. Where nearly all come in
 * that order already, as ends of jobs do, they stand in a ring and cost no climbing; the others are in a heap beside it.
 */
export class TimedQueue<T> {
  private times = new Float64Array(8);
  private orders = new Float64Array(8);
  private values: (T | undefined)[] = new Array<T | undefined>(8).fill(undefined);
  private head = 0;
  private ringed = 0;
  private readonly late = new TimedHeap<T>();

  get size(): number {
    return this.ringed + this.late.size;
  }

  /** The earliest time, or Infinity. */
  get nextAt(): number {
    const first = this.ringed === 0 ? Number.POSITIVE_INFINITY : (this.times[this.head] as number);
    return this.late.size === 0 ? first : Math.min(first, this.late.nextAt);
  }

  push(time: number, value: T, order: number): void {
    if (this.ringed === this.times.length) this.grow();
    let free = this.ringed;
    for (; free > 0; free -= 1) {
      const before = this.slot(free - 1);
      if (!comesBefore(time, order, this.times[before] as number, this.orders[before] as number)) break;
      if (this.ringed - free === SORTED_BACK_MAX) return this.late.push(time, value, order);
    }
    for (let i = this.ringed; i > free; i -= 1) this.copy(this.slot(i - 1), this.slot(i));
    const slot = this.slot(free);
    this.times[slot] = time;
    this.orders[slot] = order;
    this.values[slot] = value;
    this.ringed += 1;
  }

  pop(): T | undefined {
    if (this.late.size > 0 && this.lateIsNext()) return this.late.pop();
    if (this.ringed === 0) return undefined;
    const value = this.values[this.head];
    this.values[this.head] = undefined;
    this.head = this.slot(1);
    this.ringed -= 1;
    return value;
  }

  private lateIsNext(): boolean {
    if (this.ringed === 0) return true;
    const { head, late } = this;
    return comesBefore(late.nextAt, late.nextOrder, this.times[head] as number, this.orders[head] as number);
  }

  private slot(index: number): number {
    return (this.head + index) & (this.times.length - 1);
  }

  private copy(from: number, to: number): void {
    this.times[to] = this.times[from] as number;
    this.orders[to] = this.orders[from] as number;
    this.values[to] = this.values[from];
  }

  private grow(): void {
    const size = this.times.length * 2;
    const times = new Float64Array(size);
    const orders = new Float64Array(size);
    const values = new Array<T | undefined>(size).fill(undefined);
    for (let i = 0; i < this.ringed; i += 1) {
      const slot = this.slot(i);
      times[i] = this.times[slot] as number;
      orders[i] = this.orders[slot] as number;
      values[i] = this.values[slot];
    }
    this.times = times;
    this.orders = orders;
    this.values = values;
    this.head = 0;
  }
}

function comesBefore(time: number, order: number, otherTime: number, otherOrder: number): boolean {
  return time < otherTime || (time === otherTime && order < otherOrder);
}
