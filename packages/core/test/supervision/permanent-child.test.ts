import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const permanent = suite('permanent children');

const journal: string[] = [];
const Child = defineActor('child', {
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

const Parent = defineActor('parent', {
  handlers: {
    spawnChild: (ctx, restart: 'permanent' | 'transient' | 'temporary') => ctx.spawn(Child, { restart }),
    stopChild(ctx) {
      const [first] = ctx.children;
      if (first !== undefined) ctx.stop(first);
    },
  },
  supervise: { restarts: 2, withinMs: 1_000 },
});

async function open(restart: 'permanent' | 'transient' | 'temporary') {
  const world = createTestSystem();
  const parent = world.system.spawn(Parent, { name: 'parent' });
  const child = await world.ask(parent).spawnChild(restart);
  journal.length = 0;
  return { world, parent, child };
}

permanent(
  'a permanent child that stops itself is started again under the same ref, with a new state',
  async () => {
    const { world, child } = await open('permanent');
    await using _ = world;
    child.tell.add(5);
    child.tell.leave();
    await world.settle();
    assert.is(await world.ask(child).get(), 0);
    assert.equal(journal, ['stopped']);
  },
);

permanent('a permanent child keeps its mailbox when it is started again', async () => {
  const { world, child } = await open('permanent');
  await using _ = world;
  child.tell.leave();
  child.tell.add(7);
  assert.is(await world.ask(child).get(), 7);
  assert.is(world.system.stats().deadLetters, 0);
});

permanent('a transient child that stops itself stays stopped', async () => {
  const { world, child } = await open('transient');
  await using _ = world;
  await world.tell(child).leave();
  assert.is(child.offer.add(1), 'closed');
});

permanent('a permanent child that its parent stops stays stopped', async () => {
  const { world, parent, child } = await open('permanent');
  await using _ = world;
  await world.tell(parent).stopChild();
  assert.is(child.offer.add(1), 'closed');
});

permanent(
  'a permanent child that is killed from outside is started again, and the kill resolves',
  async () => {
    const { world, child } = await open('permanent');
    await using _ = world;
    const work = child.ask.work(new Promise<void>(() => undefined)).catch((error: Error) => error.message);
    await world.settle();
    assert.is(await world.settle(world.system.kill(child)), 'killed');
    assert.match(String(await work), /not delivered, stopped/);
    assert.is(await world.ask(child).get(), 0);
  },
);

permanent('a permanent child that ends too often fails its parent', async () => {
  const { world, parent, child } = await open('permanent');
  await using _ = world;
  for (let i = 0; i < 3; i += 1) {
    await world.tell(child).leave();
  }
  assert.is(child.offer.add(1), 'closed');
  assert.ok(world.host.logged.some(({ message }) => message.includes('more than 2 restarts within 1000 ms')));
  assert.ok(await world.ask(parent).spawnChild('temporary'));
});

permanent('a top-level actor that the system stops stays stopped, permanent or not', async () => {
  await using world = createTestSystem();
  const child = world.system.spawn(Child, { restart: 'permanent' });
  assert.is(await world.settle(world.system.stop(child)), 'stopped');
  assert.is(child.offer.add(1), 'closed');
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
  const { world, parent, child } = await open('permanent');
  await using _ = world;
  await world.tell(world.system.spawn(Watcher)).watch(child);
  await world.tell(child).leave();
  assert.equal(seen, []);
  await world.tell(parent).stopChild();
  assert.equal(seen, ['stopped']);
});

permanent('a spawn with an unknown restart type is refused', async () => {
  await using world = createTestSystem();
  assert.throws(
    () => world.system.spawn(Child, { restart: 'always' as 'permanent' }),
    (error: { code?: string }) => error.code === 'ERR_OPTION',
  );
  assert.is(world.system.stats().actors, 1);
});

permanent.run();
