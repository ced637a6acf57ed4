import { defineActor, type PullOptions } from '@troupe/core';
import { createTestSystem, SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const pull = suite('pull pool');

const done: number[] = [];
let resolvers = new Map<number, () => void>();
let crashes = 0;
const Worker = defineActor('worker', {
  state: () => ({}),
  handlers: {
    async job(_ctx, n: number) {
      await new Promise<void>((resolve) => resolvers.set(n, resolve));
      done.push(n);
      return 10 * n;
    },
    flaky(_ctx, n: number) {
      crashes += 1;
      if (crashes < 3) throw new Error('flaky');
      done.push(n);
      return n;
    },
    quick(_ctx, n: number) {
      done.push(n);
    },
  },
});

function open(size: number, options: PullOptions = {}, restart: 'permanent' | 'temporary' = 'permanent') {
  done.length = 0;
  resolvers = new Map();
  crashes = 0;
  const world = createTestSystem();
  const workers = world.system.spawnPool(Worker, {
    size,
    restart,
    name: 'pool',
    routing: { pull: options },
    mailbox: { capacity: 6, overflow: 'reject' },
  });
  return { world, workers };
}

pull('a worker has no more messages than its window, the others wait in the pool', async () => {
  const { world, workers } = open(2, { window: 1 });
  await using _ = world;
  const replies = [1, 2, 3, 4].map((n) => workers.ask.job(n));
  await world.settle();
  assert.equal([...resolvers.keys()], [1, 2]);
  resolvers.get(2)?.();
  await world.settle();
  assert.equal([...resolvers.keys()], [1, 2, 3]);
  for (const n of [1, 3]) resolvers.get(n)?.();
  await world.settle();
  resolvers.get(4)?.();
  assert.equal(await world.settle(Promise.all(replies)), [10, 20, 30, 40]);
});

pull('the queue of a pull pool is bounded: `offer` returns full, `send` waits', async () => {
  const { world, workers } = open(1);
  await using _ = world;
  await world.tell(workers).job(1);
  for (const n of [2, 3, 4, 5, 6, 7]) assert.is(workers.offer.job(n), 'accepted');
  assert.is(workers.offer.job(8), 'full');
  let sent = false;
  const sending = workers.send.job(9).then(() => {
    sent = true;
  });
  await world.settle();
  assert.is(sent, false);
  for (const n of [1, 2, 3, 4]) {
    resolvers.get(n)?.();
    await world.settle();
  }
  await sending;
  assert.is(sent, true);
});

pull('the work of a killed worker is done by another, in order', async () => {
  const { world, workers } = open(2, { window: 2 }, 'temporary');
  await using _ = world;
  const replies = [1, 2, 3, 4].map((n) => workers.ask.job(n));
  await world.settle();
  const [first] = workers.routees;
  assert.is(await world.settle(world.system.kill(first as NonNullable<typeof first>)), 'killed');
  for (let round = 0; round < 4; round += 1) {
    for (const resolve of resolvers.values()) resolve();
    await world.settle();
  }
  assert.equal(await Promise.all(replies), [10, 20, 30, 40]);
});

pull('the work of a stopped worker is done by another', async () => {
  const { world, workers } = open(2, { window: 3 }, 'temporary');
  await using _ = world;
  const replies = [1, 2, 3, 4, 5, 6].map((n) => workers.ask.job(n));
  await world.settle();
  const stopped = world.system.stop(workers.routees[1] as (typeof workers.routees)[number]);
  await world.settle();
  for (let round = 0; round < 6; round += 1) {
    for (const resolve of resolvers.values()) resolve();
    await world.settle();
  }
  assert.is(await stopped, 'stopped');
  assert.equal(await Promise.all(replies), [10, 20, 30, 40, 50, 60]);
});

pull('failed work counts as handled, unless `attempts` allows more', async () => {
  const once = open(1);
  {
    await using _ = once.world;
    assert.is(
      await once.world.settle(once.workers.ask.flaky(1).catch((error: { code?: string }) => error.code)),
      'ERR_ACTOR_FAILED',
    );
  }
  const often = open(1, { attempts: 3 });
  await using _ = often.world;
  assert.is(await often.world.ask(often.workers).flaky(1), 1);
  assert.is(crashes, 3);
});

pull('a drain finishes assigned and waiting work', async () => {
  const { world, workers } = open(1);
  workers.tell.job(1);
  workers.tell.job(2);
  await world.settle();
  const drained = world.system.drain(workers);
  await world.settle();
  resolvers.get(1)?.();
  await world.settle();
  resolvers.get(2)?.();
  assert.is(await world.settle(drained), 'drained');
  assert.equal(done, [1, 2]);
  await using _ = world;
});

pull('a stop refuses all work that no worker has begun', async () => {
  const { world, workers } = open(2, {}, 'temporary');
  await using _ = world;
  const replies = [1, 2, 3].map((n) => workers.ask.job(n).catch((error: { code?: string }) => error.code));
  await world.settle();
  await world.settle(world.system.kill(workers.routees[0] as (typeof workers.routees)[number]));
  const stopped = world.system.stop(workers);
  await world.settle();
  resolvers.get(2)?.();
  assert.is(await world.settle(stopped), 'stopped');
  assert.equal(await Promise.all(replies), ['ERR_UNDELIVERED', 20, 'ERR_UNDELIVERED']);
});

pull('work without a living worker becomes dead letters, and asks reject with ERR_NO_ROUTEE', async () => {
  const { world, workers } = open(2, {}, 'temporary');
  await using _ = world;
  const codes: unknown[] = [];
  for (const n of [1, 2, 3, 4]) {
    workers.ask.job(n).catch((error: { code?: string }) => codes.push(error.code));
  }
  await world.settle();
  const letters: string[] = [];
  world.system.subscribe((event) => {
    if (event.kind === 'dead-letter' && event.letter.to === '/pool')
      letters.push(`${event.letter.reason} ${event.letter.payload}`);
  });
  for (const routee of workers.routees) void world.system.kill(routee);
  await world.settle();
  assert.equal(codes, Array(4).fill('ERR_NO_ROUTEE'), 'assigned and waiting work');
  assert.equal(letters.sort(), ['unrouted 1', 'unrouted 2', 'unrouted 3', 'unrouted 4']);
  assert.is(workers.offer.job(5), 'closed');
  for (const refused of [workers.ask.job(6), workers.send.job(7)]) {
    assert.is(
      await (refused as Promise<unknown>).catch((error: { code?: string }) => error.code),
      'ERR_NO_ROUTEE',
    );
  }
  workers.tell.job(8);
  assert.is(letters.at(-1), 'unrouted 8');
  workers.resize(3);
  const again = workers.ask.flaky(9);
  crashes = 5;
  assert.is(await world.settle(again), 9, 'new workers handle messages');
  assert.is(await world.settle(world.system.drain(workers)), 'drained');
});

pull('a killed pull pool makes dead letters of returned work', async () => {
  const { world, workers } = open(2, {}, 'temporary');
  await using _ = world;
  workers.tell.job(1);
  workers.tell.job(2);
  await world.settle();
  await world.settle(world.system.kill(workers.routees[0] as (typeof workers.routees)[number]));
  const before = world.system.stats().deadLetters;
  await world.settle(world.system.kill(workers));
  assert.is(world.system.stats().deadLetters - before, 1);
});

pull('a drain reassigns the work of a worker that ends', async () => {
  const { world, workers } = open(2);
  await using _ = world;
  const replies = [1, 2].map((n) => workers.ask.job(n));
  await world.settle();
  const drained = world.system.drain(workers);
  await world.settle();
  await world.settle(world.system.kill(workers.routees[0] as (typeof workers.routees)[number]));
  resolvers.get(2)?.();
  await world.settle();
  resolvers.get(1)?.();
  assert.is(await world.settle(drained), 'drained');
  assert.equal(await Promise.all(replies), [10, 20]);
});

pull('an ask whose deadline has passed is not begun', async () => {
  const { world, workers } = open(2, { window: 2 });
  await using _ = world;
  for (const n of [1, 2]) workers.tell.job(n);
  await world.settle();
  const asked = [3, 4, 5, 6].map((n) =>
    world.system
      .ask(workers, { withinMs: 20 })
      .job(n)
      .catch((error: { code?: string }) => error.code),
  );
  await world.advance(30);
  assert.equal(await Promise.all(asked), Array(4).fill('ERR_ASK_TIMEOUT'));
  for (const n of [1, 2]) resolvers.get(n)?.();
  await world.settle();
  assert.equal([...resolvers.keys()], [1, 2]);
  assert.equal(done, [1, 2]);
  assert.is(world.system.stats().deadLetters, 4);
  assert.is(world.system.stats().timers, 0);
  const next = workers.ask.job(7);
  await world.settle();
  resolvers.get(7)?.();
  assert.is(await world.settle(next), 70);
});

pull('work survives a restart of the pool itself', async () => {
  done.length = 0;
  resolvers = new Map();
  await using world = createTestSystem();
  const Parent = defineActor('parent', {
    handlers: {
      open: (ctx) => ctx.spawnPool(Worker, { size: 1, routing: { pull: {} }, supervise: { restarts: 0 } }),
    },
    supervise: { restarts: 3 },
  });
  const workers = await world.ask(world.system.spawn(Parent)).open();
  workers.tell.flaky(9);
  const reply = workers.ask.job(1);
  crashes = 0;
  await world.settle();
  resolvers.get(1)?.();
  assert.is(await world.settle(reply), 10);
});

pull('no work is lost under random kills', async () => {
  const { world, workers } = open(4, { window: 3 });
  await using _ = world;
  const sent = Array.from({ length: 200 }, (_unused, n) => workers.send.quick(n));
  for (let round = 0; round < 50; round += 1) {
    for (let steps = 0; steps < 7; steps += 1) world.step();
    const victim = workers.routees[round % 4];
    if (victim !== undefined && round % 5 === 0) void world.system.kill(victim);
  }
  await world.advance(1_000);
  await Promise.all(sent);
  await world.settle();
  assert.is(new Set(done).size, 200);
});

pull('every ask is answered and all work is done, whatever happens to the workers', async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = new SeededRandom(seed);
    const below = (n: number): number => random.below(n);
    await using world = createTestSystem({ seed, askWithinMs: 1_000_000 });
    const finished = new Set<number>();
    const Unreliable = defineActor('unreliable', {
      handlers: {
        sync(_ctx, n: number) {
          finished.add(n);
          return n;
        },
        async slow(_ctx, n: number) {
          for (let i = n % 4; i > 0; i -= 1) await Promise.resolve();
          finished.add(n);
          return n;
        },
        flaky(ctx, n: number) {
          if (ctx.random() < 0.5) throw new Error('flaky');
          finished.add(n);
          return n;
        },
      },
    });
    const workers = world.system.spawnPool(Unreliable, {
      size: 1 + below(4),
      routing: { pull: { window: 1 + below(3), attempts: 100 } },
      supervise: { restarts: 1_000_000, ...(below(2) === 0 ? { backoff: { fromMs: 3, toMs: 3 } } : {}) },
    });
    const answers: unknown[] = [];
    const jobs = 30;
    for (let n = 0; n < jobs; n += 1) {
      const message = (['sync', 'slow', 'flaky'] as const)[below(3)] ?? 'sync';
      workers.ask[message](n).then(
        (reply) => answers.push(reply),
        (error: unknown) => answers.push(error),
      );
      const victim = workers.routees[below(4)];
      const accident = below(8);
      if (victim !== undefined && accident === 0) void world.system.kill(victim);
      if (victim !== undefined && accident === 1) void world.system.stop(victim);
      if (victim !== undefined && accident === 2) void world.system.drain(victim);
      if (accident === 3) workers.resize(1 + below(5));
      for (let steps = below(8); steps > 0; steps -= 1) world.step();
      if (below(5) === 0) await world.advance(below(5));
    }
    await world.advance(10_000);
    assert.equal(
      answers.filter((answer) => typeof answer !== 'number'),
      [],
      `seed ${seed}`,
    );
    assert.is(answers.length, jobs, `seed ${seed}\n${world.system.tree()}`);
    assert.is(finished.size, jobs, `seed ${seed}`);
  }
});

