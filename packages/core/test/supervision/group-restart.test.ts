import { type ActorRef, defineActor } from '@troupe/core';
import { createTestSystem, SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Deferred, deferred } from '../deferred.js';

const group = suite('restart of siblings');

const lines: string[] = [];
let bRestarting: Deferred<void> | undefined;
let dRestarting: Deferred<void> | undefined;
const Part = defineActor('part', {
  state: (args: { name: string }) => ({ name: args.name, n: 0 }),
  handlers: {
    add(ctx, by: number) {
      ctx.state.n += by;
    },
    get: (ctx) => ctx.state.n,
    crash() {
      throw new Error('crash');
    },
    async hold(_ctx, until: Promise<void>) {
      await until;
    },
  },
  started(ctx) {
    lines.push(`+${ctx.state.name}`);
  },
  restarting(ctx) {
    lines.push(`-${ctx.state.name}`);
    if (ctx.state.name === 'd') return dRestarting?.promise;
    return ctx.state.name === 'b' ? bRestarting?.promise : undefined;
  },
  stopped(ctx) {
    lines.push(`.${ctx.state.name}`);
  },
});

type Refs = Readonly<Record<'a' | 'b' | 'c', ActorRef<typeof Part>>>;
const machine = (strategy: 'one-for-all' | 'rest-for-one', cType: 'transient' | 'temporary' = 'transient') =>
  defineActor('machine', {
    handlers: {
      build: (ctx): Refs => ({
        a: ctx.spawn(Part, { args: { name: 'a' } }),
        b: ctx.spawn(Part, { args: { name: 'b' } }),
        c: ctx.spawn(Part, { args: { name: 'c' }, restart: cType }),
      }),
      enlarge: (ctx) =>
        [ctx.spawn(Part, { args: { name: 'd' } }), ctx.spawn(Part, { args: { name: 'e' } })] as const,
    },
    supervise: { strategy, restarts: 3, withinMs: 1_000 },
  });

async function build(...args: Parameters<typeof machine>) {
  const world = createTestSystem();
  bRestarting = undefined;
  const parent = world.system.spawn(machine(...args), { name: 'm' });
  const refs = await world.ask(parent).build();
  lines.length = 0;
  return { world, parent, refs };
}

group('one-for-all stops siblings in reverse start order, then restarts them in start order', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  await world.tell(refs.b).crash();
  assert.equal(lines, ['-c', '-b', '-a', '+a', '+b', '+c']);
});

group('rest-for-one does not touch siblings that started earlier', async () => {
  const { world, refs } = await build('rest-for-one');
  await using _ = world;
  refs.a.tell.add(1);
  refs.b.tell.crash();
  await world.settle();
  assert.equal(lines, ['-c', '-b', '+b', '+c']);
  assert.is(await world.ask(refs.a).get(), 1);
});

group('no sibling restarts before the slowest has stopped, and messages wait meanwhile', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  bRestarting = deferred();
  await world.tell(refs.a).crash();
  refs.c.tell.add(4);
  const n = refs.c.ask.get();
  await world.settle();
  assert.equal(lines, ['-c', '-b']);
  bRestarting.resolve();
  await world.settle();
  assert.equal(lines, ['-c', '-b', '-a', '+a', '+b', '+c']);
  assert.is(await n, 4);
});

group('two siblings that fail together are restarted once', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  refs.a.tell.crash();
  refs.c.tell.crash();
  await world.settle();
  assert.equal(lines, ['-c', '-b', '-a', '+a', '+b', '+c']);
  const failures = world.host.logged.filter(({ fields }) => fields.kind === 'failed');
  assert.equal(
    failures.map(({ fields }) => [fields.path, fields.directive, fields.why]),
    [
      [refs.a.path, 'restart', 'within its limits'],
      [refs.c.path, 'restart', 'with its siblings, as decided'],
    ],
    'both failures are logged',
  );
});

for (const last of ['b', 'd'] as const)
  group(`two group restarts that a further failure joins become one (${last} stops last)`, async () => {
    const { world, parent, refs } = await build('rest-for-one');
    await using _ = world;
    bRestarting = deferred();
    dRestarting = deferred();
    await world.tell(refs.b).crash();
    const [d, e] = await world.ask(parent).enlarge();
    await world.tell(d).crash();
    assert.equal(lines, ['-c', '-b', '+d', '+e', '-e', '-d']);
    await world.tell(refs.a).crash();
    const restarting = { b: bRestarting, d: dRestarting };
    restarting[last === 'b' ? 'd' : 'b'].resolve();
    await world.settle();
    restarting[last].resolve();
    await world.settle();
    assert.equal(lines.slice(6), ['-a', '+a', '+b', '+c', '+d', '+e']);
    for (const ref of [refs.a, refs.b, refs.c, d, e]) {
      assert.is(await world.ask(ref).get(), 0);
    }
  });

