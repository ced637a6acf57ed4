// Hot path: one `put` and one `take` per job; nothing is allocated unless the table grows.

const CELLS_AT_FIRST = 16;
/** 2^32 / the golden ratio: numbers in a row, or in any stride, land far apart. */
const SPREAD = 0x9e3779b1;

/** Values by a whole number above 0. What a Map does, without a new backing store every so many entries that come and go. */
export class NumberTable<T> {
  size = 0;
  /** 0: the cell is free. */
  private keys = new Float64Array(CELLS_AT_FIRST);
  private values: (T | undefined)[] = new Array<T | undefined>(CELLS_AT_FIRST).fill(undefined);
  private shift = 32 - Math.log2(CELLS_AT_FIRST);

  get(key: number): T | undefined {
    return this.values[this.find(key)];
  }

  put(key: number, value: T): void {
    const cell = this.find(key);
    this.values[cell] = value;
    if (this.keys[cell] === key) return;
    this.keys[cell] = key;
    this.size += 1;
    if (this.size * 2 > this.keys.length) this.grow();
  }

  /** Takes the value out. */
  take(key: number): T | undefined {
    const cell = this.find(key);
    const value = this.values[cell];
    if (this.keys[cell] !== key) return undefined;
    this.size -= 1;
    this.close(cell);
    return value;
  }

  *entries(): Generator<readonly [key: number, value: T]> {
    for (let cell = 0; cell < this.keys.length; cell += 1) {
      if (this.keys[cell] !== 0) yield [this.keys[cell] as number, this.values[cell] as T];
    }
  }

  clear(): void {
    this.keys.fill(0);
    this.values.fill(undefined);
    this.size = 0;
  }

  /** The cell of the key, or the free one where it would go. */
  private find(key: number): number {
    const mask = this.keys.length - 1;
    let cell = this.home(key);
    while (this.keys[cell] !== 0 && this.keys[cell] !== key) cell = (cell + 1) & mask;
    return cell;
  }

  private home(key: number): number {
    return Math.imul(key | 0, SPREAD) >>> this.shift;
  }

  /** Those behind a gap that could not be found any more move up. */
  private close(gap: number): void {
    const mask = this.keys.length - 1;
    let free = gap;
    for (let cell = (gap + 1) & mask; this.keys[cell] !== 0; cell = (cell + 1) & mask) {
      const home = this.home(this.keys[cell] as number);
      if (((cell - home) & mask) < ((cell - free) & mask)) continue;
      this.keys[free] = this.keys[cell] as number;
      this.values[free] = this.values[cell];
      free = cell;
    }
    this.keys[free] = 0;
    this.values[free] = undefined;
  }

  private grow(): void {
    const { keys, values } = this;
    this.keys = new Float64Array(keys.length * 2);
    this.values = new Array<T | undefined>(keys.length * 2).fill(undefined);
    this.shift -= 1;
    for (let cell = 0; cell < keys.length; cell += 1) {
      if (keys[cell] === 0) continue;
      const free = this.find(keys[cell] as number);
      this.keys[free] = keys[cell] as number;
      this.values[free] = values[cell];
    }
  }
}
