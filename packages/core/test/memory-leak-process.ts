// Child process of memory-leak.test.ts with --expose-gc: spawns, sends, stops; prints the heap sizes.
import { createSystem, defineActor, nodeHost } from '@troupe/core';

const actors = Number(process.argv[2]);
const messages = Number(process.argv[3]);

const Leaf = defineActor('leaf', {
  state: (args: { readonly n: number }) => ({ n: args.n, seen: 0 }),
  handlers: {
    put: (ctx, _payload: { readonly n: number }) => {
      ctx.state.seen += 1;
    },
    get: (ctx) => ctx.state.seen,
  },
});
const Busy = defineActor('busy', {
  state: () => ({ seen: 0 }),
  handlers: {
    put: (ctx, _payload: { readonly n: number }) => {
      ctx.state.seen += 1;
    },
    later: async (ctx, n: number) => {
      ctx.state.seen += n;
    },
    get: (ctx) => ctx.state.seen,
  },
  started: (ctx) => void ctx.children,
  stopped: () => undefined,
});
const Watcher = defineActor('watcher', {
  handlers: {},
  terminated: () => undefined,
  started: (ctx) => void ctx.receiveTimeout(1_000_000),
});

const system = createSystem({ host: { ...nodeHost, log: () => undefined } });
system.spawn(Watcher);

/** Every tenth actor has a name and hooks, is asked and suspended; the others have none of these. */
async function spawnAndStop(count: number): Promise<void> {
  const BATCH = 10_000;
  for (let done = 0; done < count; done += BATCH) {
    const ends: Promise<unknown>[] = [];
    for (let i = 0; i < BATCH; i += 1) {
      if (i % 10 === 0) {
        const ref = system.spawn(Busy, { name: `b${i}` });
        ref.tell.later(1);
        if (i % 100 === 0) ends.push(ref.ask.get());
        if (i % 50 === 0) system.suspend(ref).resume();
        ends.push(system.stop(ref));
      } else {
        const ref = system.spawn(Leaf, { args: { n: i } });
        ref.tell.put({ n: i });
        if (i % 3 === 0) ref.tell.put({ n: i });
        if (i % 2 === 0) {
          ends.push(system.drain(ref));
          continue;
        }
        ends.push(system.stop(ref));
      }
    }
    await Promise.allSettled(ends);
  }
}

async function send(count: number): Promise<void> {
  const refs = Array.from({ length: 100 }, (_, n) => system.spawn(Leaf, { args: { n } }));
  const BATCH = 200_000;
  for (let done = 0; done < count; done += BATCH) {
    for (let i = 0; i < BATCH; i += 1) refs[i % refs.length]?.tell.put({ n: i });
    await Promise.all(refs.map((ref) => ref.ask.get()));
  }
  await Promise.all(refs.map((ref) => system.stop(ref)));
}

async function heapNow(): Promise<number> {
  for (let i = 0; i < 3; i += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    (globalThis as unknown as { gc(): void }).gc();
  }
  return process.memoryUsage().heapUsed;
}

// The first rounds fill caches of constant size: pools, free slots, compiled code.
for (let i = 0; i < 3; i += 1) {
  await spawnAndStop(20_000);
  await send(400_000);
}
const before = await heapNow();
await spawnAndStop(actors);
await send(messages);
const after = await heapNow();
const { actors: living, queued, timers } = system.stats();
process.stdout.write(
  `${JSON.stringify({ before, after, living, queued, timers, handled: system.stats().handled })}\n`,
);
await system.shutdown();