pull('work that a living worker refuses is not reassigned', async () => {
  let refused = 0;
  const Choosy = defineActor('choosy', {
    handlers: { job: (_ctx, n: number) => n },
    middleware: [
      {
        name: 'choosy',
        beforeMessage: ({ payload }) => {
          if (payload !== 13) return undefined;
          refused += 1;
          return { verdict: 'refuse', why: 'bad luck' };
        },
      },
    ],
  });
  await using world = createTestSystem();
  const workers = world.system.spawnPool(Choosy, { size: 2, routing: { pull: { attempts: 3 } } });
  const replies = [12, 13, 14].map((n) =>
    workers.ask.job(n).catch((error: { code: string; reason: string }) => [error.code, error.reason]),
  );
  assert.equal(await world.settle(Promise.all(replies)), [12, ['ERR_UNDELIVERED', 'bad luck'], 14]);
  assert.is(refused, 1);
});

pull('work that exceeds `queuedMax` is refused, not retried for ever', async () => {
  await using world = createTestSystem({ queuedMax: 5 });
  const workers = world.system.spawnPool(Worker, { size: 2, routing: { pull: {} } });
  const Sink = defineActor('sink', { handlers: { put: (_ctx, _n: number) => undefined } });
  const sink = world.system.spawn(Sink);
  const tokens = [sink, ...workers.routees].map((ref) => world.system.suspend(ref));
  for (let n = 0; n < 5; n += 1) sink.tell.put(n);
  crashes = 3;
  assert.is(
    await world.settle(workers.ask.flaky(1).catch((error: { reason: string }) => error.reason)),
    'overloaded',
  );
  for (const token of tokens) token.resume();
  await world.settle();
  assert.is(await world.ask(workers).flaky(2), 2);
});

pull.run();