group('a sibling that is stopped during a group restart ends, and the others restart', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  bRestarting = deferred();
  await world.tell(refs.a).crash();
  const stopped = world.system.stop(refs.b);
  bRestarting.resolve();
  assert.is(await world.settle(stopped), 'stopped');
  assert.is(refs.b.offer.add(1), 'closed');
  assert.equal(lines, ['-c', '-b', '.b', '-a', '+a', '+c']);
});

group('a sibling that is killed during a group restart ends, and the others restart', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  bRestarting = deferred();
  await world.tell(refs.a).crash();
  assert.is(await world.settle(world.system.kill(refs.b)), 'killed');
  assert.equal(lines, ['-c', '-b', '-a', '+a', '+c']);
});

group('a temporary sibling ends in a group restart and is not restarted', async () => {
  const { world, refs } = await build('one-for-all', 'temporary');
  await using _ = world;
  await world.tell(refs.a).crash();
  assert.is(refs.c.offer.add(1), 'closed');
  assert.equal(
    lines.filter((line) => line.startsWith('+')),
    ['+a', '+b'],
  );
});

group('a draining sibling is restarted and still ends', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  await world.tell(refs.c).hold(new Promise<void>(() => undefined));
  const drained = world.system.drain(refs.c, { withinMs: 60_000 });
  await world.settle();
  await world.tell(refs.a).crash();
  assert.is(await Promise.race([drained, Promise.resolve('still there')]), 'drained');
});

for (const verb of ['drain', 'stop', 'kill'] as const) {
  group(`a ${verb} at any step of a group restart ends its actor, and the others continue`, async () => {
    for (let steps = 0; steps < 16; steps += 1) {
      const { world, refs } = await build('one-for-all');
      await using _ = world;
      refs.a.tell.crash();
      refs.c.tell.add(1);
      for (let step = 0; step < steps; step += 1) world.step();
      let ended: string | undefined;
      void world.system[verb](refs.c, ...(verb === 'drain' ? [{ withinMs: 60_000 }] : [])).then((reason) => {
        ended = reason;
      });
      const replies: number[] = [];
      for (const ref of [refs.a, refs.b])
        ref.ask.get().then(
          (n) => replies.push(n),
          () => undefined,
        );
      await world.settle();
      assert.ok(ended !== undefined, `after ${steps} steps`);
      assert.equal(replies, [0, 0], `after ${steps} steps: ${world.system.tree()}`);
    }
  });
}

group('after random failures, stops, drains and kills every sibling has ended or works', async () => {
  const Child = defineActor('child', {
    state: () => ({}),
    handlers: {
      crash() {
        throw new Error('crash');
      },
      async later() {
        await Promise.resolve();
        throw new Error('later');
      },
      leave(ctx) {
        ctx.stop();
      },
      ping: () => 'pong',
    },
    async restarting() {
      await Promise.resolve();
    },
    async started() {
      await Promise.resolve();
    },
  });
  const types = ['permanent', 'transient', 'temporary'] as const;
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = new SeededRandom(seed);
    const below = (n: number): number => random.below(n);
    await using world = createTestSystem({ seed });
    const Parent = defineActor('parent', {
      handlers: {
        spawnChildren: (ctx) =>
          Array.from({ length: 2 + below(4) }, () =>
            ctx.spawn(Child, { restart: types[below(3)] ?? 'transient' }),
          ),
        stopChild(ctx, at: number) {
          const child = ctx.children[at];
          if (child !== undefined) ctx.stop(child);
        },
      },
      supervise: {
        strategy: (['one-for-all', 'rest-for-one', 'one-for-one'] as const)[below(3)] ?? 'one-for-all',
        restarts: 1_000_000,
        ...(below(2) === 0 ? { backoff: { fromMs: 5, toMs: 5 } } : {}),
      },
    });
    const parent = world.system.spawn(Parent);
    const children = await world.ask(parent).spawnChildren();
    for (let i = 0; i < 12; i += 1) {
      const one = children[below(children.length)] as (typeof children)[number];
      [
        () => one.tell.crash(),
        () => one.tell.later(),
        () => one.tell.leave(),
        () => void world.system.stop(one),
        () => void world.system.drain(one),
        () => void world.system.kill(one),
        () => parent.tell.stopChild(below(4)),
        () => one.tell.crash(),
      ][below(8)]?.();
      for (let steps = below(6); steps > 0; steps -= 1) world.step();
      if (below(4) === 0) await world.advance(below(8));
    }
    await world.advance(100);
    const silent = new Set(children.filter((one) => one.offer.ping() === 'accepted'));
    for (const one of silent)
      one.ask.ping().then(
        () => silent.delete(one),
        () => undefined,
      );
    await world.advance(100);
    assert.is(silent.size, 0, `seed ${seed}\n${world.system.tree()}`);
  }
});

