import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SCHEDULED, SLOW_PATH } from '#src/mailbox/status-word.js';
import { cellOf, runtimeOf } from '../internals.js';

const coordinator = suite('coordinator');

const Actor = defineActor('actor', {
  state: () => ({ seen: [] as number[] }),
  handlers: {
    note: (ctx, n: number) => void ctx.state.seen.push(n),
    countDown(ctx, n: number) {
      ctx.state.seen.push(n);
      if (n > 0) Actor.self(ctx).tell.countDown(n - 1);
    },
  },
});

coordinator('an actor is in the ready ring at most once', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const { ready } = runtimeOf(test.system);
  for (let n = 0; n < 100; n += 1) ref.tell.note(n);
  ready.registerReady(cellOf(ref));
  ready.registerReady(cellOf(ref));
  assert.is(ready.depth, 1);
});

coordinator(
  'every inline message is counted once for its actor, over laps and growth of the ring and after its end',
  async () => {
    await using test = createTestSystem();
    const few = Array.from({ length: 3 }, () => test.system.spawn(Actor));
    const handledBy = (ref: (typeof few)[number]): number => test.system.inspect({ under: ref }).handled;
    for (let round = 1; round <= 1_000; round += 1) {
      few.forEach((ref, index) => void (round % (index + 1) === 0 && ref.tell.note(round)));
      await test.settle();
      if (round % 170 === 0)
        assert.equal(few.map(handledBy), [round, Math.floor(round / 2), Math.floor(round / 3)]);
    }
    const [first, ...others] = few;
    assert.ok(first !== undefined);
    await test.settle(test.system.stop(first));
    const successor = test.system.spawn(Actor);
    const many = Array.from({ length: 3_000 }, () => test.system.spawn(Actor));
    for (const ref of [successor, ...many]) ref.tell.note(0);
    await test.settle();
    assert.equal([successor, ...others].map(handledBy), [1, 500, 333]);
    assert.ok(many.every((ref) => handledBy(ref) === 1));
    assert.is(test.system.stats().handled, 1_000 + 500 + 333 + 1 + 3_000);
  },
);

coordinator('the handled count read in a handler does not include the current message', async () => {
  await using test = createTestSystem();
  const seen: unknown[] = [];
  const Counter = defineActor('counter', {
    handlers: {
      read(ctx) {
        seen.push([test.system.inspect({ under: ctx.self }).handled, test.system.stats().handled]);
      },
    },
  });
  const ref = test.system.spawn(Counter);
  for (let i = 0; i < 2; i += 1) {
    await test.tell(ref).read();
  }
  assert.equal(seen, [
    [0, 0],
    [1, 1],
  ]);
  assert.is(test.system.stats().handled, 2);
});

coordinator(
  'messages that arrive during a turn put the actor into the ring once, after the turn',
  async () => {
    await using test = createTestSystem();
    const ref = test.system.spawn(Actor);
    const { ready } = runtimeOf(test.system);
    let depthWhileRunning = -1;
    const Other = defineActor('other', {
      handlers: {
        go(ctx, left: number) {
          if (left > 0) Other.self(ctx).tell.go(left - 1);
          depthWhileRunning = ready.depth;
        },
      },
    });
    test.system.spawn(Other).tell.go(10);
    assert.is(test.step(), true);
    assert.is(depthWhileRunning, 0);
    assert.is(ready.depth, 1);
    ref.tell.note(1);
    assert.is(ready.depth, 2);
  },
);

coordinator('a message that arrives at the very end of a turn is handled', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  ref.tell.countDown(9);
  let turns = 0;
  while (test.step()) turns += 1;
  assert.ok(turns > 2);
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assert.is(cellOf(ref).status, 0);
});

coordinator('the ring grows and keeps its order', async () => {
  await using test = createTestSystem();
  const order: number[] = [];
  const One = defineActor('one', { handlers: { go: (_ctx, n: number) => void order.push(n) } });
  const refs = Array.from({ length: 5_000 }, () => test.system.spawn(One));
  for (let i = 0; i < 700; i += 1) refs[i]?.tell.go(-1);
  for (let i = 0; i < 650; i += 1) test.step();
  order.length = 0;
  for (let i = 700; i < refs.length; i += 1) refs[i]?.tell.go(i);
  await test.settle();
  assert.equal(
    order.slice(50),
    Array.from({ length: 4_300 }, (_, i) => i + 700),
  );
});

coordinator('an actor that is stopped while ready leaves no entry in the ring', async () => {
  await using test = createTestSystem();
  const { ready } = runtimeOf(test.system);
  for (let round = 0; round < 100; round += 1) {
    const refs = Array.from({ length: 20 }, () => test.system.spawn(Actor));
    for (const ref of refs) {
      ref.tell.note(1);
      void test.system.stop(ref);
    }
    assert.is(ready.depth, 20);
    await test.settle();
    assert.is(ready.depth, 0);
  }
  assert.is(test.system.stats().actors, 1);
});

coordinator('an actor has the status scheduled only while it has work', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const cell = cellOf(ref);
  assert.is(cell.status, 0);
  ref.tell.note(1);
  assert.is(cell.status, SCHEDULED);
  test.step();
  assert.is(cell.status, 0);
  const Levelled = defineActor('levelled', {
    handlers: { a: () => 1 },
    mailbox: { levels: { a: 'high' } },
  });
  assert.is(cellOf(test.system.spawn(Levelled)).status, SLOW_PATH);
});

coordinator('`promote` swaps whole entries, inline messages included', async () => {
  await using test = createTestSystem();
  const order: string[] = [];
  const One = defineActor('one', { handlers: { go: (_ctx, name: string) => void order.push(name) } });
  const { ready } = runtimeOf(test.system);
  for (const name of ['a', 'b', 'c']) test.system.spawn(One).tell.go(name);
  ready.promote(2);
  await test.settle();
  assert.equal(order, ['c', 'b', 'a']);
});

coordinator(
  'sends during a turn enter the same ring, and throughput bounds messages, not actors',
  async () => {
    await using test = createTestSystem();
    const seen: number[] = [];
    const Leaf = defineActor('leaf', {
      handlers: { put: (_ctx, n: number) => void seen.push(n) },
      throughput: 1,
    });
    const leaves = Array.from({ length: 500 }, () => test.system.spawn(Leaf));
    const Fan = defineActor('fan', {
      handlers: {
        go() {
          leaves.forEach((leaf, n) => {
            leaf.tell.put(n);
          });
        },
      },
      throughput: 1,
    });
    test.system.spawn(Fan).tell.go();
    test.step();
    assert.is(runtimeOf(test.system).ready.depth, 500);
    for (let i = 0; i < 500; i += 1) assert.is(test.step(), true);
    assert.is(test.step(), false);
    assert.is(seen.length, 500);
  },
);

coordinator('inline messages of ready entries are counted', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  ref.tell.note(1);
  ref.tell.note(2);
  for (const other of [1, 2, 3].map(() => test.system.spawn(Actor))) other.tell.note(1);
  void test.system.stop(test.system.spawn(Actor));
  assert.is(runtimeOf(test.system).ready.depth, 5);
  assert.is(runtimeOf(test.system).ready.inlineMessages, 4);
  assert.is(test.system.stats().queued, 5);
  await test.settle();
  assert.is(test.system.stats().queued, 0);
});

coordinator.run();
