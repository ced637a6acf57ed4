import { defineActor, NoRouteeError, OptionError, type PoolOptions } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellOf } from '../internals.js';

const pool = suite('pool');

const seen: string[] = [];
const Worker = defineActor('worker', {
  state: (args: { index: number }) => ({ index: args.index, n: 0 }),
  handlers: {
    work(ctx, what: string) {
      seen.push(`${ctx.state.index}:${what}`);
      ctx.state.n += 1;
    },
    who: (ctx) => ctx.state.index,
    async slow(_ctx, until: Promise<void>) {
      await until;
      return 'done';
    },
    crash(_ctx, why: string) {
      throw new Error(why);
    },
    leave(ctx) {
      ctx.stop();
    },
  },
});

function open(options: Partial<PoolOptions<typeof Worker>> = {}) {
  seen.length = 0;
  const world = createTestSystem({ seed: 7 });
  const workers = world.system.spawnPool(Worker, {
    size: 3,
    name: 'workers',
    args: (index) => ({ index }),
    ...options,
  });
  return { world, workers };
}

pool('round-robin takes routees in turn', async () => {
  const { world, workers } = open();
  await using _ = world;
  for (const what of ['a', 'b', 'c', 'd']) workers.tell.work(what);
  await world.settle();
  assert.equal([...seen].sort(), ['0:a', '0:d', '1:b', '2:c']);
  assert.is(workers.path, '/workers');
  assert.equal(
    workers.routees.map(({ path }) => path),
    ['/workers/0', '/workers/1', '/workers/2'],
  );
});

pool('random reaches every routee', async () => {
  const { world, workers } = open({ routing: 'random' });
  await using _ = world;
  for (let i = 0; i < 60; i += 1) workers.tell.work('x');
  await world.settle();
  assert.is(new Set(seen).size, 3);
});

pool('least-loaded avoids busy routees', async () => {
  const { world, workers } = open({ routing: 'least-loaded' });
  await using _ = world;
  const [first] = workers.routees;
  const never = new Promise<void>(() => undefined);
  void first?.ask.slow(never).catch(() => undefined);
  await world.settle();
  for (let i = 0; i < 20; i += 1) {
    await world.tell(workers).work('x');
  }
  assert.is(seen.length, 20);
  assert.not(seen.some((line) => line.startsWith('0:')));
});

pool('consistent hash keeps a key with one routee', async () => {
  const { world, workers } = open({ routing: { hash: (_message, payload) => String(payload) } });
  await using _ = world;
  for (let round = 0; round < 3; round += 1)
    for (const key of ['x', 'y', 'z', 'u', 'v']) workers.tell.work(key);
  await world.settle();
  assert.is(new Set(seen).size, 5);
});

pool('broadcast reaches every routee, and the first reply answers an ask', async () => {
  const { world, workers } = open({ routing: 'broadcast' });
  await using _ = world;
  workers.tell.work('all');
  const who = workers.ask.who();
  await world.settle();
  assert.equal([...seen].sort(), ['0:all', '1:all', '2:all']);
  assert.ok([0, 1, 2].includes(await who));
});

pool('a key function that throws reaches neither the sender nor the pool', async () => {
  const { world, workers } = open({
    routing: {
      hash: () => {
        throw new Error('no key');
      },
    },
  });
  await using _ = world;
  workers.tell.work('x');
  assert.is(workers.offer.work('x'), 'closed');
  const refused = await workers.ask.who().catch((error: unknown) => error);
  assert.instance(refused, NoRouteeError);
  assert.is(world.system.stats().deadLetters, 1);
});

pool('gather collects every reply, failures and timeouts included', async () => {
  const { world, workers } = open();
  await using _ = world;
  const [first, second] = workers.routees;
  const token = world.system.suspend(first as NonNullable<typeof first>);
  world.system.subscribe(() => undefined);
  const answers = workers.gather({ withinMs: 50 }).who();
  await world.advance(60);
  const gathered = await answers;
  assert.equal(
    gathered.map((one) => ('reply' in one ? one.reply : (one.error as Error & { code: string }).code)),
    ['ERR_ASK_TIMEOUT', 1, 2],
  );
  assert.is(gathered[1]?.routee, second?.path);
  token.resume();
});

