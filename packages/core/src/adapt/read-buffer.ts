/** Between the actor and the reader. A put that fills it does not settle before there is room again. */
export class ReadBuffer<T> {
  private readonly capacity: number;
  private readonly items: T[] = [];
  private readonly readers: ((result: IteratorResult<T, undefined>) => void)[] = [];
  private hasRoom: (() => void) | undefined = undefined;
  private closed = false;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  put(item: T): Promise<void> | undefined {
    const reader = this.readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: item });
      return undefined;
    }
    this.items.push(item);
    if (this.items.length < this.capacity) return undefined;
    return new Promise((resolve) => {
      this.hasRoom = resolve;
    });
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.items.length > 0) {
      const value = this.items.shift() as T;
      this.hasRoom?.();
      this.hasRoom = undefined;
      return Promise.resolve({ done: false, value });
    }
    if (this.closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.readers.push(resolve));
  }

  close(): void {
    this.closed = true;
    this.hasRoom?.();
    for (const reader of this.readers.splice(0)) reader({ done: true, value: undefined });
  }
}
