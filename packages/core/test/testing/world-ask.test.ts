import { ActorFailedError, defineActor, MisuseError } from '@troupe/core';
import { createTestSystem, UnansweredError } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const asks = suite('world.ask');

const Store = defineActor('store', {
  state: () => ({ reads: 0 }),
  handlers: {
    async read(ctx, key: string) {
      ctx.state.reads += 1;
      for (let i = 0; i < 20; i += 1) await Promise.resolve();
      return key.toUpperCase();
    },
    never: () => new Promise<number>(() => undefined),
    later: (ctx) => ctx.later<number>(),
    broken: (): number => {
      throw new Error('broken');
    },
  },
});

async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  return assert.unreachable('did not reject') as never;
}

asks('resolves with the reply, over several actors and promises, without moving time', async () => {
  await using world = createTestSystem();
  const store = world.system.spawn(Store);
  const Reader = defineActor('reader', {
    handlers: { read: async (ctx, key: string) => `${await ctx.ask(store).read(key)}!` },
  });
  const reader = world.system.spawn(Reader);
  assert.is(await world.ask(reader).read('a'), 'A!');
  assert.equal(await Promise.all([world.ask(reader).read('b'), world.ask(store).read('c')]), ['B!', 'C']);
  assert.is(world.host.now(), 0);
  assert.equal(world.stateOf(Store, store), { reads: 3 });
});

asks('rejects with the error of the ask', async () => {
  await using world = createTestSystem();
  const store = world.system.spawn(Store);
  assert.instance(await rejection(world.ask(store).broken()), ActorFailedError);
});

asks('without a reply, rejects with the activity of every actor that is not idle', async () => {
  await using world = createTestSystem();
  const store = world.system.spawn(Store, { name: 'store' });
  world.system.spawn(Store, { name: 'idle' });
  const Reader = defineActor('reader', {
    handlers: { read: (ctx) => ctx.ask(store).never() },
  });
  const reader = world.system.spawn(Reader, { name: 'reader' });
  const error = (await rejection(world.ask(reader).read())) as UnansweredError;
  assert.instance(error, UnansweredError);
  assert.is(error.code, 'ERR_TEST_UNANSWERED');
  assert.equal([error.target, error.question], ['/reader', 'read']);
  assert.equal(error.activities, [
    '/store (store): running never for 0 ms',
    '/reader (reader): running read for 0 ms',
  ]);
  assert.match(error.message, /^\/reader\.read: not answered, and no actor can go on at this time:\n/);
  assert.match(error.message, /await world\.advance\(ms\); await reply;$/);
});

asks('names a reply that an idle actor owes, and an answer that a probe lacks', async () => {
  await using world = createTestSystem();
  const store = world.system.spawn(Store, { name: 'store' });
  assert.equal(((await rejection(world.ask(store).later())) as UnansweredError).activities, [
    '/store (store): idle; it has handled the message and owes its reply (`ctx.later`)',
  ]);
  const probe = world.probe(Store, { name: 'probe' });
  assert.equal(((await rejection(world.ask(probe.ref).read('a'))) as UnansweredError).activities, [
    '/probe (probe of store): idle; no answer to read: call probe.answer.read(…)',
  ]);
});

asks('names stashed messages and the phase', async () => {
  await using world = createTestSystem();
  const Door = defineActor('door', {
    handlers: {},
    phases: { closed: { open: (ctx) => ctx.become('open') }, open: { pass: () => 1 } },
    illegal: 'stash',
  });
  const door = world.system.spawn(Door, { name: 'door' });
  assert.equal(((await rejection(world.ask(door).pass())) as UnansweredError).activities, [
    '/door (door in closed): idle; 1 messages stashed',
  ]);
});

asks(
  'an ask that was left unanswered can be answered later, and its deadline is no unhandled rejection',
  async () => {
    await using world = createTestSystem();
    const store = world.system.spawn(Store);
    await rejection(world.ask(store, { withinMs: 10 }).never());
    await world.advance(20);
  },
);

asks('`stateOf` refuses an actor of another definition, a pool, and one that has ended', async () => {
  await using world = createTestSystem();
  const Other = defineActor('other', { handlers: {} });
  const store = world.system.spawn(Store, { name: 'store' });
  const refused = (run: () => unknown) => assert.throws(run, (error: Error) => error instanceof MisuseError);
  refused(() => world.stateOf(Other, store as never));
  const pool = world.system.spawnPool(Store, { size: 2 });
  refused(() => world.stateOf(Store, pool));
  await world.settle(world.system.stop(store));
  refused(() => world.stateOf(Store, store));
});

asks.run();
