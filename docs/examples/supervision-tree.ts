// A tree as data: actors that depend on the store restart with it, and every ref stays valid.
import assert from 'node:assert/strict';
import { child, createSystem, defineActor, nodeHost, pool, printTree, supervisor } from '@troupe/core';

const Store = defineActor('store', {
  state: () => new Map<string, number>(),
  handlers: {
    put(ctx, entry: { readonly key: string; readonly value: number }) {
      if (Number.isNaN(entry.value)) throw new Error(`${entry.key} is not a number`);
      ctx.state.set(entry.key, entry.value);
    },
    size: (ctx) => ctx.state.size,
  },
});

const Cache = defineActor('cache', {
  state: () => ({ hits: 0 }),
  handlers: {
    hit(ctx) {
      ctx.state.hits += 1;
    },
    hits: (ctx) => ctx.state.hits,
  },
});

const Worker = defineActor('worker', { handlers: { square: (_ctx, n: number) => n * n } });

const app = supervisor('app', { strategy: 'one-for-one' }, [
  supervisor('data', { strategy: 'rest-for-one', restarts: 3, withinMs: 10_000 }, [
    child(Store, { restart: 'permanent' }),
    child(Cache),
  ]),
  pool(Worker, { size: 3, name: 'workers' }),
]);
console.log(printTree(app));

const failures: string[] = [];
const host = { ...nodeHost, log: ({ message }: { readonly message: string }) => void failures.push(message) };
await using system = createSystem({ name: 'tree', host });
const running = system.start(app);
const [store, cache, workers] = [running.get(Store), running.get(Cache), running.pool(Worker)];

store.tell.put({ key: 'a', value: 1 });
cache.tell.hit();
assert.equal(await cache.ask.hits(), 1);

store.tell.put({ key: 'b', value: Number.NaN }); // fails: the store and the cache, which started after it, restart
assert.equal(await store.ask.size(), 0);
assert.equal(await cache.ask.hits(), 0);
assert.deepEqual(
  await Promise.all([1, 2, 3].map((n) => workers.ask.square(n))), // the workers were not restarted
  [1, 4, 9],
);

console.log(failures.join('\n'));
console.log(system.tree());
