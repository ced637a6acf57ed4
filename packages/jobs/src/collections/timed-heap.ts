// Hot path: one `push` and one `pop` for every job that ends.

/** An entry has four children, so that it moves half as often as in a binary heap. */
const CHILD_BITS = 2;
const CHILDREN = 1 << CHILD_BITS;

/** Values by time, earliest first; equal times by `order`. Parallel arrays, no object per entry. */
export class TimedHeap<T> {
  private readonly times: number[] = [];
  private readonly orders: number[] = [];
  private readonly values: T[] = [];

  get size(): number {
    return this.times.length;
  }

  /** The earliest time, or Infinity. */
  get nextAt(): number {
    return this.times.length === 0 ? Number.POSITIVE_INFINITY : (this.times[0] as number);
  }

  push(time: number, value: T, order: number): void {
    this.times.push(time);
    this.orders.push(order);
    this.values.push(value);
    this.rise(this.times.length - 1, time, order, value);
  }

  pop(): T | undefined {
    if (this.times.length === 0) return undefined;
    const first = this.values[0];
    const time = this.times.pop() as number;
    const order = this.orders.pop() as number;
    const value = this.values.pop() as T;
    if (this.times.length > 0) this.rise(this.sinkGap(0), time, order, value);
    return first;
  }

  /** Removes every value for which `isWanted` is false. */
  keep(isWanted: (value: T) => boolean): void {
    const { times, orders, values } = this;
    let kept = 0;
    for (let i = 0; i < times.length; i += 1) {
      if (!isWanted(values[i] as T)) continue;
      this.rise(kept, times[i] as number, orders[i] as number, values[i] as T);
      kept += 1;
    }
    times.length = kept;
    orders.length = kept;
    values.length = kept;
  }

  /** Puts an entry into the gap at `at`, or as far above it as the order demands. */
  private rise(at: number, time: number, order: number, value: T): void {
    const { times, orders, values } = this;
    let gap = at;
    while (gap > 0) {
      const up = (gap - 1) >> CHILD_BITS;
      const upTime = times[up] as number;
      if (upTime < time || (upTime === time && (orders[up] as number) <= order)) break;
      times[gap] = upTime;
      orders[gap] = orders[up] as number;
      values[gap] = values[up] as T;
      gap = up;
    }
    times[gap] = time;
    orders[gap] = order;
    values[gap] = value;
  }

  /** Moves the earliest child into the gap, down to the last level. Returns the place of the gap then. */
  private sinkGap(at: number): number {
    const { times, orders, values } = this;
    let gap = at;
    for (;;) {
      let child = CHILDREN * gap + 1;
      if (child >= times.length) return gap;
      const end = Math.min(child + CHILDREN, times.length);
      let time = times[child] as number;
      for (let i = child + 1; i < end; i += 1) {
        const other = times[i] as number;
        if (other > time || (other === time && (orders[i] as number) > (orders[child] as number))) continue;
        child = i;
        time = other;
      }
      times[gap] = time;
      orders[gap] = orders[child] as number;
      values[gap] = values[child] as T;
      gap = child;
    }
  }
}
