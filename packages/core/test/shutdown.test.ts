import { createSystem, defineActor, OptionError, type SystemReport } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const shutdown = suite('shutdown');

const never = (): Promise<void> => new Promise(() => undefined);
const Idle = defineActor('idle', { handlers: { ping() {} } });
const NeverStops = defineActor('never-stops', {
  handlers: { ping() {} },
  stopping: never,
  stopWithinMs: 60_000,
});

async function endOf(
  world: ReturnType<typeof createTestSystem>,
  ending: Promise<SystemReport>,
): Promise<SystemReport> {
  let report: SystemReport | undefined;
  void ending.then((made) => {
    report = made;
  });
  for (let i = 0; i < 100 && report === undefined; i += 1) await world.advance(1_000);
  assert.ok(report, 'the shutdown did not end');
  return report as SystemReport;
}

shutdown('shutdown phases run one after the other, the tasks of a phase concurrently', async () => {
  const world = createTestSystem();
  const { system } = world;
  const order: string[] = [];
  const Last = defineActor('last', { handlers: {}, stopped: () => void order.push('actor') });
  system.spawn(Last);
  system.onShutdown('resources', 'db', () => order.push('db'));
  system.onShutdown('drain', 'jobs', async () => order.push('jobs'));
  system.onShutdown('stop-accepting', 'http', () => order.push('http'));
  system.onShutdown('stop-accepting', 'tcp', () => order.push('tcp'));
  const takeBack = system.onShutdown('resources', 'cache', () => order.push('cache'));
  takeBack();
  const report = await endOf(world, system.shutdown({ withinMs: 1_000 }));
  assert.equal(order, ['http', 'tcp', 'jobs', 'actor', 'db']);
  assert.equal(report.unfinished, []);
});

shutdown('actors can be spawned and used in the drain phase of a shutdown', async () => {
  const world = createTestSystem();
  const { system } = world;
  let spawned = false;
  system.onShutdown('drain', 'spawn an actor', () => {
    system.spawn(Idle).tell.ping();
    spawned = true;
  });
  const report = await endOf(world, system.shutdown());
  assert.is(spawned, true);
  assert.equal(report.unfinished, []);
  assert.throws(
    () => system.spawn(Idle),
    (error: { code?: string }) => error.code === 'ERR_SYSTEM_STOPPED',
  );
});

shutdown('a task that hangs or fails is reported and delays no other task', async () => {
  const world = createTestSystem();
  const { system } = world;
  const order: string[] = [];
  system.onShutdown('stop-accepting', 'hangs', never);
  system.onShutdown('drain', 'throws', () => {
    throw new Error('no');
  });
  system.onShutdown('drain', 'rejects', () => Promise.reject(new Error('never')));
  system.onShutdown('resources', 'db', () => order.push('db'));
  const report = await endOf(world, system.shutdown({ withinMs: 400 }));
  assert.equal(report.unfinished, [
    { phase: 'stop-accepting', name: 'hangs', why: 'did not end within 100 ms' },
    { phase: 'drain', name: 'throws', why: 'failed: no' },
    { phase: 'drain', name: 'rejects', why: 'failed: never' },
  ]);
  assert.equal(order, ['db']);
  assert.is(report.cause, undefined);
});

shutdown('actors that do not stop in time are killed and reported', async () => {
  const world = createTestSystem();
  const { system, host } = world;
  system.spawn(NeverStops, { name: 'hanging' });
  system.spawn(Idle, { name: 'lamb' });
  const startedAt = host.now();
  let endedAt = 0;
  const ending = system.shutdown({ withinMs: 300 }).then((report) => {
    endedAt = host.now();
    return report;
  });
  await world.advance(301);
  const report = await ending;
  assert.is(endedAt - startedAt, 300);
  assert.equal(report.unfinished, [
    { phase: 'actors', name: '/hanging', why: 'running stopping for 300 ms' },
  ]);
});

shutdown('by default actors get ten seconds to stop, and one that hangs gets five', async () => {
  const world = createTestSystem();
  const { system, host } = world;
  const order: string[] = [];
  const Polite = defineActor('polite', { handlers: {}, stopped: () => void order.push('polite') });
  const Hung = defineActor('hung', { handlers: {}, stopping: never });
  system.spawn(NeverStops);
  system.spawn(Polite);
  system.spawn(Hung);
  let endedAt = 0;
  void system.shutdown().then(() => {
    endedAt = host.now();
  });
  await world.advance(5_001);
  assert.equal(order, ['polite']);
  await world.advance(10_000);
  assert.is(endedAt, 10_000);
});