pool('`first` takes the first reply and fails only when all routees fail', async () => {
  const { world, workers } = open();
  await using _ = world;
  const token = world.system.suspend(workers.routees[0] as (typeof workers.routees)[number]);
  const first = workers.first({ withinMs: 50 }).who();
  await world.settle();
  assert.ok([1, 2].includes(await first));
  token.resume();
  for (const routee of workers.routees) world.system.suspend(routee);
  const none = workers.first({ withinMs: 50 }).who();
  const failed = none.catch((error: unknown) => error);
  await world.advance(60);
  assert.instance(await failed, NoRouteeError);
});

pool('a routee that fails or ends is restarted under the same ref', async () => {
  const { world, workers } = open();
  await using _ = world;
  const [first, second] = workers.routees;
  first?.tell.crash('x');
  second?.tell.leave();
  await world.settle();
  assert.is(workers.routees.length, 3);
  workers.all.work('again');
  await world.settle();
  assert.equal([...seen].sort(), ['0:again', '1:again', '2:again']);
});

pool('a pool without living routees rejects asks with a typed error', async () => {
  const { world, workers } = open({ restart: 'temporary' });
  await using _ = world;
  const letters: string[] = [];
  world.system.subscribe((event) => {
    if (event.kind === 'dead-letter')
      letters.push(`${event.letter.reason} ${event.letter.to}.${event.letter.message}`);
  });
  workers.all.leave();
  await world.settle();
  workers.tell.work('x');
  assert.equal(letters, ['unrouted /workers.work']);
  assert.is(workers.offer.work('x'), 'closed');
  for (const refused of [
    workers.ask.who(),
    workers.send.work('x'),
    workers.gather().who(),
    workers.first().who(),
  ]) {
    assert.is(
      await (refused as Promise<unknown>).catch((error: { code?: string }) => error.code),
      'ERR_NO_ROUTEE',
    );
  }
});

pool('resizing a pool drains surplus routees or starts new ones', async () => {
  const { world, workers } = open();
  await using _ = world;
  let open_ = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    open_ = resolve;
  });
  const last = workers.routees[2];
  const slow = last?.ask.slow(until);
  await world.settle();
  workers.resize(1);
  assert.is(workers.size, 1);
  await world.settle();
  assert.is(workers.routees.length, 1);
  open_();
  await world.settle();
  assert.is(await slow, 'done');
  workers.resize(4);
  await world.settle();
  assert.equal(
    workers.routees.map(({ path }) => path),
    ['/workers/0', '/workers/3', '/workers/4', '/workers/5'],
  );
});

pool('a pool is used like a ref by actors and timers', async () => {
  const { world, workers } = open();
  await using _ = world;
  const Parent = defineActor('parent', {
    handlers: {
      go(ctx) {
        ctx.tell(workers).work('now');
        ctx.after(10, workers).work('later');
      },
      who: (ctx) => ctx.ask(workers, { withinMs: 5 }).who(),
    },
    terminated(_ctx, { ref }) {
      seen.push(`gone ${ref.path}`);
    },
    started(ctx) {
      ctx.watch(workers);
    },
  });
  const parent = world.system.spawn(Parent);
  parent.tell.go();
  const who = parent.ask.who();
  await world.advance(11);
  assert.equal(
    seen.map((line) => line.slice(2)),
    ['now', 'later'],
  );
  assert.type(await who, 'number');
  assert.is(await world.settle(world.system.stop(workers)), 'stopped');
  assert.is(seen.at(-1), 'gone /workers');
});

