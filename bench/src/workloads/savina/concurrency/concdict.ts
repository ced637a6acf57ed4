import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const workers = 20;
const writePercent = 10;
const keyLimit = Math.floor((2 ** 31 - 1) / 4096);

interface Write {
  readonly from: Ref;
  readonly key: number;
  readonly value: number;
}

interface Read {
  readonly from: Ref;
  readonly key: number;
}

interface Client {
  readonly random: SeededRandom;
  readonly dictionary: Ref;
  left: number;
  key: number;
}

/** Twenty workers read and write one dictionary. Replies are checked: a value is always twice its key. */
export const concdict: Workload = {
  name: 'concdict',
  unit: 'requests',
  prepare(system, scale) {
    const requests = scaled(10_000, scale);
    const work = system.tell('work');
    const write = system.tell<Write>('write');
    const read = system.tell<Read>('read');
    const result = system.tell<number | undefined>('result');
    let done = new Deferred();
    let handled = 0;
    let wrong = 0;
    let finished = 0;
    const Dictionary = system.define({
      name: 'dictionary',
      state: () => ({ entries: new Map<number, number>() }),
      handlers: {
        write(ctx, { from, key, value }: Write) {
          handled += 1;
          ctx.state.entries.set(key, value);
          result(from, value);
        },
        read(ctx, { from, key }: Read) {
          handled += 1;
          result(from, ctx.state.entries.get(key) ?? -1);
        },
      },
    });
    const next = (state: Client, self: Ref): void => {
      state.left -= 1;
      const key = state.random.below(keyLimit);
      state.key = key;
      if (state.random.below(100) < writePercent) {
        write(state.dictionary, { from: self, key, value: 2 * key });
      } else read(state.dictionary, { from: self, key });
    };
    const Worker = system.define({
      name: 'dictionary-worker',
      state: ({ seed, dictionary }: { seed: number; dictionary: Ref }): Client => ({
        random: new SeededRandom(seed),
        dictionary,
        left: requests,
        key: -1,
      }),
      handlers: {
        work(ctx) {
          next(ctx.state, ctx.self);
        },
        result(ctx, value: number) {
          const { state } = ctx;
          if (value !== -1 && value !== 2 * state.key) wrong += 1;
          if (state.left > 0) {
            next(state, ctx.self);
            return;
          }
          finished += 1;
          ctx.stop();
          if (finished === workers) done.resolve();
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      handled = 0;
      wrong = 0;
      finished = 0;
      const dictionary = system.spawn(Dictionary);
      for (let seed = 1; seed <= workers; seed += 1) work(system.spawn(Worker, { seed, dictionary }));
      await done.promise;
      system.stop(dictionary);
      return { attempted: workers * requests, completed: handled, oracle: wrong === 0 };
    };
  },
};