group('a drain keeps its time limit over a restart', async () => {
  const { world, refs } = await build('one-for-all');
  await using _ = world;
  const token = world.system.suspend(refs.c);
  refs.c.tell.add(1);
  const drained = world.system.drain(refs.c, { withinMs: 100 });
  refs.a.tell.crash();
  await world.advance(101);
  assert.is(await Promise.race([drained, Promise.resolve('still there')]), 'killed');
  token.resume();
});

group('a stop during an asynchronous restarting hook ends the actor', async () => {
  await using world = createTestSystem();
  const hook = deferred();
  const Slow = defineActor('slow', {
    handlers: {
      crash() {
        throw new Error('crash');
      },
    },
    restarting: () => hook.promise,
  });
  const slow = world.system.spawn(Slow);
  await world.tell(slow).crash();
  const stopped = world.system.stop(slow);
  await world.settle();
  hook.resolve();
  await world.settle();
  assert.is(await Promise.race([stopped, Promise.resolve('still there')]), 'stopped');
});

group('a sender that waits for room gets it after a restart of the receiver', async () => {
  await using world = createTestSystem({ supervise: { backoff: { fromMs: 10, toMs: 10 } } });
  const Small = defineActor('small', {
    handlers: {
      take() {},
      crash() {
        throw new Error('crash');
      },
    },
    mailbox: { capacity: 2 },
  });
  const small = world.system.spawn(Small);
  small.tell.crash();
  small.tell.take();
  small.tell.take();
  small.tell.take();
  const sent = small.send.take().then(() => 'sent');
  await world.advance(20);
  assert.is(await Promise.race([sent, Promise.resolve('still waiting')]), 'sent');
});

group('with the directive resume a failed state function runs again', async () => {
  let attempts = 0;
  const FailingState = defineActor('failing-state', {
    state: () => {
      attempts += 1;
      if (attempts < 3) throw new Error('not yet');
      return { ok: true };
    },
    handlers: { get: (ctx) => ctx.state.ok },
  });
  await using world = createTestSystem({ supervise: { decide: () => 'resume' } });
  const ref = world.system.spawn(FailingState);
  assert.is(await world.ask(ref).get(), true);
  assert.is(attempts, 3);
});

group('a kill runs no hook, with or without children', async () => {
  const ran: string[] = [];
  const Leaf = defineActor('leaf', { handlers: {}, stopped: () => void ran.push('leaf') });
  const Branch = defineActor('branch', {
    handlers: {},
    started(ctx) {
      ctx.spawn(Leaf);
    },
    stopped: () => void ran.push('branch'),
  });
  await using world = createTestSystem();
  const branch = world.system.spawn(Branch);
  await world.settle();
  assert.is(await world.settle(world.system.kill(branch)), 'killed');
  assert.equal(ran, []);
});

group('the abort signal fires when an idle actor without children is stopped', async () => {
  let signal: AbortSignal | undefined;
  const Background = defineActor('background', {
    handlers: {
      begin(ctx) {
        signal = ctx.signal;
      },
    },
  });
  await using world = createTestSystem();
  const ref = world.system.spawn(Background);
  await world.tell(ref).begin();
  await world.settle(world.system.stop(ref));
  assert.is(signal?.aborted, true);
});

group('a group restart skips siblings that are stopping, however many they are', async () => {
  await using world = createTestSystem();
  let begun = 0;
  const StopsItself = defineActor('stops-itself', {
    handlers: {
      crash() {
        throw new Error('crash');
      },
    },
    started: () => {
      begun += 1;
    },
  });
  const Machine = defineActor('machine', {
    handlers: {
      build(ctx) {
        const first = ctx.spawn(StopsItself);
        return { first, others: Array.from({ length: 20_000 }, () => ctx.spawn(StopsItself)) };
      },
    },
    supervise: { strategy: 'one-for-all', restarts: 3, withinMs: 1_000, backoff: { fromMs: 10, toMs: 10 } },
  });
  const { first, others } = await world.ask(world.system.spawn(Machine)).build();
  begun = 0;
  await world.tell(first).crash();
  for (const ref of others) void world.system.stop(ref);
  // The back-off ends before any sibling has had a turn to stop.
  world.host.moveTo(20);
  await world.settle();
  assert.is(begun, 1);
});

group.run();
