import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const permanent = suite('permanent children');

const journal: string[] = [];
const Clerk = defineActor('clerk', {
  state: () => ({ n: 0 }),
  handlers: {
    add(ctx, by: number) {
      ctx.state.n += by;
    },
    get: (ctx) => ctx.state.n,
    leave(ctx) {
      ctx.stop();
    },
    async work(ctx, until: Promise<void>) {
      await until;
      return ctx.state.n;
    },
  },
  stopped() {
    journal.push('stopped');
  },
  restarting() {
    journal.push('restarting');
  },
});

const Office = defineActor('office', {
  handlers: {
    hire: (ctx, restart: 'permanent' | 'transient' | 'temporary') => ctx.spawn(Clerk, undefined, { restart }),
    fire(ctx) {
      const [first] = ctx.children;
      if (first !== undefined) ctx.stop(first);
    },
  },
  supervise: { restarts: 2, withinMs: 1_000 },
});

async function open(restart: 'permanent' | 'transient' | 'temporary') {
  const world = createTestSystem();
  const office = world.system.spawn(Office, undefined, { name: 'office' });
  const hired = office.ask.hire(restart);
  await world.settle();
  journal.length = 0;
  return { world, office, clerk: await hired };
}

permanent(
  'a permanent child that stops itself is started again under the same ref, with a new state',
  async () => {
    const { world, clerk } = await open('permanent');
    await using _ = world;
    clerk.tell.add(5);
    clerk.tell.leave();
    await world.settle();
    const reply = clerk.ask.get();
    await world.settle();
    assert.is(await reply, 0);
    assert.equal(journal, ['stopped']);
  },
);

permanent('a permanent child keeps its mailbox when it is started again', async () => {
  const { world, clerk } = await open('permanent');
  await using _ = world;
  clerk.tell.leave();
  clerk.tell.add(7);
  const reply = clerk.ask.get();
  await world.settle();
  assert.is(await reply, 7);
  assert.is(world.system.stats().deadLetters, 0);
});

permanent('a transient child that stops itself stays stopped', async () => {
  const { world, clerk } = await open('transient');
  await using _ = world;
  clerk.tell.leave();
  await world.settle();
  assert.is(clerk.offer.add(1), 'closed');
});

permanent('a permanent child that its parent stops stays stopped', async () => {
  const { world, office, clerk } = await open('permanent');
  await using _ = world;
  office.tell.fire();
  await world.settle();
  assert.is(clerk.offer.add(1), 'closed');
});

permanent(
  'a permanent child that is killed from outside is started again, and the kill resolves',
  async () => {
    const { world, clerk } = await open('permanent');
    await using _ = world;
    const work = clerk.ask.work(new Promise<void>(() => undefined)).catch((error: Error) => error.message);
    await world.settle();
    const killed = world.system.kill(clerk);
    await world.settle();
    assert.is(await killed, 'killed');
    assert.match(String(await work), /not delivered, stopped/);
    const reply = clerk.ask.get();
    await world.settle();
    assert.is(await reply, 0);
  },
);

permanent('a permanent child that ends too often fails its parent', async () => {
  const { world, office, clerk } = await open('permanent');
  await using _ = world;
  for (let i = 0; i < 3; i += 1) {
    clerk.tell.leave();
    await world.settle();
  }
  assert.is(clerk.offer.add(1), 'closed');
  assert.ok(world.host.logged.some(({ message }) => message.includes('more than 2 restarts within 1000 ms')));
  const hired = office.ask.hire('temporary');
  await world.settle();
  assert.ok(await hired);
});

permanent('a top-level actor that the system stops stays stopped, permanent or not', async () => {
  await using world = createTestSystem();
  const clerk = world.system.spawn(Clerk, undefined, { restart: 'permanent' });
  const stopped = world.system.stop(clerk);
  await world.settle();
  assert.is(await stopped, 'stopped');
  assert.is(clerk.offer.add(1), 'closed');
});

permanent('the watcher of a permanent child is not notified when the child is started again', async () => {
  const seen: string[] = [];
  const Watcher = defineActor('watcher', {
    handlers: {
      watch(ctx, ref: Parameters<typeof ctx.watch>[0]) {
        ctx.watch(ref);
      },
    },
    terminated(_ctx, { reason }) {
      seen.push(reason);
    },
  });
  const { world, office, clerk } = await open('permanent');
  await using _ = world;
  world.system.spawn(Watcher).tell.watch(clerk);
  await world.settle();
  clerk.tell.leave();
  await world.settle();
  assert.equal(seen, []);
  office.tell.fire();
  await world.settle();
  assert.equal(seen, ['stopped']);
});

permanent('a spawn with an unknown restart type is refused', async () => {
  await using world = createTestSystem();
  assert.throws(
    () => world.system.spawn(Clerk, undefined, { restart: 'always' as 'permanent' }),
    (error: { code?: string }) => error.code === 'ERR_OPTION',
  );
  assert.is(world.system.stats().actors, 1);
});

permanent.run();