pool('invalid options are refused before any actor is started', async () => {
  await using world = createTestSystem();
  const args = (index: number) => ({ index });
  const bad: readonly unknown[] = [
    { size: 0, args },
    { size: -1, args },
    { size: 1.5, args },
    { size: 1e9, args },
    { size: 1, args, routing: 'nearest' },
    { size: 1, args, routing: { hash: 'key' } },
    { size: 1, args, routing: { pull: { window: 0 } } },
    { size: 1, args, routing: { pull: { attempts: 0 } } },
    { size: 1, args, mailbox: { capacity: 5 } },
    { size: 1, args: { index: 1 } },
    { size: 1, args, name: 'a/b' },
    { size: 1, args, sizes: 2 },
    { size: 1, args, routing: { pull: { windw: 2 } } },
    { size: 1, args, routing: { push: {} } },
    { size: 1, args, routing: null },
    undefined,
    null,
  ];
  for (const options of bad) {
    assert.throws(
      () => world.system.spawnPool(Worker, options as PoolOptions<typeof Worker>),
      (error: unknown) => error instanceof OptionError,
    );
  }
  assert.is(world.system.stats().actors, 1);
  const one = world.system.spawnPool(Worker, { size: 1, args });
  assert.throws(() => one.resize(0), /whole number from 1 to 65536/);
});

pool('a drain lets every routee finish its backlog, also after a failure', async () => {
  for (const routing of ['round-robin', 'random', 'least-loaded'] as const) {
    const { world, workers } = open({ routing });
    await using _ = world;
    let finish = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      finish = resolve;
    });
    for (const routee of workers.routees) {
      void routee.ask.slow(until);
      routee.tell.crash('on the way');
    }
    await world.settle();
    for (let n = 0; n < 20; n += 1) workers.tell.work(String(n));
    const drained = world.system.drain(workers);
    await world.settle();
    assert.is(workers.offer.work('late'), 'closed');
    assert.equal(seen, []);
    finish();
    assert.is(await world.settle(drained), 'drained');
    assert.is(seen.length, 20, routing);
    assert.is(world.system.stats().deadLetters, 0);
  }
});

pool('a drain of a pool respects its time limit', async () => {
  const { world, workers } = open();
  await using _ = world;
  void workers.routees[0]?.ask.slow(new Promise(() => undefined)).catch(() => undefined);
  await world.settle();
  const drained = world.system.drain(workers, { withinMs: 60_000 });
  let how: unknown;
  void drained.then((reason) => {
    how = reason;
  });
  await world.advance(59_999);
  assert.is(how, undefined);
  await world.advance(1);
  assert.is(how, 'killed');
});

pool('a surplus routee is killed when its drain takes too long', async () => {
  const { world, workers } = open();
  await using _ = world;
  void workers.routees[2]?.ask.slow(new Promise(() => undefined)).catch(() => undefined);
  await world.settle();
  workers.resize(2);
  await world.advance(29_999);
  assert.is(world.system.stats().actors, 5);
  await world.advance(1);
  assert.is(world.system.stats().actors, 4);
});

pool('an arguments function that throws reaches the caller and leaves the pool unchanged', async () => {
  await using world = createTestSystem();
  const limit = { most: 2 };
  const args = (index: number) => {
    if (index >= limit.most) throw new RangeError(`no ${index}`);
    return { index };
  };
  assert.throws(() => world.system.spawnPool(Worker, { size: 3, name: 'workers', args }), /no 2/);
  await world.advance(10_000);
  assert.is(world.system.stats().actors, 1);
  const workers = world.system.spawnPool(Worker, { size: 2, name: 'workers', args });
  assert.throws(() => workers.resize(4), /no 2/);
  assert.is(workers.size, 2);
  assert.is(workers.routees.length, 2);
  limit.most = 4;
  workers.resize(4);
  await world.settle();
  assert.equal(
    workers.routees.map(({ path }) => path),
    [0, 1, 2, 3].map((index) => `/workers/${index}`),
  );
});

