import { defineActor } from '@troupe/core';
import { createTestSystem, PendingPromiseError } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const settling = suite('world.settle and world.tell');

const Counter = defineActor('counter', {
  state: () => ({ n: 0 }),
  handlers: {
    add(ctx, by: number) {
      ctx.state.n += by;
    },
    async addTwice(ctx, by: number) {
      await Promise.resolve();
      ctx.state.n += 2 * by;
    },
    hang: () => new Promise<void>(() => undefined),
    broken: () => {
      throw new Error('broken');
    },
  },
});

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.unreachable('did not reject');
}

settling('`world.tell` resolves when everything that the message causes has been done', async () => {
  await using world = createTestSystem();
  const counter = world.system.spawn(Counter);
  await world.tell(counter).addTwice(5);
  assert.is(world.stateOf(Counter, counter).n, 10);
  const pool = world.system.spawnPool(Counter, { size: 2 });
  await world.tell(pool).add(1);
  assert.equal(
    pool.routees.map((routee) => world.stateOf(Counter, routee).n),
    [1, 0],
  );
});

settling('`world.tell` resolves also where the message fails: telling has no reply', async () => {
  await using world = createTestSystem();
  const counter = world.system.spawn(Counter, { name: 'counter' });
  await world.tell(counter).broken();
  assert.is(world.eventsOf('failed')[0]?.path, '/counter');
});

settling('`world.settle` of a promise resolves and rejects as the promise does', async () => {
  await using world = createTestSystem();
  const counter = world.system.spawn(Counter);
  const replies = [1, 2].map((by) => counter.ask.addTwice(by));
  assert.equal(await world.settle(Promise.all(replies)), [undefined, undefined]);
  assert.is(await world.settle(world.system.stop(counter)), 'stopped');
  const refused = await rejection(world.settle(counter.ask.add(1)));
  assert.is((refused as { code?: string }).code, 'ERR_UNDELIVERED');
});

settling('a promise that is pending when nothing can go on is an error with the activities', async () => {
  await using world = createTestSystem();
  const counter = world.system.spawn(Counter, { name: 'counter' });
  const error = (await rejection(world.settle(counter.ask.hang()))) as PendingPromiseError;
  assert.instance(error, PendingPromiseError);
  assert.is(error.code, 'ERR_TEST_PENDING');
  assert.equal(error.activities, ['/counter (counter): running hang for 0 ms']);
  await world.advance(10_000);
});

settling.run();
