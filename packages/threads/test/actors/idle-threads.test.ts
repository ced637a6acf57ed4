// timeout: 120s, alone
import { createSystem } from '@troupe/core';
import { ThreadPoolExecutor, threads } from '@troupe/threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Counter } from './counter.js';

const idle = suite('idle threads');
const WINDOW_MS = 5_000;
const LIMIT_MS = 5;

/** Of all threads of this process, in one window. */
async function processorMs(): Promise<number> {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
  const { user, system: kernel } = process.cpuUsage(before);
  return (user + kernel) / 1_000;
}

idle('threads without work take no processor time', async () => {
  await using system = createSystem({ threads: threads({ count: 2 }) });
  await using pool = new ThreadPoolExecutor({ minThreads: 2, maxThreads: 2 });
  const tasks = pool.tasks<typeof import('../pool/pool-tasks.js')>(
    new URL('../pool/pool-tasks.js', import.meta.url),
  );
  const refs = [
    system.spawn(Counter, { args: 0, on: 'thread-1' }),
    system.spawn(Counter, { args: 0, on: 'thread-2' }),
  ];
  for (const ref of refs) await ref.ask.total();
  await Promise.all([tasks.burn(20), tasks.burn(20)]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  // A collection of garbage or a compilation may fall into one of the windows.
  const windows: number[] = [];
  while (windows.length < 3 && (windows.at(-1) ?? LIMIT_MS) >= LIMIT_MS) windows.push(await processorMs());
  assert.ok((windows.at(-1) ?? LIMIT_MS) < LIMIT_MS, `${windows.join(', ')} ms in ${WINDOW_MS} ms`);
});

idle.run();
