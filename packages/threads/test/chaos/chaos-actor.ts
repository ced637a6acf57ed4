import { defineActor, type Ref } from '@troupe/core';

/** Words of the counts that all threads share: messages to chaos actors that were sent, and that were begun. */
export const SENT = 0;
export const BEGUN = 1;
/** Set by a message that has overtaken another of its sender. */
export const OVERTAKEN = 2;
/** Then the highest number that each receiver has seen of each sender. */
export const FIRST_PAIR = 16;

export interface ChaosArgs {
  readonly self: number;
  readonly actors: number;
  readonly counts: Int32Array;
}

export interface ChaosActor {
  /** `from` and `n`: for the order of messages of one pair. */
  take(message: { readonly from: number; readonly n: number }): void;
  /** Sends to another actor, which may be on any thread. */
  pass(message: { readonly to: Ref<ChaosActor>; readonly n: number }): void;
  echo(value: unknown): unknown;
  crash(): void;
  exit(): void;
  hang(): void;
  allocate(): Promise<void>;
}

/** Misbehaves on demand. A message that overtakes another of the same sender is an error for the whole run. */
export const ChaosActor = defineActor.of<ChaosActor>()('chaos', {
  state: (args: ChaosArgs) => args,
  handlers: {
    take({ state: { self, actors, counts } }, { from, n }) {
      begin(counts);
      const pair = FIRST_PAIR + from * actors + self;
      const before = Atomics.exchange(counts, pair, n);
      if (n <= before) Atomics.store(counts, OVERTAKEN, 1);
    },
    pass({ state: { counts } }, { to, n }) {
      begin(counts);
      Atomics.add(counts, SENT, 1);
      to.tell.echo(n);
    },
    echo({ state: { counts } }, value) {
      begin(counts);
      return value;
    },
    crash({ state: { counts } }) {
      begin(counts);
      throw new Error('crash');
    },
    exit({ state: { counts } }) {
      begin(counts);
      process.exit(3);
    },
    hang({ state: { counts } }) {
      begin(counts);
      for (;;);
    },
    // Yields in between: on Node 24 a loop that does not may end the process.
    async allocate({ state: { counts } }) {
      begin(counts);
      const kept: number[][] = [];
      for (;;) {
        for (let count = 0; count < 50; count += 1) kept.push(new Array<number>(10_000).fill(count));
        await new Promise(setImmediate);
      }
    },
  },
});

function begin(counts: Int32Array): void {
  Atomics.add(counts, BEGUN, 1);
}
