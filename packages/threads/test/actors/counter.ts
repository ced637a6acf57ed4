import { threadId } from 'node:worker_threads';
import { type AnyRef, defineActor, fromClass, type Ref } from '@troupe/core';

export interface Counter {
  add(n: number): void;
  total(): number;
  thread(): number;
  echo(value: unknown): unknown;
  crash(text: string): void;
  give(payload: { to: Ref<Counter>; n: number }): void;
  self(): AnyRef;
  byteLength(buffer: ArrayBuffer): number;
  spin(ms: number): void;
  exit(code: number): void;
  allocate(): void;
  notCloneable(): unknown;
}

export const Counter = defineActor.of<Counter>()('counter', {
  state: (first: number | undefined) => ({ total: first ?? 0 }),
  handlers: {
    add: (ctx, n) => {
      ctx.state.total += n;
    },
    total: (ctx) => ctx.state.total,
    thread: () => threadId,
    echo: (_ctx, value) => value,
    crash: (_ctx, text) => {
      throw new RangeError(text);
    },
    give: (_ctx, { to, n }) => to.tell.add(n),
    self: (ctx) => ctx.self,
    byteLength: (_ctx, buffer) => buffer.byteLength,
    spin: (_ctx, ms) => {
      const until = performance.now() + ms;
      while (performance.now() < until);
    },
    exit: (_ctx, code) => process.exit(code),
    // Yields in between: on Node 24 a loop that does not may end the process.
    allocate: async () => {
      const kept: number[][] = [];
      for (;;) {
        for (let count = 0; count < 50; count += 1) kept.push(new Array<number>(10_000).fill(count));
        await new Promise(setImmediate);
      }
    },
    notCloneable: () => ({ inner: [1, () => 2] }),
  },
});

export const Order = defineActor('order', {
  state: () => [] as number[],
  handlers: {
    take(ctx, { n }: { n: number; bytes: Uint8Array }) {
      ctx.state.push(n);
    },
    taken: (ctx) => ctx.state,
  },
});

export const Slow = defineActor('slow', {
  state: () => ({ handled: 0 }),
  mailbox: { capacity: 100 },
  handlers: {
    work(ctx, _n: number) {
      ctx.state.handled += 1;
      const until = performance.now() + 0.02;
      while (performance.now() < until);
    },
    handled: (ctx) => ctx.state.handled,
  },
});

/** Sends in small slices, as fast as it is allowed to. */
export const Source = defineActor('source', {
  state: () => ({ sent: 0 }),
  handlers: {
    run(ctx, { to, count }: { to: Ref<{ work(n: number): void }>; count: number }) {
      for (let n = 0; n < 100; n += 1) to.tell.work(n);
      ctx.state.sent += 100;
      if (ctx.state.sent < count) Source.self(ctx).tell.run({ to, count });
    },
    sent: (ctx) => ctx.state.sent,
  },
});

export interface Price {
  readonly id: number;
  readonly price: number;
  readonly symbol: string;
}

export interface Prices {
  price(price: Price): void;
  spread(price: Price): number;
  seen(): readonly Price[];
}

export const Prices = defineActor.of<Prices>()('prices', {
  state: () => [] as Price[],
  handlers: {
    price: (ctx, price) => void ctx.state.push(price),
    spread: (_ctx, { price }) => price / 2,
    seen: (ctx) => ctx.state,
  },
  layouts: {
    price: { id: 'uint32', price: 'float64', symbol: 'text:8' },
    spread: { id: 'uint32', price: 'float64', symbol: 'text:8' },
  },
});

/** Sends prices from its own thread. */
export const Feed = defineActor('feed', {
  handlers: {
    run(_ctx, { to, count }: { to: Ref<Prices>; count: number }) {
      for (let id = 0; id < count; id += 1) to.tell.price({ id, price: id / 4, symbol: `S${id % 3}` });
    },
  },
});

/** Its handlers have a limit of their own. */
export const Limited = defineActor('limited', {
  middleware: [{ name: 'limit', beforeMessage: () => ({ verdict: 'continue' as const, withinMs: 200 }) }],
  handlers: {
    loop() {
      for (;;);
    },
    wait: () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), 20)),
  },
});

class TallyOfWords {
  private readonly words: string[] = [];

  add(word: string): void {
    this.words.push(`${word}@${threadId}`);
  }

  all(): readonly string[] {
    return this.words;
  }
}

export const Tally = fromClass('tally', TallyOfWords, { module: import.meta.url });
