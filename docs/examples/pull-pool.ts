// A pull pool whose workers are killed at random: no work is lost, because it waits in the pool.
import assert from 'node:assert/strict';
import { createSystem, defineActor, type Host, nodeHost } from '@troupe/core';

const JOBS = 2_000;
const done = new Set<number>();

const Worker = defineActor('worker', {
  handlers: {
    async job(ctx, n: number) {
      await Promise.resolve();
      if (ctx.random() < 0.01)
        ctx.kill(); // a crash before the work is done
      else done.add(n);
      return n;
    },
  },
});

const host: Host = { ...nodeHost, log: () => undefined };
await using system = createSystem({ name: 'pool', host });
const workers = system.spawnPool(Worker, {
  size: 4,
  name: 'workers',
  routing: { pull: { window: 2 } },
  mailbox: { capacity: 64 },
  supervise: { restarts: JOBS },
});

for (let n = 0; n < JOBS; n += 1) await workers.send.job(n); // waits while 64 jobs are queued
await system.drain(workers, { withinMs: 60_000 });
const missing = Array.from({ length: JOBS }, (_, n) => n).filter((n) => !done.has(n));
console.log(`${done.size} of ${JOBS} jobs done`);
assert.deepEqual(missing, []);
