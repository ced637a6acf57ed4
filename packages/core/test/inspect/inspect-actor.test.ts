import { type ActorView, child, defineActor, supervisor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const inspect = suite('inspect');

const Clerk = defineActor('clerk', {
  handlers: {
    add() {},
    async slow(_ctx, until: Promise<void>) {
      await until;
    },
    crash() {
      throw new Error('crash');
    },
    remind(ctx) {
      ctx.after(1_000, Clerk.self(ctx)).add();
    },
  },
});

function only(view: ActorView, path: string): ActorView {
  const found = [view, ...view.children.flatMap((one) => [one, ...one.children])].find(
    (one) => one.path === path,
  );
  assert.ok(found, path);
  return found as ActorView;
}

inspect('`inspect` shows the tree with handled messages and restarts', async () => {
  await using world = createTestSystem();
  const app = world.system.start(
    supervisor('app', {}, [child(Clerk, { name: 'a' }), child(Clerk, { name: 'b' })]),
  );
  const a = app.get(Clerk, 'a');
  a.tell.add();
  a.tell.crash();
  a.tell.remind();
  await world.settle();
  const root = world.system.inspect();
  assert.is(root.path, '/');
  const view = only(root, '/app/a');
  assert.is(view.actor, 'clerk');
  assert.equal(view.status, ['idle']);
  assert.is(view.notRunning, undefined);
  assert.is(view.handled, 3);
  assert.is(view.restarts, 1);
  assert.is(view.timers, 1);
  assert.ok(view.bytes > 0);
  assert.is(only(root, '/app/b').handled, 0);
  assert.is(world.system.inspect({ under: a }).path, '/app/a');
});

inspect('`inspect` says why an actor is not running and for how long', async () => {
  await using world = createTestSystem();
  const clerk = world.system.spawn(Clerk, { name: 'c' });
  clerk.tell.slow(new Promise(() => undefined));
  clerk.tell.add();
  await world.advance(250);
  const awaiting = world.system.inspect({ under: clerk });
  assert.equal(awaiting.status, ['awaiting']);
  assert.equal(awaiting.notRunning, { why: 'running slow for 250 ms', forMs: 250 });
  assert.is(awaiting.depth, 1);
  const other = world.system.spawn(Clerk, { name: 'd' });
  world.system.suspend(other, 'audit');
  await world.advance(40);
  const suspended = world.system.inspect({ under: other });
  assert.equal(suspended.status, ['suspended']);
  assert.equal(suspended.notRunning, { why: 'suspended: audit for 40 ms', forMs: 40 });
});

inspect('`inspect` shows the slowest message', async () => {
  await using world = createTestSystem();
  const clerk = world.system.spawn(Clerk);
  for (const ms of [10, 30, 20]) {
    let open = (): void => undefined;
    clerk.tell.slow(
      new Promise<void>((resolve) => {
        open = resolve;
      }),
    );
    await world.advance(ms);
    open();
    await world.settle();
  }
  assert.equal(world.system.inspect({ under: clerk }).slowest, { message: 'slow', ms: 30 });
});

inspect('`inspect` limits levels and children and counts the omitted ones', async () => {
  await using world = createTestSystem();
  const Parent = defineActor('parent', {
    handlers: {
      fill(ctx, count: number) {
        for (let i = 0; i < count; i += 1) ctx.spawn(Clerk);
      },
    },
  });
  const parent = world.system.spawn(Parent, { name: 'p' });
  await world.tell(parent).fill(5);
  const view = world.system.inspect({ under: parent, childrenMax: 2 });
  assert.is(view.children.length, 2);
  assert.is(view.hidden, 3);
  const flat = world.system.inspect({ levels: 1 });
  assert.is(flat.children[0]?.hidden, 5);
  assert.throws(() => world.system.inspect({ levels: -1 }), /inspect.levels/);
});

inspect('the tree is printed as text', async () => {
  await using world = createTestSystem();
  const app = world.system.start(supervisor('app', {}, [child(Clerk, { name: 'a' }), child(Clerk)]));
  app.get(Clerk, 'a').tell.add();
  app.get(Clerk, 'clerk').tell.slow(new Promise(() => undefined));
  await world.advance(5);
  assert.is(
    world.system.tree(),
    [
      '/ (guardian) idle',
      '└─ app (supervisor) idle',
      '   ├─ a (clerk) idle, handled 1',
      '   └─ clerk running slow for 5 ms, handled 1',
    ].join('\n'),
  );
});

inspect('an actor that has ended can still be inspected', async () => {
  await using world = createTestSystem();
  const clerk = world.system.spawn(Clerk, { name: 'x' });
  await world.settle(world.system.stop(clerk));
  assert.is(world.system.inspect({ under: clerk }).activity, 'stopped');
});

inspect('inspecting an ended actor shows nothing of the next actor in its slot', async () => {
  await using world = createTestSystem();
  for (const how of ['stop', 'drain', 'kill'] as const) {
    const gone = world.system.spawn(Clerk, { name: how });
    await world.settle(world.system[how](gone));
    const next = world.system.spawn(Clerk);
    for (let i = 0; i < 7; i += 1) next.tell.add();
    await world.settle();
    assert.is(gone.id.split('.')[0], next.id.split('.')[0], 'the same slot');
    const view = world.system.inspect({ under: gone });
    assert.equal(view.status, ['terminated']);
    assert.is(view.handled, 0);
    await world.settle(world.system.stop(next));
  }
});

inspect.run();
