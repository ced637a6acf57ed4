// Hot path: one `push` and one `pop` for every job that ends.

/** An entry has four children, so that it moves half as often as in a binary heap. */
const CHILD_BITS = 2;
const CHILDREN = 1 << CHILD_BITS;

/**
 * Numbers by time, earliest first; equal times by number. Typed arrays: a million entries are grown by a copy
 * of a few megabytes, and the garbage collector does not visit them.
 */
export class TimedHeap {
  size = 0;
  private times = new Float64Array(16);
  private numbers = new Float64Array(16);

  /** The earliest time, or Infinity. */
  get nextAt(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.times[0] as number);
  }

  push(time: number, number: number): void {
    if (this.size === this.times.length) this.resize(2 * this.size);
    this.size += 1;
    this.rise(this.size - 1, time, number);
  }

  pop(): number | undefined {
    if (this.size === 0) return undefined;
    const first = this.numbers[0];
    const last = this.size - 1;
    this.size = last;
    if (last > 0) this.rise(this.sinkGap(0), this.times[last] as number, this.numbers[last] as number);
    if (last > 16 && last * CHILDREN < this.times.length) this.resize(2 * last);
    return first;
  }

  private resize(capacity: number): void {
    this.times = resized(this.times, capacity);
    this.numbers = resized(this.numbers, capacity);
  }

  /** Puts an entry into the gap at `at`, or as far above it as the order demands. */
  private rise(at: number, time: number, number: number): void {
    const { times, numbers } = this;
    let gap = at;
    while (gap > 0) {
      const up = (gap - 1) >> CHILD_BITS;
      const upTime = times[up] as number;
      if (upTime < time || (upTime === time && (numbers[up] as number) <= number)) break;
      times[gap] = upTime;
      numbers[gap] = numbers[up] as number;
      gap = up;
    }
    times[gap] = time;
    numbers[gap] = number;
  }

  /** Moves the earliest child into the gap, down to the last level. Returns the place of the gap then. */
  private sinkGap(at: number): number {
    const { times, numbers, size } = this;
    let gap = at;
    for (;;) {
      let child = CHILDREN * gap + 1;
      if (child >= size) return gap;
      const end = Math.min(child + CHILDREN, size);
      let time = times[child] as number;
      for (let i = child + 1; i < end; i += 1) {
        const other = times[i] as number;
        if (other > time || (other === time && (numbers[i] as number) > (numbers[child] as number))) continue;
        child = i;
        time = other;
      }
      times[gap] = time;
      numbers[gap] = numbers[child] as number;
      gap = child;
    }
  }
}

function resized(old: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const array = new Float64Array(capacity);
  array.set(old.length <= capacity ? old : old.subarray(0, capacity));
  return array;
}
