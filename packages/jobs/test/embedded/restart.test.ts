// timeout: 300s
import { defineJob, handle, NonRetryableError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { aNumber } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const restarts = suite('restart');

const QUEUED = 100_000;
/** Of one `submitAll`. */
const BATCH = 4_000;
const RUNNING = 1_000;
const DEAD = 100;
const running = defineJob('restart.running', { input: aNumber, output: aNumber });
const doomed = defineJob('restart.doomed', { input: aNumber, output: aNumber });
const waiting = defineJob('restart.waiting', { input: aNumber, output: aNumber });

restarts(
  '100,000 queued, 1,000 in flight and 100 dead jobs are all there after a restart, and run',
  async () => {
    await using folder = await tempFolder();
    {
      const app = await embedded({ dir: folder.path });
      const client = app.client();
      app.worker({
        name: 'old',
        slots: RUNNING + 10,
        handlers: [
          handle(running, () => new Promise<number>(() => undefined)),
          handle(doomed, () => {
            throw new NonRetryableError('no');
          }),
        ],
      });
      for (let i = 0; i < QUEUED; i += BATCH) {
        await client.submitAll(
          waiting,
          Array.from({ length: BATCH }, (_, n) => i + n),
        );
      }
      await Promise.allSettled(Array.from({ length: DEAD }, (_, n) => client.run(doomed, n)));
      await client.submitAll(
        running,
        Array.from({ length: RUNNING }, (_, n) => n),
      );
      let count = 0;
      while (count < RUNNING) count = (await client.overview()).counts.running;
      const { counts } = await client.overview();
      assert.equal([counts.queued, counts.running, counts.dead], [QUEUED, RUNNING, DEAD]);
      // Not drained: the worker's attempts are in flight when the leader ends.
      await app.abandon();
    }
    const startedAt = performance.now();
    await using app = await embedded({ dir: folder.path, times: { reclaimMs: 300_000 } });
    const client = app.client();
    const before = (await client.overview()).counts;
    const openMs = Math.round(performance.now() - startedAt);
    assert.equal([before.queued, before.running, before.dead], [QUEUED, RUNNING, DEAD]);
    const seen = new Map<number, number>();
    const once = (n: number): number => {
      seen.set(n, (seen.get(n) ?? 0) + 1);
      return n;
    };
    // The same worker in a new incarnation: attempts of the old one are requeued at once, as crashes.
    app.worker({ name: 'old', slots: 2_000, handlers: [handle(running, (n) => n), handle(waiting, once)] });
    let left = QUEUED + RUNNING;
    while (left > 0) {
      const { counts } = await client.overview();
      left = counts.queued + counts.running;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.is(seen.size, QUEUED);
    assert.ok(
      [...seen.values()].every((times) => times === 1),
      'each waiting job ran once',
    );
    const dead = await client.deadLetters({ max: 1_000 });
    assert.is(dead.length, DEAD);
    process.stdout.write(`opened in ${openMs} ms\n`);
  },
);

restarts.run();
