import { defineActor } from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { cellOf, runtimeOf } from '../internals.js';

const noBusyLoop = suite('no busy loop');

const Actor = defineActor('actor', {
  handlers: {
    put: (_ctx, _n: number) => undefined,
    wait: async (_ctx, until: Promise<void>) => until,
    fail: (): never => {
      throw new Error('x');
    },
    sleep: (ctx, ms: number) => void ctx.suspend('rate-limit', { on: 'after', ms }),
  },
});

/** Runs turns until no actor is ready, and counts them. */
function turns(test: TestSystem): number {
  let count = 0;
  while (test.step()) count += 1;
  return count;
}

noBusyLoop('sends to a suspended actor cause no turns', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  test.system.suspend(ref);
  assert.is(turns(test), 0);
  for (let i = 0; i < 1_000; i += 1) ref.tell.put(i);
  assert.is(runtimeOf(test.system).ready.depth, 0);
  assert.is(turns(test), 0);
  assert.is(cellOf(ref).queue.length, 1_000);
});

noBusyLoop('sends to an awaiting actor cause no turns', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const until = deferred();
  await test.tell(ref).wait(until.promise);
  for (let i = 0; i < 1_000; i += 1) ref.tell.put(i);
  assert.is(turns(test), 0);
  until.resolve();
  await test.settle();
  assert.is(cellOf(ref).queue.length, 0);
});

noBusyLoop(
  'sends to a failed actor cause no turns before its parent has decided and do not shorten its back-off',
  async () => {
    await using test = createTestSystem({ supervise: { backoff: { fromMs: 100, toMs: 100 } } });
    const ref = test.system.spawn(Actor);
    await test.tell(ref).fail();
    for (let i = 0; i < 1_000; i += 1) ref.tell.put(i);
    assert.is(turns(test), 0);
    await test.advance(99);
    assert.is(cellOf(ref).queue.length, 1_000);
    await test.advance(1);
    assert.is(cellOf(ref).queue.length, 0);
  },
);

noBusyLoop('a muted actor with messages causes no turns', async () => {
  const Sink = defineActor('sink', {
    handlers: { put: (_ctx, _n: number) => undefined },
    mailbox: { capacity: 1 },
    throughput: 1,
  });
  await using test = createTestSystem();
  const sink = test.system.spawn(Sink);
  const Source = defineActor('source', {
    handlers: {
      burst() {
        for (let i = 0; i < 20; i += 1) sink.tell.put(i);
      },
    },
  });
  const source = test.system.spawn(Source);
  source.tell.burst();
  test.step();
  for (let i = 0; i < 100; i += 1) source.tell.burst();
  assert.is(runtimeOf(test.system).ready.depth, 1);
});

noBusyLoop('a stopping actor with messages causes no turns while it waits', async () => {
  const until = deferred();
  const Slow = defineActor('slow', {
    handlers: { put: () => undefined },
    stopping: async () => until.promise,
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Slow);
  const token = test.system.suspend(ref);
  ref.tell.put();
  const stopped = test.system.stop(ref);
  turns(test);
  token.resume();
  assert.is(turns(test), 0);
  until.resolve();
  assert.is(await test.settle(stopped), 'stopped');
  assert.is(test.system.stats().deadLetters, 1);
});

noBusyLoop('a system without actors runs no turns and arms no timer', async () => {
  await using test = createTestSystem();
  test.system.spawn(Actor);
  assert.is(turns(test), 0);
  assert.is(test.host.nextDue(), undefined);
});

noBusyLoop('a timed suspension causes one wake-up, at its time', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  ref.tell.sleep(50);
  ref.tell.put(1);
  await test.settle();
  assert.is(test.host.nextDue(), 50);
  await test.advance(49);
  assert.is(cellOf(ref).queue.length, 1);
  await test.advance(1);
  assert.is(cellOf(ref).queue.length, 0);
});

noBusyLoop.run();
