// timeout: 120s, alone, needs: node
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSystem, defineActor } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const memoryLeak = suite('memory leak');
const load = fileURLToPath(new URL('./memory-leak-process.js', import.meta.url));

memoryLeak('the heap does not grow over a million actors and ten million messages', async () => {
  const args = ['--expose-gc', load, '1000000', '10000000'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 20 });
  const { before, after, living, queued, timers } = JSON.parse(stdout) as Record<string, number>;
  assert.equal([living, queued, timers], [2, 0, 1]);
  const growth = (after as number) / (before as number) - 1;
  assert.ok(
    growth < 0.05,
    `the heap grew by ${(100 * growth).toFixed(1)} %, from ${before} to ${after} bytes`,
  );
});

memoryLeak('a definition made for one actor is collected after its end', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await using system = createSystem({ warn: false });
  const made: WeakRef<object>[] = [];
  for (let i = 0; i < 20; i += 1) {
    const Once = defineActor('once', { handlers: { ping: () => 'pong' } });
    made.push(new WeakRef(Once));
    const ref = system.spawn(Once);
    assert.is(await ref.ask.ping(), 'pong');
    await system.stop(ref);
  }
  // The target of a new WeakRef is not collected within the same turn of the event loop.
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  collect();
  const kept = made.filter((one) => one.deref() !== undefined).length;
  assert.ok(kept <= 2, `${kept} of 20 were not collected`);
});

memoryLeak.run();
