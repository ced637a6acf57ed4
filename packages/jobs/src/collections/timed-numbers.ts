// Hot path: `push` and `pop` run once per job that ends.
import { TimedHeap } from './timed-heap.js';

/** How far back a number that comes a little late is sorted in. */
const SORTED_BACK_MAX = 32;

/**
 * Numbers by time, earliest first, equal times by number: what a heap would give, in the same order. Where times nearly always go
 * up, as ends of jobs do, they stand in a ring and cost no climbing; the others are in a heap beside it. Numbers of one time come in any order, since
 * all ends of a turn share it: they are sorted when the first of them is wanted.
 */
export class TimedNumbers {
  private times = new Float64Array(8);
  private numbers = new Float64Array(8);
  private head = 0;
  private ringed = 0;
  /** So many from the head on are in order. */
  private sorted = 0;
  private readonly late = new TimedHeap<number>();

  get size(): number {
    return this.ringed + this.late.size;
  }

  /** The earliest time, or Infinity. */
  get nextAt(): number {
    const first = this.ringed === 0 ? Number.POSITIVE_INFINITY : (this.times[this.head] as number);
    return this.late.size === 0 ? first : Math.min(first, this.late.nextAt);
  }

  push(time: number, number: number): void {
    if (this.ringed === this.times.length) this.grow();
    let free = this.ringed;
    for (; free > 0 && time < (this.times[this.slot(free - 1)] as number); free -= 1) {
      if (this.ringed - free === SORTED_BACK_MAX) return this.late.push(time, number, number);
    }
    for (let i = this.ringed; i > free; i -= 1) this.copy(this.slot(i - 1), this.slot(i));
    const slot = this.slot(free);
    this.times[slot] = time;
    this.numbers[slot] = number;
    this.ringed += 1;
    // It may be of the time that was sorted, or stand before it.
    if (free <= this.sorted) this.sorted = 0;
  }

  pop(): number | undefined {
    if (this.ringed > 0 && this.sorted === 0) this.sortFirst();
    if (this.late.size > 0 && this.lateIsNext()) return this.late.pop();
    if (this.ringed === 0) return undefined;
    const number = this.numbers[this.head];
    this.head = this.slot(1);
    this.ringed -= 1;
    this.sorted -= 1;
    return number;
  }

  /** Those of the earliest time in the ring. */
  private sortFirst(): void {
    const time = this.times[this.head];
    let count = 1;
    let inOrder = true;
    for (; count < this.ringed && this.times[this.slot(count)] === time; count += 1)
      inOrder &&= this.numberAt(count - 1) < this.numberAt(count);
    this.sorted = count;
    if (inOrder) return;
    const numbers = Float64Array.from({ length: count }, (_, i) => this.numberAt(i)).sort();
    for (let i = 0; i < count; i += 1) this.numbers[this.slot(i)] = numbers[i] as number;
  }

  private lateIsNext(): boolean {
    if (this.ringed === 0) return true;
    const time = this.times[this.head] as number;
    const { late } = this;
    return late.nextAt < time || (late.nextAt === time && late.nextOrder < this.numberAt(0));
  }

  private numberAt(index: number): number {
    return this.numbers[this.slot(index)] as number;
  }

  private slot(index: number): number {
    return (this.head + index) & (this.times.length - 1);
  }

  private copy(from: number, to: number): void {
    this.times[to] = this.times[from] as number;
    this.numbers[to] = this.numbers[from] as number;
  }

  private grow(): void {
    const times = new Float64Array(this.times.length * 2);
    const numbers = new Float64Array(times.length);
    for (let i = 0; i < this.ringed; i += 1) {
      times[i] = this.times[this.slot(i)] as number;
      numbers[i] = this.numberAt(i);
    }
    this.times = times;
    this.numbers = numbers;
    this.head = 0;
  }
}