pool('a pool whose routees cannot be spawned leaves no actor behind', async () => {
  const twice = { name: 'twice', beforeTurn: () => undefined };
  await using world = createTestSystem({ middleware: [twice] });
  const Own = defineActor('own', { handlers: {}, middleware: [twice] });
  assert.throws(() => world.system.spawnPool(Own, { size: 1, name: 'own' }), /used once/);
  await world.advance(10_000);
  assert.is(world.system.stats().actors, 1);
});

pool('shrinking a pool skips routees that have already ended', async () => {
  const { world, workers } = open({ restart: 'temporary' });
  await using _ = world;
  const last = workers.routees[2];
  last?.tell.leave();
  await world.settle();
  workers.resize(2);
  const { timers } = world.system.stats();
  assert.is(timers, 0, 'no timer waits for its end');
  // The next routee may use the same slot.
  const replacement = world.system.spawn(Worker, { args: { index: 9 } });
  await world.advance(60_000);
  assert.is(await world.ask(replacement).who(), 9);
});

pool('a stopped pool cannot be resized', async () => {
  const { world, workers } = open();
  await using _ = world;
  await world.settle(world.system.stop(workers));
  assert.throws(() => workers.resize(5), /the pool is stopping or has stopped/);
  assert.is(workers.size, 3);
});

pool("a pool is found by its name, and its watchers are notified with the pool's ref", async () => {
  for (const routing of ['round-robin', { pull: {} }] as const) {
    const { world, workers } = open({ routing });
    await using _ = world;
    assert.is(world.system.lookup(Worker, '/workers'), workers);
    assert.is(world.system.lookup(Worker, '/workers/1'), workers.routees[1]);
    let notifiedRef: unknown;
    const Watcher = defineActor('watcher', {
      handlers: {},
      started: (ctx) => ctx.watch(workers),
      terminated: (_ctx, { ref }) => {
        notifiedRef = ref;
      },
    });
    world.system.spawn(Watcher);
    await world.settle();
    await world.settle(world.system.stop(workers));
    assert.is(notifiedRef, workers);
    assert.is(world.system.lookup(Worker, '/workers'), undefined);
  }
});

pool('the watcher of a name is notified with the pool that has it', async () => {
  await using world = createTestSystem();
  const notified: unknown[] = [];
  const others: unknown[] = [];
  world.system.watchName(Worker, 'workers', (ref) => notified.push(ref));
  world.system.watchName(defineActor('other', { handlers: {} }), 'workers', (ref) => others.push(ref));
  const workers = world.system.spawnPool(Worker, {
    size: 1,
    name: 'workers',
    args: (index) => ({ index }),
  });
  await world.settle();
  await world.settle(world.system.stop(workers));
  assert.equal(notified.length, 3);
  assert.ok(notified[0] === undefined && notified[1] === workers && notified[2] === undefined);
  assert.equal(others, [undefined, undefined, undefined]);
});

pool('handlers of a pool can have any name', async () => {
  await using world = createTestSystem();
  const Any = defineActor('any', {
    handlers: { router: () => 'router', terms: () => 'terms', members: () => 'members', pool: () => 'pool' },
  });
  const any = world.system.spawnPool(Any, { size: 1 });
  any.tell.router();
  any.all.terms();
  assert.is(any.offer.router(), 'accepted');
  const replies = [any.ask.router(), any.ask.terms(), any.ask.members(), any.first().terms(), any.ask.pool()];
  assert.equal(await world.settle(Promise.all(replies)), ['router', 'terms', 'members', 'terms', 'pool']);
});

pool('pull pools with equal mailboxes share one actor type', async () => {
  await using world = createTestSystem();
  const types = new Set(
    [{ capacity: 7 }, { capacity: 7 }, { capacity: 8 }].map((mailbox) => {
      const args = (index: number) => ({ index });
      return cellOf(world.system.spawnPool(Worker, { size: 1, args, routing: { pull: {} }, mailbox })).type;
    }),
  );
  assert.is(types.size, 2);
});

pool.run();
