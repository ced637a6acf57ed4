// Awaits one end and nothing else: `node awaited-end-program.js pool | system | hanging | stop | replaced`.

import { createSystem, type Host, nodeHost } from '@troupe/core';
import { ThreadPoolExecutor, threads } from '@troupe/threads';
import { Counter } from '../actors/counter.js';
import type * as PoolTasks from '../pool/pool-tasks.js';

const silent: Host = { ...nodeHost, log: () => undefined };

/** The thread of a cancelled task is still starting. */
async function pool(): Promise<void> {
  const executor = new ThreadPoolExecutor({ maxThreads: 1 });
  const tasks = executor.tasks<typeof PoolTasks>(new URL('../pool/pool-tasks.js', import.meta.url));
  const controller = new AbortController();
  const cancelled = tasks.with({ signal: controller.signal }).echo(1);
  controller.abort();
  await Promise.allSettled([cancelled]);
  await executor.shutdown();
}

async function system(): Promise<void> {
  const made = createSystem({ threads: threads({ count: 2 }) });
  await made.spawn(Counter, { args: 0, on: 'thread-1' }).ask.total();
  await made.shutdown();
}

/** The thread does not end by itself, and is terminated. */
async function hanging(): Promise<void> {
  const made = createSystem({ threads: threads({ count: 1 }) });
  const ref = made.spawn(Counter, { args: 0, on: 'thread-1' });
  await ref.ask.total();
  ref.tell.spin(600_000);
  await made.kill(ref);
  await made.shutdown();
}

/** All threads sleep. */
async function stop(): Promise<void> {
  const made = createSystem({ threads: threads({ count: 1 }) });
  const ref = made.spawn(Counter, { args: 0, on: 'thread-1' });
  await ref.ask.total();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await made.stop(ref);
}

/** The thread of the actor has ended, and the one in its place is still starting. */
async function replaced(): Promise<void> {
  const made = createSystem({ host: silent, threads: threads({ count: 1 }) });
  const ref = made.spawn(Counter, { args: 0, on: 'thread-1' });
  await Promise.allSettled([ref.ask.exit(3)]);
  await made.stop(ref);
  await made.shutdown();
}

const ends: Readonly<Record<string, () => Promise<void>>> = { pool, system, hanging, stop, replaced };
await ends[process.argv[2] as string]?.();
console.log('end');
