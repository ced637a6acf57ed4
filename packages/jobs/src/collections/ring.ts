/** A double-ended queue on a circular array. A removed value is cleared, so that it can be collected. */
export class Ring<T> {
  private slots: (T | undefined)[] = new Array<T | undefined>(8).fill(undefined);
  private head = 0;
  size = 0;

  push(value: T): void {
    if (this.size === this.slots.length) this.grow();
    this.slots[(this.head + this.size) & (this.slots.length - 1)] = value;
    this.size += 1;
  }

  unshift(value: T): void {
    if (this.size === this.slots.length) this.grow();
    this.head = (this.head - 1) & (this.slots.length - 1);
    this.slots[this.head] = value;
    this.size += 1;
  }

  peek(): T | undefined {
    return this.size === 0 ? undefined : this.slots[this.head];
  }

  at(index: number): T | undefined {
    return index < this.size ? this.slots[(this.head + index) & (this.slots.length - 1)] : undefined;
  }

  put(index: number, value: T): void {
    if (index < this.size) this.slots[(this.head + index) & (this.slots.length - 1)] = value;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const value = this.slots[this.head];
    this.slots[this.head] = undefined;
    this.head = (this.head + 1) & (this.slots.length - 1);
    this.size -= 1;
    return value;
  }

  /** Removes every value for which `isWanted` is false; the others keep their order. */
  keep(isWanted: (value: T) => boolean): void {
    for (let left = this.size; left > 0; left -= 1) {
      const value = this.shift() as T;
      if (isWanted(value)) this.push(value);
    }
  }

  private grow(): void {
    const old = this.slots;
    const slots = new Array<T | undefined>(old.length * 2).fill(undefined);
    for (let i = 0; i < this.size; i += 1) slots[i] = old[(this.head + i) & (old.length - 1)];
    this.slots = slots;
    this.head = 0;
  }
}