shutdown('the end of a significant top-level actor shuts the system down', async () => {
  const world = createTestSystem();
  const { system } = world;
  const order: string[] = [];
  const Main = defineActor('main', {
    handlers: {
      leave(ctx) {
        ctx.stop();
      },
    },
  });
  system.onShutdown('resources', 'db', () => order.push('db'));
  const main = system.spawn(Main, { significant: true });
  main.tell.leave();
  const report = await endOf(world, system.whenStopped);
  assert.equal(order, ['db']);
  assert.is(report.cause, undefined);
});

shutdown('a failure that reaches the guardian shuts the system down through the same phases', async () => {
  const world = createTestSystem({ supervise: { restarts: 0 } });
  const { system } = world;
  const order: string[] = [];
  const Broken = defineActor('broken', {
    handlers: {
      crash() {
        throw new Error('crash');
      },
    },
  });
  system.onShutdown('drain', 'jobs', () => order.push('jobs'));
  system.onShutdown('resources', 'db', () => order.push('db'));
  system.spawn(Broken).tell.crash();
  const report = await endOf(world, system.whenStopped);
  assert.match(report.cause?.message ?? '', /crash/);
  assert.equal(order, ['jobs', 'db']);
});

shutdown('a second shutdown waits for the first', async () => {
  const world = createTestSystem();
  const { system } = world;
  let runs = 0;
  system.onShutdown('drain', 'count', () => {
    runs += 1;
  });
  const [a, b] = await world.settle(Promise.all([system.shutdown(), system.shutdown({ withinMs: 1 })]));
  assert.is(a, b);
  assert.is(runs, 1);
  assert.throws(() => system.onShutdown('drain', 'late', () => undefined), /stopping or stopped/);
});

shutdown('invalid use is refused', async () => {
  await using world = createTestSystem();
  const { system } = world;
  assert.throws(
    () => system.onShutdown('never' as 'drain', 'x', () => undefined),
    (error: unknown) => error instanceof OptionError,
  );
  assert.throws(
    () => system.onShutdown('drain', 'x', 5 as unknown as () => void),
    (error: unknown) => error instanceof OptionError,
  );
  assert.throws(
    () => system.shutdown({ withinMs: -1 }),
    (error: unknown) => error instanceof OptionError,
  );
  assert.throws(
    () => system.shutdown({ withinMs: Number.NaN }),
    (error: unknown) => error instanceof OptionError,
  );
});

shutdown(
  'a shutdown under load is bounded in time, and every message is handled or a dead letter',
  async () => {
    const system = createSystem({ warn: false });
    let sent = 0;
    const Busy = defineActor('busy', {
      handlers: {
        spin(ctx) {
          sent += 1;
          Busy.self(ctx).tell.spin();
        },
      },
    });
    for (let i = 0; i < 2_000; i += 1) {
      sent += 1;
      system.spawn(Busy).tell.spin();
    }
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const startedAt = performance.now();
    const report = await system.shutdown({ withinMs: 1_000 });
    assert.ok(performance.now() - startedAt < 5_000, `${performance.now() - startedAt} ms`);
    assert.is(report.handled + report.deadLetters, sent);
    assert.is(system.stats().queued, 0);
  },
);

shutdown('a time limit beyond the longest host timer is capped', async () => {
  for (const withinMs of [Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 40]) {
    const system = createSystem();
    const Slow = defineActor('slow', {
      handlers: {},
      stopping: () => new Promise((resolve) => setTimeout(resolve, 30)),
    });
    system.spawn(Slow);
    const report = await system.shutdown({ withinMs });
    assert.equal(report.unfinished, []);
  }
});

shutdown('a task whose error getters throw is reported and delays no other task', async () => {
  const world = createTestSystem();
  world.system.onShutdown('drain', 'hostile', () => {
    let reads = 0;
    throw Object.defineProperty(new Error('x'), 'message', {
      get() {
        reads += 1;
        if (reads > 1) throw new Error('only once');
        return 'once';
      },
    });
  });
  const report = await endOf(world, world.system.shutdown({ withinMs: 400 }));
  assert.equal(report.unfinished, [
    { phase: 'drain', name: 'hostile', why: 'failed: a message that cannot be read' },
  ]);
});

shutdown.run();
