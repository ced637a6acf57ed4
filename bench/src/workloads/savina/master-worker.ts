import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';

/** Work that a master distributes to its workers; a work item may create further items. */
export interface MasterWorkerTask<Item, Result> {
  readonly workers: number;
  work(item: Item, more: (item: Item) => void): Result;
  collect(result: Result): void;
}

interface MasterState<Item> {
  readonly workers: readonly Ref[];
  readonly done: Deferred<number>;
  next: number;
  open: number;
  finished: number;
  first: readonly Item[];
}

/** Master and workers as actors. A run resolves with the number of items after the last one. */
export function masterWorker<Item, Result>(
  system: System,
  task: MasterWorkerTask<Item, Result>,
): (first: readonly Item[]) => Promise<number> {
  const begin = system.tell('begin');
  const more = system.tell<Item>('more');
  const work = system.tell<{ master: Ref; item: Item }>('work');
  const finished = system.tell<Result>('finished');
  const assign = (state: MasterState<Item>, master: Ref, item: Item): void => {
    const worker = state.workers[state.next];
    state.next = (state.next + 1) % state.workers.length;
    state.open += 1;
    if (worker !== undefined) work(worker, { master, item });
  };
  const Master = system.define({
    name: 'master',
    state: ({
      workers,
      done,
      first,
    }: Pick<MasterState<Item>, 'workers' | 'done' | 'first'>): MasterState<Item> => ({
      workers,
      done,
      first,
      next: 0,
      open: 0,
      finished: 0,
    }),
    handlers: {
      begin(ctx) {
        for (const item of ctx.state.first) assign(ctx.state, ctx.self, item);
      },
      more(ctx, item: Item) {
        assign(ctx.state, ctx.self, item);
      },
      finished(ctx, result: Result) {
        const { state } = ctx;
        task.collect(result);
        state.open -= 1;
        state.finished += 1;
        if (state.open > 0) return;
        state.done.resolve(state.finished);
        ctx.stop();
      },
    },
  });
  const Worker = system.define({
    name: 'worker',
    state: () => ({ items: 0 }),
    handlers: {
      work(ctx, { master, item }: { master: Ref; item: Item }) {
        ctx.state.items += 1;
        // Further items are sent before `finished`, so that the master does not count down to zero too early.
        const result = task.work(item, (found) => more(master, found));
        finished(master, result);
      },
    },
  });
  return async (first) => {
    const workers = Array.from({ length: task.workers }, () => system.spawn(Worker));
    const done = new Deferred<number>();
    begin(system.spawn(Master, { workers, done, first }));
    const count = await done.promise;
    for (const worker of workers) system.stop(worker);
    return count;
  };
}

/** The same work in one loop, without actors. */
export function runWithoutActors<Item, Result>(
  task: MasterWorkerTask<Item, Result>,
  first: readonly Item[],
): number {
  const open = [...first];
  let count = 0;
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    task.collect(task.work(item, (found) => open.push(found)));
    count += 1;
  }
  return count;
}
