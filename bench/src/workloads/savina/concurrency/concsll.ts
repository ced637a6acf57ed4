import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';
import { SortedList } from './sorted-list.js';

const workers = 20;
const writePercent = 10;
const sizePercent = 1;
const valueLimit = Math.floor((2 ** 31 - 1) / 4096);

interface Request {
  readonly from: Ref;
  readonly value: number;
}

interface Client {
  readonly random: SeededRandom;
  readonly list: Ref;
  left: number;
}

/** Twenty workers use one sorted list, whose operations take linear time. */
export const concsll: Workload = {
  name: 'concsll',
  unit: 'requests',
  prepare(system, scale) {
    const requests = scaled(8_000, scale);
    const work = system.tell('work');
    const add = system.tell<Request>('add');
    const has = system.tell<Request>('has');
    const size = system.tell<Request>('size');
    const result = system.tell<number>('result');
    let done = new Deferred();
    let handled = 0;
    let added = 0;
    let finished = 0;
    let list = new SortedList();
    const List = system.define({
      name: 'sorted-list',
      state: () => ({ list }),
      handlers: {
        add(ctx, { from, value }: Request) {
          handled += 1;
          ctx.state.list.add(value);
          result(from, value);
        },
        has(ctx, { from, value }: Request) {
          handled += 1;
          result(from, ctx.state.list.has(value) ? 1 : 0);
        },
        size(ctx, { from }: Request) {
          handled += 1;
          result(from, ctx.state.list.size);
        },
      },
    });
    const next = (state: Client, from: Ref): void => {
      state.left -= 1;
      const dice = state.random.below(100);
      const request = { from, value: state.random.below(valueLimit) };
      if (dice < sizePercent) size(state.list, request);
      else if (dice < sizePercent + writePercent) {
        added += 1;
        add(state.list, request);
      } else has(state.list, request);
    };
    const Worker = system.define({
      name: 'list-worker',
      state: ({ seed, list: target }: { seed: number; list: Ref }): Client => ({
        random: new SeededRandom(seed),
        list: target,
        left: requests,
      }),
      handlers: {
        work(ctx) {
          next(ctx.state, ctx.self);
        },
        result(ctx) {
          if (ctx.state.left > 0) {
            next(ctx.state, ctx.self);
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
      added = 0;
      finished = 0;
      list = new SortedList();
      const ref = system.spawn(List);
      for (let seed = 1; seed <= workers; seed += 1) work(system.spawn(Worker, { seed, list: ref }));
      await done.promise;
      system.stop(ref);
      return {
        attempted: workers * requests,
        completed: handled,
        oracle: list.isSorted && list.size === added,
      };
    };
  },
};
