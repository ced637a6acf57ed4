/** How many items a thread may be ahead of its consumer. */
export const STREAM_AHEAD = 32;

export interface StreamSource {
  /** Items were taken: the thread may send as many more. */
  granted(count: number): void;
  /** The consumer wants no more. */
  abandoned(): void;
}

/** The items of a task that returned an AsyncIterable, in the thread of its caller. For one consumer. */
export class TaskStream<T> implements AsyncIterableIterator<T> {
  private readonly source: StreamSource;
  private items: T[] = [];
  private taken = 0;
  private ended = false;
  private error: Error | null = null;
  private waiting: { resolve(result: IteratorResult<T, undefined>): void; reject(error: Error): void }[] = [];

  constructor(source: StreamSource) {
    this.source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.items.length > 0) {
      const value = this.items.shift() as T; // the length was checked
      this.countTaken();
      return Promise.resolve({ done: false, value });
    }
    if (this.error !== null) {
      const { error } = this;
      this.error = null;
      return Promise.reject(error);
    }
    if (this.ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    if (!this.ended) this.source.abandoned();
    this.end(null);
    this.items = [];
    return Promise.resolve({ done: true, value: undefined });
  }

  push(value: T): void {
    if (this.ended) return;
    const consumer = this.waiting.shift();
    if (consumer === undefined) {
      this.items.push(value);
      return;
    }
    this.countTaken();
    consumer.resolve({ done: false, value });
  }

  end(error: Error | null): void {
    if (this.ended) return;
    this.ended = true;
    const first = error === null ? undefined : this.waiting.shift();
    if (error !== null && first !== undefined) first.reject(error);
    else this.error = error;
    for (const { resolve } of this.waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  private countTaken(): void {
    this.taken += 1;
    if (this.taken < STREAM_AHEAD / 2 || this.ended) return;
    this.source.granted(this.taken);
    this.taken = 0;
  }
}

/** A promise that is also the items of a task that returns an AsyncIterable. */
export function asItems(promise: Promise<unknown>): Promise<unknown> {
  (promise as Promise<unknown> & { [Symbol.asyncIterator]: unknown })[Symbol.asyncIterator] = itemsOf;
  return promise;
}

async function* itemsOf(this: Promise<AsyncIterable<unknown>>): AsyncGenerator<unknown> {
  yield* await this;
}
