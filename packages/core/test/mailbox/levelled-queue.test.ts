import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LevelledQueue } from '#src/mailbox/levelled-queue.js';

const levels = suite('levels');
const HIGH = 0;
const NORMAL = 1;
const LOW = 2;

levels('the highest level goes first, and each level keeps its order', () => {
  const queue = new LevelledQueue([HIGH, NORMAL, LOW]);
  for (const [handler, payload] of [
    [2, 'l1'],
    [1, 'n1'],
    [0, 'h1'],
    [1, 'n2'],
    [2, 'l2'],
    [0, 'h2'],
  ] as const) {
    queue.push(handler, payload);
  }
  const order: unknown[] = [];
  while (queue.length > 0) {
    const handler = queue.peek();
    order.push([handler, queue.take()]);
  }
  assert.equal(order, [
    [0, 'h1'],
    [0, 'h2'],
    [1, 'n1'],
    [1, 'n2'],
    [2, 'l1'],
    [2, 'l2'],
  ]);
});

levels('an envelope has the level of its handler, and a message that is put back precedes all levels', () => {
  const queue = new LevelledQueue([HIGH, NORMAL]);
  const envelope = { handler: 0 };
  queue.push(1, 'n1');
  queue.push(-1, envelope);
  queue.unshift(1, 'n0');
  assert.is(
    queue.findIndex((payload) => payload === 'n0'),
    0,
  );
  assert.is(
    queue.findIndex((payload) => payload === envelope),
    1,
  );
  assert.is(
    queue.findIndex((payload) => payload === 'n1'),
    2,
  );
  assert.is(
    queue.findIndex((payload) => payload === 'unknown'),
    -1,
  );
  assert.is(queue.peek(), 1);
  assert.is(queue.take(), 'n0');
  assert.is(queue.take(), envelope);
  assert.is(queue.take(), 'n1');
});

levels('taking from an empty queue throws instead of looping for ever', () => {
  assert.throws(() => new LevelledQueue([]).take(), /empty mailbox/);
});

levels('an actor handles signals first, then urgent messages', async () => {
  const seen: string[] = [];
  const Levelled = defineActor('levelled', {
    handlers: {
      work: (_ctx, n: number) => void seen.push(`work ${n}`),
      urgent: (_ctx, n: number) => void seen.push(`urgent ${n}`),
      whenever: (_ctx, n: number) => void seen.push(`whenever ${n}`),
    },
    mailbox: { levels: { urgent: 'high', whenever: 'low' } },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Levelled);
  for (const n of [1, 2]) {
    ref.tell.whenever(n);
    ref.tell.work(n);
    ref.tell.urgent(n);
  }
  await test.settle();
  assert.equal(seen, ['urgent 1', 'urgent 2', 'work 1', 'work 2', 'whenever 1', 'whenever 2']);
});

levels.run();
