import { defineActor, OptionError, type SuspensionToken } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { cellOf, runtimeOf } from '../internals.js';

const suspension = suite('suspension');

const tokens: SuspensionToken[] = [];
const Actor = defineActor('actor', {
  state: () => ({ seen: [] as number[] }),
  handlers: {
    put: (ctx, n: number) => void ctx.state.seen.push(n),
    event: (ctx, key: string) => void tokens.push(ctx.suspend({ user: key }, { on: 'event', key })),
    after: (ctx, ms: number) => void tokens.push(ctx.suspend('rate-limit', { on: 'after', ms })),
    settled: (ctx, promise: Promise<unknown>) =>
      void tokens.push(ctx.suspend('awaiting', { on: 'settled', promise })),
    fail: (): never => {
      throw new Error('x');
    },
  },
  terminated: (ctx) => void ctx.state.seen.push(-1),
});

function seenOf(ref: { readonly path: string; readonly id: string }): number[] {
  return (cellOf(ref).state as { seen: number[] }).seen;
}

suspension('a suspension without a condition ends by its token or a restart only', async () => {
  for (const until of [undefined, { on: 'resume' }] as const) {
    const Waiter = defineActor('waiter', {
      state: () => ({ seen: 0 }),
      handlers: {
        wait: (ctx) => void tokens.push(ctx.suspend({ user: 'x' }, until)),
        put: (ctx) => {
          ctx.state.seen += 1;
        },
      },
    });
    await using test = createTestSystem();
    const ref = test.system.spawn(Waiter);
    ref.tell.wait();
    ref.tell.put();
    await test.advance(3_600_000);
    assert.is(test.stateOf(Waiter, ref).seen, 0);
    tokens.pop()?.resume();
    await test.settle();
    assert.is(test.stateOf(Waiter, ref).seen, 1);
  }
});

suspension('a suspended actor handles signals and no messages', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const token = test.system.suspend(ref);
  for (const n of [1, 2, 3]) ref.tell.put(n);
  cellOf(ref).putSignal({ kind: 'terminated', ref, reason: 'stopped' });
  await test.settle();
  assert.equal(seenOf(ref), [-1]);
  token.resume();
  await test.settle();
  assert.equal(seenOf(ref), [-1, 1, 2, 3]);
});

suspension('a suspended actor can be stopped, drained and killed', async () => {
  for (const how of ['stop', 'drain', 'kill'] as const) {
    const test = createTestSystem();
    const ref = test.system.spawn(Actor);
    test.system.suspend(ref);
    let ended = '';
    await test.settle(
      test.system[how](ref).then((reason) => {
        ended = reason;
      }),
    );
    assert.is(ended, { stop: 'stopped', drain: 'drained', kill: 'killed' }[how]);
    await test[Symbol.asyncDispose]();
  }
});

suspension('each of the four resume conditions ends a suspension', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const until = deferred();
  for (const reject of [false, true]) {
    const settles = reject ? Promise.reject(new Error('also an end')) : until.promise;
    ref.tell.settled(settles);
    ref.tell.put(1);
    if (!reject) {
      await test.settle();
      assert.equal(seenOf(ref), []);
      until.resolve();
    }
    await test.settle();
    assert.equal(seenOf(ref).splice(0), [1]);
  }
  ref.tell.event('go');
  ref.tell.put(2);
  await test.settle();
  assert.equal(seenOf(ref), []);
  assert.is(test.system.event('go'), 1);
  assert.is(test.system.event('go'), 0);
  await test.settle();
  assert.equal(seenOf(ref), [2]);
  ref.tell.after(30);
  ref.tell.put(3);
  await test.advance(29);
  assert.equal(seenOf(ref), [2]);
  await test.advance(1);
  assert.equal(seenOf(ref), [2, 3]);
});

suspension('suspensions nest, and each token ends only its own, once', async () => {
  tokens.length = 0;
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const outer = test.system.suspend(ref);
  const inner = test.system.suspend(ref, 'audit');
  ref.tell.put(1);
  inner.resume();
  inner.resume();
  inner.resume();
  await test.settle();
  assert.equal([inner.active, outer.active], [false, true]);
  assert.equal(seenOf(ref), []);
  outer.resume();
  await test.settle();
  assert.equal(seenOf(ref), [1]);
});

suspension('one event ends every suspension that waits for it', async () => {
  await using test = createTestSystem();
  const refs = Array.from({ length: 50 }, () => test.system.spawn(Actor));
  for (const ref of refs) {
    ref.tell.event('k');
    ref.tell.put(1);
  }
  await test.settle();
  assert.is(test.system.event('other'), 0);
  assert.is(test.system.event('k'), 50);
  await test.settle();
  assert.ok(refs.every((ref) => seenOf(ref).length === 1));
});

suspension('a restart ends suspensions by the actor itself and keeps those from outside', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  await test.tell(ref).event('never');
  const operator = test.system.suspend(ref);
  ref.tell.put(1);
  runtimeOf(test.system).results.failed(cellOf(ref), new Error('from outside'), 0, undefined);
  await test.settle();
  assert.equal(seenOf(ref), []);
  assert.is(test.system.event('never'), 0);
  operator.resume();
  await test.settle();
  assert.equal(seenOf(ref), [1]);
});

suspension('the end of an actor ends its suspensions with their timers and event keys', async () => {
  await using test = createTestSystem();
  for (let i = 0; i < 20; i += 1) {
    const ref = test.system.spawn(Actor);
    ref.tell.event('k');
    const other = test.system.spawn(Actor);
    await test.tell(other).after(1_000_000);
    void test.system.stop(ref);
    await test.settle(test.system.stop(other));
  }
  assert.is(test.system.event('k'), 0);
  assert.is(test.system.stats().timers, 0);
});

suspension('events report a suspension with its reason and its duration', async () => {
  await using test = createTestSystem();
  const events: unknown[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'suspended') events.push([event.path, event.reason]);
    if (event.kind === 'resumed') events.push([event.path, event.reason, event.ms]);
  });
  const ref = test.system.spawn(Actor, { name: 'a' });
  ref.tell.after(25);
  await test.advance(25);
  assert.equal(events, [
    ['/a', 'rate-limit'],
    ['/a', 'rate-limit', 25],
  ]);
});

suspension('an invalid resume time is refused, and the actor is not suspended', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  const ref = test.system.spawn(Actor);
  for (const ms of [-1, Number.NaN]) ref.tell.after(ms);
  ref.tell.put(1);
  await test.settle();
  assert.is(errors.length, 2);
  assert.ok(errors.every((error) => error instanceof OptionError));
  assert.equal(seenOf(ref), [1]);
});

suspension('a thousand cycles of suspend and resume lose no message', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  for (let n = 0; n < 1_000; n += 1) {
    const token = test.system.suspend(ref);
    ref.tell.put(n);
    test.step();
    assert.is(seenOf(ref).length, n);
    token.resume();
    test.step();
    assert.is(seenOf(ref).length, n + 1);
  }
});

suspension.run();
