import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';

/** Work that a master hands to workers in turn; a worker may find more of it. */
export interface Crew<Item, Result> {
  readonly workers: number;
  work(item: Item, more: (item: Item) => void): Result;
  collect(result: Result): void;
}

interface Master<Item> {
  readonly workers: readonly Ref[];
  readonly done: Deferred<number>;
  next: number;
  open: number;
  finished: number;
  first: readonly Item[];
}

/** Master and workers as actors. The run resolves with the number of items done, when nothing is left. */
export function assembleCrew<Item, Result>(
  system: System,
  crew: Crew<Item, Result>,
): (first: readonly Item[]) => Promise<number> {
  const begin = system.tell('begin');
  const more = system.tell<Item>('more');
  const work = system.tell<{ master: Ref; item: Item }>('work');
  const finished = system.tell<Result>('finished');
  const hand = (state: Master<Item>, master: Ref, item: Item): void => {
    const worker = state.workers[state.next];
    state.next = (state.next + 1) % state.workers.length;
    state.open += 1;
    if (worker !== undefined) work(worker, { master, item });
  };
  const CrewMaster = system.define({
    name: 'master',
    state: ({ workers, done, first }: Pick<Master<Item>, 'workers' | 'done' | 'first'>): Master<Item> => ({
      workers,
      done,
      first,
      next: 0,
      open: 0,
      finished: 0,
    }),
    handlers: {
      begin(ctx) {
        for (const item of ctx.state.first) hand(ctx.state, ctx.self, item);
      },
      more(ctx, item: Item) {
        hand(ctx.state, ctx.self, item);
      },
      finished(ctx, result: Result) {
        const { state } = ctx;
        crew.collect(result);
        state.open -= 1;
        state.finished += 1;
        if (state.open > 0) return;
        state.done.resolve(state.finished);
        ctx.stop();
      },
    },
  });
  const CrewWorker = system.define({
    name: 'crew-worker',
    state: () => ({ items: 0 }),
    handlers: {
      work(ctx, { master, item }: { master: Ref; item: Item }) {
        ctx.state.items += 1;
        // What is found goes out before the word that this item is finished, so that the master never sees zero early.
        const result = crew.work(item, (found) => more(master, found));
        finished(master, result);
      },
    },
  });
  return async (first) => {
    const workers = Array.from({ length: crew.workers }, () => system.spawn(CrewWorker));
    const done = new Deferred<number>();
    begin(system.spawn(CrewMaster, { workers, done, first }));
    const count = await done.promise;
    for (const worker of workers) system.stop(worker);
    return count;
  };
}

/** The same work in one loop, without actors. */
export function workAlone<Item, Result>(crew: Crew<Item, Result>, first: readonly Item[]): number {
  const open = [...first];
  let count = 0;
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    crew.collect(crew.work(item, (found) => open.push(found)));
    count += 1;
  }
  return count;
}
