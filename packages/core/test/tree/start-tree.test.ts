import { child, defineActor, OptionError, pool, supervisor, TreeError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const running = suite('started tree');

const journal: string[] = [];
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
    leave(ctx) {
      ctx.stop();
    },
  },
  started(ctx) {
    journal.push(`+${ctx.state.name}`);
  },
  stopped(ctx) {
    journal.push(`.${ctx.state.name}`);
  },
  restarting(ctx) {
    journal.push(`-${ctx.state.name}`);
  },
});
const Other = defineActor('other', { handlers: { ping: () => 'pong' } });

const part = (
  name: string,
  options: { restart?: 'permanent' | 'transient' | 'temporary'; significant?: boolean } = {},
) => child(Part, { args: { name }, name, ...options });

running('siblings start in order and stop in reverse order', async () => {
  journal.length = 0;
  const world = createTestSystem();
  world.system.start(
    supervisor('app', {}, [part('a'), supervisor('sub', {}, [part('b'), part('c')]), part('d')]),
  );
  await world.settle();
  assert.equal(journal, ['+a', '+b', '+c', '+d']);
  journal.length = 0;
  await world[Symbol.asyncDispose]();
  assert.equal(journal, ['.d', '.c', '.b', '.a']);
});

running('children are found by definition, or by path where that is ambiguous', async () => {
  await using world = createTestSystem();
  const app = world.system.start(
    supervisor('app', {}, [
      part('a'),
      supervisor('sub', {}, [part('b'), child(Other)]),
      pool(Other, { size: 2, name: 'others' }),
    ]),
  );
  assert.is(app.get(Part, 'b').path, '/app/sub/b');
  assert.is(app.get(Part, 'app/sub/b').path, '/app/sub/b');
  assert.is(app.get(Other).path, '/app/sub/other');
  assert.is(app.pool(Other).routees.length, 2);
  assert.is(app.ref.path, '/app');
  assert.throws(() => app.get(Part), /could be app\/a or app\/sub\/b/);
  assert.throws(
    () => app.get(Part, 'z'),
    (error: unknown) => error instanceof TreeError,
  );
  assert.is(world.system.lookup(Part, 'app/a')?.path, '/app/a');
});

running('a supervisor has the policy of the tree data', async () => {
  journal.length = 0;
  await using world = createTestSystem();
  const app = world.system.start(
    supervisor('app', { strategy: 'rest-for-one' }, [part('a'), part('b'), part('c')]),
  );
  await world.settle();
  journal.length = 0;
  await world.tell(app.get(Part, 'b')).crash();
  assert.equal(journal, ['-c', '-b', '+b', '+c']);
});

running('a permanent child is started again after any end', async () => {
  await using world = createTestSystem();
  const app = world.system.start(supervisor('app', {}, [part('a', { restart: 'permanent' })]));
  const a = app.get(Part);
  await world.tell(a).leave();
  await world.settle(world.system.stop(a));
  await world.settle(world.system.kill(a));
  a.tell.add(3);
  assert.is(await world.ask(a).get(), 3);
});

running('the end of a significant child ends its supervisor and all siblings', async () => {
  journal.length = 0;
  await using world = createTestSystem();
  const app = world.system.start(
    supervisor('app', {}, [part('z'), supervisor('sub', {}, [part('a'), part('b', { significant: true })])]),
  );
  await world.tell(app.get(Part, 'b')).leave();
  assert.equal(journal, ['+z', '+a', '+b', '.b', '.a']);
  assert.is(app.get(Part, 'z').offer.add(1), 'accepted');
});

running('refs stay valid when a supervisor is restarted with its subtree', async () => {
  journal.length = 0;
  await using world = createTestSystem();
  const app = world.system.start(
    supervisor('app', {}, [
      supervisor('sub', { restarts: 1 }, [
        part('a'),
        pool(Other, { size: 2, name: 'others' }),
        supervisor('deep', {}, [part('b')]),
      ]),
    ]),
  );
  const [a, b] = [app.get(Part, 'a'), app.get(Part, 'b')];
  const others = app.pool(Other);
  a.tell.add(1);
  b.tell.add(1);
  await world.settle();
  await world.tell(a).crash();
  await world.tell(a).crash();
  assert.ok(world.host.logged.some(({ message }) => message.includes('/app/sub.supervise failed')));
  const replies = [a.ask.get(), b.ask.get()];
  const pong = others.ask.ping();
  await world.settle();
  assert.equal(await Promise.all(replies), [0, 0]);
  assert.is(await pong, 'pong');
  assert.is(others.routees.length, 2);
  assert.is(world.system.lookup(Part, 'app/sub/deep/b'), b);
});

