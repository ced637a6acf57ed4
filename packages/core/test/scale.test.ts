// timeout: 300s, alone, needs: node
// The bounds are generous: they catch quadratic growth, not small slowdowns (the benchmarks do).
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ActorRef, createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const scale = suite('scale');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const silentHost: Host = { ...nodeHost, log: () => undefined };

scale('100,000 restarts take linear time and leave nothing behind', async () => {
  await using system = createSystem({
    host: silentHost,
    supervise: { restarts: 1_000_000_000, withinMs: 1 },
    warn: false,
  });
  const Broken = defineActor('broken', {
    state: () => ({ n: 0 }),
    handlers: {
      crash() {
        throw failure;
      },
      ping: () => 'pong',
    },
  });
  const failure = new Error('crash');
  const broken = system.spawn(Broken);
  const restartRepeatedly = async (restarts: number): Promise<number> => {
    const startedAt = performance.now();
    for (let sent = 0; sent < restarts; sent += 1_000) {
      for (let i = 0; i < 1_000; i += 1) broken.tell.crash();
      await system.ask(broken, { withinMs: 60_000 }).ping();
    }
    return performance.now() - startedAt;
  };
  await restartRepeatedly(10_000);
  const heapBefore = heapUsed();
  const small = await restartRepeatedly(20_000);
  const large = await restartRepeatedly(80_000);
  assert.is(system.inspect({ under: broken }).restarts, 110_000);
  assert.is(system.stats().actors, 2);
  assert.ok(large < 4 * small * 4 + 1_000, `20,000 in ${small} ms, 80,000 in ${large} ms`);
  assert.ok(heapUsed() - heapBefore < 10e6, `grew by ${heapUsed() - heapBefore} bytes`);
});

scale('restarts do not slow down within a long restart window', async () => {
  await using world = createTestSystem({ supervise: { restarts: 1_000_000_000, withinMs: 2 ** 31 } });
  const Broken = defineActor('broken', {
    handlers: {
      crash() {
        throw failure;
      },
    },
    mailbox: { overflow: 'grow' },
  });
  const failure = new Error('crash');
  const broken = world.system.spawn(Broken);
  const startedAt = performance.now();
  for (let i = 0; i < 100_000; i += 1) broken.tell.crash();
  await world.settle();
  assert.is(world.system.inspect({ under: broken }).restarts, 100_000);
  assert.ok(performance.now() - startedAt < 60_000, `${performance.now() - startedAt} ms`);
});

const Leaf = defineActor('leaf', { handlers: {} });
const Node = defineActor('node', {
  handlers: {
    grow(ctx, shape: { readonly width: number; readonly depth: number }): void {
      for (let i = 0; i < shape.width; i += 1) {
        if (shape.depth <= 1) ctx.spawn(Leaf);
        else (ctx.spawn(Node) as ActorRef<typeof Node>).tell.grow({ ...shape, depth: shape.depth - 1 });
      }
    },
  },
});

for (const [shape, width, depth] of [
  ['flat', 100_000, 1],
  ['of three levels', 46, 3],
] as const) {
  scale(`a tree of 100,000 actors, ${shape}, stops within seconds`, async () => {
    await using system = createSystem({ host: silentHost, warn: false });
    const root = system.spawn(Node);
    root.tell.grow({ width, depth });
    while (system.stats().ready > 0 || system.stats().actors < 90_000) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    const startedAt = performance.now();
    await system.stop(root, { withinMs: 60_000 });
    const ms = performance.now() - startedAt;
    assert.is(system.stats().actors, 1);
    assert.ok(ms < 5_000, `${ms} ms`);
  });
}

scale('a chain of 20,000 actors, each the child of the previous one, can be stopped and killed', async () => {
  for (const verb of ['stop', 'kill'] as const) {
    await using system = createSystem({ host: silentHost, warn: false });
    const root = system.spawn(Node);
    root.tell.grow({ width: 1, depth: 20_000 });
    while (system.stats().actors < 20_000) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    const startedAt = performance.now();
    await system[verb](root);
    assert.is(system.stats().actors, 1);
    assert.ok(performance.now() - startedAt < 5_000, `${performance.now() - startedAt} ms`);
  }
});

