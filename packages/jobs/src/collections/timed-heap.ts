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

  /** The order of the earliest, or Infinity. */
  get nextOrder(): number {
    return this.orders.length === 0 ? Number.POSITIVE_INFINITY : (this.orders[0] as number);
  }

  peek(): T | undefined {
    return this.values[0];
  }

  push(time: number, value: T, order: number): void {
    this.times.push(time);
    this.orders.push(order);
    this.values.push(value);
    this.rise(this.times.length - 1);
  }

  pop(): T | undefined {
    if (this.times.length === 0) return undefined;
    const first = this.values[0];
    const time = this.times.pop() as number;
    const order = this.orders.pop() as number;
    const value = this.values.pop() as T;
    if (this.times.length > 0) {
      this.times[0] = time;
      this.orders[0] = order;
      this.values[0] = value;
      this.sink(0);
    }
    return first;
  }

  /** Keeps what `wanted` says. */
  keep(wanted: (value: T) => boolean): void {
    const { times, orders, values } = this;
    let kept = 0;
    for (let i = 0; i < times.length; i += 1) {
      if (!wanted(values[i] as T)) continue;
      times[kept] = times[i] as number;
      orders[kept] = orders[i] as number;
      values[kept] = values[i] as T;
      kept += 1;
    }
    times.length = kept;
    orders.length = kept;
    values.length = kept;
    for (let i = (kept >> 1) - 1; i >= 0; i -= 1) this.sink(i);
  }

  private rise(from: number): void {
    let at = from;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!this.before(at, up)) return;
      this.swap(at, up);
      at = up;
    }
  }

  private sink(from: number): void {
    const size = this.times.length;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= size) return;
      const right = left + 1;
      const down = right < size && this.before(right, left) ? right : left;
      if (!this.before(down, at)) return;
      this.swap(at, down);
      at = down;
    }
  }

  private before(a: number, b: number): boolean {
    const ta = this.times[a] as number;
    const tb = this.times[b] as number;
    return ta < tb || (ta === tb && (this.orders[a] as number) < (this.orders[b] as number));
  }

  private swap(a: number, b: number): void {
    const time = this.times[a] as number;
    const order = this.orders[a] as number;
    const value = this.values[a] as T;
    this.times[a] = this.times[b] as number;
    this.orders[a] = this.orders[b] as number;
    this.values[a] = this.values[b] as T;
    this.times[b] = time;
    this.orders[b] = order;
    this.values[b] = value;
  }
}