running('an actor can start a tree as its child', async () => {
  await using world = createTestSystem();
  const spec = supervisor('app', {}, [part('a')]);
  const Owner = defineActor('owner', { handlers: { open: (ctx) => ctx.start(spec).get(Part).path } });
  assert.is(await world.ask(world.system.spawn(Owner, { name: 'owner' })).open(), '/owner/app/a');
});

running('a tree with an invalid policy is refused before any actor is started', async () => {
  await using world = createTestSystem();
  for (const policy of [
    { restarts: -1 },
    { restarts: 0.5 },
    { withinMs: 0 },
    { strategy: 'all' as 'one-for-all' },
  ]) {
    assert.throws(
      () => world.system.start(supervisor('app', {}, [part('a'), supervisor('sub', policy, [])])),
      (error: unknown) => error instanceof OptionError,
    );
  }
  assert.throws(() => world.system.start(supervisor('app', {}, [pool(Other, { size: 0 })])), /pool.size/);
  assert.is(world.system.stats().actors, 1);
});

running('a tree with invalid arguments or options starts no actor', async () => {
  journal.length = 0;
  await using world = createTestSystem();
  let asked = 0;
  const args = (index: number): { name: string } => {
    asked += 1;
    if (index === 1) throw new Error('no arguments');
    return { name: `routee ${index}` };
  };
  const bad = [
    pool(Part, { size: 3, args }),
    pool(Other, { size: 1, restart: 'never' as 'permanent' }),
    pool(Other, { size: 1, supervise: { restarts: -1 } }),
    pool(Other, { size: 1, routing: { pull: {} }, mailbox: { capacity: 0 } }),
    child(Other, { restart: 'never' as 'permanent' }),
    child(Other, { significant: 1 as unknown as boolean }),
  ];
  for (const last of bad) {
    const tree = supervisor('app', {}, [part('a'), supervisor('sub', {}, [part('b'), last])]);
    assert.throws(() => world.system.start(tree));
    assert.is(world.system.stats().actors, 1);
  }
  await world.settle();
  assert.is(asked, 2);
  assert.equal(journal, []);
});

running('a tree that fails to start is removed, and its names are free again', async () => {
  journal.length = 0;
  const guard = { name: 'guard', beforeMessage: () => undefined };
  const Guarded = defineActor('guarded', { handlers: { ping: () => 'pong' }, middleware: [guard] });
  await using world = createTestSystem({ middleware: [guard] });
  const options = { restart: 'permanent' } as const;
  assert.throws(
    () => world.system.start(supervisor('app', options, [part('a'), child(Guarded)])),
    (error: unknown) => error instanceof OptionError,
  );
  await world.settle();
  assert.is(world.system.stats().actors, 1);
  assert.equal(journal, []);
  world.system.start(supervisor('app', options, [part('a')]));
  await world.settle();
  assert.equal(journal, ['+a']);
});

running('with `restarts: 0` the first failure escalates', async () => {
  await using world = createTestSystem();
  const app = world.system.start(supervisor('app', { restarts: 0 }, [part('a')]));
  await world.tell(app.get(Part)).crash();
  assert.ok(world.host.logged.some(({ message }) => message.includes('more than 0 restarts')));
  assert.is(app.get(Part).offer.add(1), 'accepted');
});

running('a tree whose name is taken is refused', async () => {
  await using world = createTestSystem();
  const spec = supervisor('app', {}, [part('a')]);
  world.system.start(spec);
  assert.throws(
    () => world.system.start(spec),
    (error: { code?: string }) => error.code === 'ERR_NAME_TAKEN',
  );
});

running.run();