scale('100,000 timers are armed and cancelled in linear time', async () => {
  await using system = createSystem({ host: silentHost, warn: false });
  const Clock = defineActor('clock', {
    handlers: {
      tick() {},
      arm(ctx, count: number): number {
        const startedAt = performance.now();
        const self = Clock.self(ctx);
        for (let i = 0; i < count; i += 1)
          ctx
            .after(60_000 + (i % 977), self)
            .tick()
            .cancel();
        return performance.now() - startedAt;
      },
      keep(ctx, count: number): void {
        const self = Clock.self(ctx);
        for (let i = 0; i < count; i += 1) ctx.after(60_000 + (i % 977), self, { key: String(i) }).tick();
      },
    },
  });
  const clock = system.spawn(Clock);
  await clock.ask.arm(10_000);
  const ms = await clock.ask.arm(100_000);
  assert.is(system.stats().timers, 0);
  assert.ok(ms < 500, `${ms} ms`);
  clock.tell.keep(100_000);
  const stopped = system.stop(clock);
  const startedAt = performance.now();
  await stopped;
  assert.ok(performance.now() - startedAt < 2_000);
  assert.is(system.stats().timers, 0);
});

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

scale('300,000 asks with the same deadline all time out', async () => {
  await using world = createTestSystem();
  const Hung = defineActor('hung', {
    handlers: { ask: () => 1 },
    mailbox: { capacity: 1_000_000 },
  });
  const hung = world.system.spawn(Hung);
  world.system.suspend(hung);
  const startedAt = performance.now();
  const ends = new Map<string, number>();
  for (let i = 0; i < 300_000; i += 1) {
    world.system
      .ask(hung, { withinMs: 10 })
      .ask()
      .catch(({ code }: { code: string }) => ends.set(code, (ends.get(code) ?? 0) + 1));
  }
  await world.advance(10);
  assert.equal([...ends], [['ERR_ASK_TIMEOUT', 300_000]]);
  assert.ok(performance.now() - startedAt < 60_000, `${performance.now() - startedAt} ms`);
});

scale('a parent that awaits while 300,000 watched children end is notified of each', async () => {
  await using world = createTestSystem();
  const Child = defineActor('child', { handlers: { leave: (ctx) => ctx.stop() } });
  const notified = { count: 0 };
  const refs: ActorRef<typeof Child>[] = [];
  let open = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    open = resolve;
  });
  const Parent = defineActor('parent', {
    handlers: {
      fill(ctx, count: number) {
        for (let i = 0; i < count; i += 1) {
          const ref = ctx.spawn(Child);
          ctx.watch(ref);
          refs.push(ref);
        }
      },
      hold: () => until,
    },
    terminated: () => {
      notified.count += 1;
    },
  });
  const parent = world.system.spawn(Parent);
  await world.tell(parent).fill(300_000);
  parent.tell.hold();
  for (const ref of refs) ref.tell.leave();
  await world.settle();
  assert.is(notified.count, 0);
  open();
  await world.settle();
  assert.is(notified.count, 300_000);
});

scale('20,000 siblings restart together in linear time', async () => {
  const took = async (count: number): Promise<number> => {
    await using world = createTestSystem();
    const started = { count: 0 };
    const Part = defineActor('part', {
      handlers: {
        crash() {
          throw new Error('crash');
        },
      },
      started: () => {
        started.count += 1;
      },
    });
    const Machine = defineActor('machine', {
      handlers: {
        build(ctx) {
          for (let i = 1; i < count; i += 1) ctx.spawn(Part);
          return ctx.spawn(Part);
        },
      },
      supervise: { strategy: 'one-for-all', restarts: 1, withinMs: 1_000 },
    });
    const built = world.system.spawn(Machine).ask.build();
    await world.settle();
    const startedAt = performance.now();
    await world.tell(await built).crash();
    assert.is(started.count, 2 * count);
    return performance.now() - startedAt;
  };
  await took(1_000);
  const small = await took(5_000);
  const large = await took(20_000);
  assert.ok(large < 4 * small * 2 + 500, `5,000 in ${small} ms, 20,000 in ${large} ms`);
});

scale('a parent with an asynchronous `terminated` is notified of 40,000 ends in linear time', async () => {
  const took = async (count: number): Promise<number> => {
    await using world = createTestSystem();
    const Child = defineActor('child', { handlers: {} });
    const notified: number[] = [];
    const Parent = defineActor('parent', {
      handlers: {
        fill(ctx, count: number) {
          for (let i = 0; i < count; i += 1) ctx.watch(ctx.spawn(Child));
          for (const ref of ctx.children) ctx.stop(ref);
        },
      },
      async terminated(_ctx, { ref }) {
        await Promise.resolve();
        notified.push(Number(ref.id.split('.')[0]));
      },
    });
    world.system.spawn(Parent).tell.fill(count);
    const startedAt = performance.now();
    await world.settle();
    assert.is(notified.length, count);
    assert.ok(
      notified.every((slot, i) => i === 0 || slot > (notified[i - 1] as number)),
      'in order',
    );
    return performance.now() - startedAt;
  };
  await took(1_000);
  const small = await took(10_000);
  const large = await took(40_000);
  assert.ok(large < 4 * small * 2 + 500, `10,000 in ${small} ms, 40,000 in ${large} ms`);
});

scale.run();
