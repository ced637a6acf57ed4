// timeout: 120s, alone
import { createSystem, type Host, nodeHost } from '@troupe/core';
import { SeededRandom } from '@troupe/core/testing';
import { ThreadPoolExecutor, threads } from '@troupe/threads';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Counter } from './counter.js';

const chaos = suite('chaos on threads');

const quiet: Host = { ...nodeHost, log: () => undefined };
const CODES = [
  'ERR_ACTOR_FAILED',
  'ERR_THREAD_ENDED',
  'ERR_THREAD_MEMORY',
  'ERR_UNDELIVERED',
  'ERR_ASK_TIMEOUT',
];

chaos(
  'actors that throw, exit and allocate without bound: every ask ends, and the system goes on',
  async () => {
    const random = new SeededRandom(2_026);
    const limits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 };
    await using system = createSystem({
      host: quiet,
      threads: threads({ count: 2, resourceLimits: limits }),
      supervise: { restarts: 1_000 },
    });
    const refs = Array.from({ length: 6 }, (_, i) =>
      system.spawn(Counter, { args: i, on: i % 3 === 0 ? 'main' : 'any-thread' }),
    );
    const placed = refs.filter((_, i) => i % 3 !== 0);
    const of = <T>(all: readonly T[]): T => all[Math.floor(random.next() * all.length)] as T;
    const ends = new Map<string, number>();
    const open: Promise<void>[] = [];
    const ask = (reply: Promise<unknown>): void => {
      const note = (end: string): void => void ends.set(end, (ends.get(end) ?? 0) + 1);
      open.push(
        reply.then(
          () => note('answered'),
          (error: { readonly code?: string }) => note(error.code ?? String(error)),
        ),
      );
    };
    for (let step = 0; step < 1_500; step += 1) {
      const choice = random.next();
      const ref = system.ask(of(refs), { withinMs: 20_000 });
      if (choice < 0.6) ask(ref.echo({ step, list: [1, 2, 3] }));
      else if (choice < 0.9) of(refs).tell.give({ to: of(refs), n: 1 });
      else if (choice < 0.99) ask(ref.crash('thrown'));
      else if (choice < 0.998) ask(system.ask(of(placed), { withinMs: 20_000 }).exit(3));
      else ask(system.ask(of(placed), { withinMs: 20_000 }).allocate());
      if (step % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all(open);
    assert.is(
      [...ends.values()].reduce((sum, count) => sum + count),
      open.length,
    );
    for (const end of ends.keys()) assert.ok(end === 'answered' || CODES.includes(end), end);
    assert.ok((ends.get('ERR_THREAD_ENDED') ?? 0) > 0, 'threads have ended');
    for (const ref of refs) assert.type(await system.ask(ref, { withinMs: 20_000 }).total(), 'number');
  },
);

chaos('threads without work take no processor time', async () => {
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
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const { user, system: kernel } = process.cpuUsage(before);
  assert.ok(user + kernel < 5_000, `${(user + kernel) / 1_000} ms`);
});

chaos.run();
