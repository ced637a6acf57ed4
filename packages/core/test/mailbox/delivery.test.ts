import { AsyncLocalStorage } from 'node:async_hooks';
import { type DeadLetter, defineActor, type Middleware, type OverflowPolicy } from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const delivery = suite('delivery');

function defineSink(overflow: OverflowPolicy, capacity = 3) {
  return defineActor(`sink ${overflow}`, {
    state: () => ({ seen: [] as number[] }),
    handlers: {
      put: (ctx, n: number) => void ctx.state.seen.push(n),
      seen: (ctx) => [...ctx.state.seen],
    },
    mailbox: { capacity, overflow },
  });
}

function lettersOf(test: TestSystem): DeadLetter[] {
  const letters: DeadLetter[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'dead-letter') letters.push(event.letter);
  });
  return letters;
}

/**
 * Sends 1 … n from outside to a suspended actor, then resumes it. Returns the handled messages and the dead
 * letters.
 */
async function flood(overflow: OverflowPolicy, n: number) {
  await using test = createTestSystem();
  const letters = lettersOf(test);
  const ref = test.system.spawn(defineSink(overflow));
  const token = test.system.suspend(ref);
  for (let i = 1; i <= n; i += 1) ref.tell.put(i);
  const full = ref.offer.put(100);
  token.resume();
  await test.settle();
  return {
    seen: await test.ask(ref).seen(),
    letters: letters.map((l) => `${l.reason} ${String(l.payload)}`),
    full,
  };
}

delivery('`reject` refuses new messages when the mailbox is full, also while suspended', async () => {
  assert.equal(await flood('reject', 5), {
    seen: [1, 2, 3],
    letters: ['rejected 4', 'rejected 5'],
    full: 'full',
  });
});

delivery('`drop-newest` drops new messages', async () => {
  assert.equal(await flood('drop-newest', 5), {
    seen: [1, 2, 3],
    letters: ['dropped 4', 'dropped 5'],
    full: 'full',
  });
});

delivery('`drop-oldest` evicts the oldest message to make room', async () => {
  assert.equal(await flood('drop-oldest', 5), {
    seen: [4, 5, 100],
    letters: ['evicted 1', 'evicted 2', 'evicted 3'],
    full: 'accepted',
  });
});

delivery(
  '`mute-sender` and `grow` accept messages from outside, and `offer` to `mute-sender` returns full',
  async () => {
    assert.equal(await flood('mute-sender', 5), { seen: [1, 2, 3, 4, 5], letters: [], full: 'full' });
    assert.equal(await flood('grow', 5), { seen: [1, 2, 3, 4, 5, 100], letters: [], full: 'accepted' });
  },
);

delivery('`offer` returns closed after a stop and leaves no dead letter', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(defineSink('reject'));
  assert.is(ref.offer.put(1), 'accepted');
  void test.system.stop(ref);
  assert.is(ref.offer.put(2), 'closed');
  await test.settle();
  assert.is(ref.offer.put(3), 'closed');
  assert.is(test.system.stats().deadLetters, 1);
});

delivery('`queuedMax` bounds the messages in all mailboxes together', async () => {
  await using test = createTestSystem({ queuedMax: 10 });
  const letters = lettersOf(test);
  const Sink = defineSink('grow');
  const sinks = [1, 2, 3].map(() => test.system.spawn(Sink));
  const tokens = sinks.map((sink) => test.system.suspend(sink));
  for (let i = 0; i < 5; i += 1) for (const sink of sinks) sink.tell.put(i);
  assert.is(test.system.stats().queued, 10);
  assert.is(letters.length, 5);
  assert.ok(letters.every(({ reason }) => reason === 'overloaded'));
  assert.is(sinks[0]?.offer.put(9), 'full');
  const refused = sinks[0]?.send.put(9).catch((error: { code: string; reason: string }) => error);
  const asked = sinks[0]?.ask.seen().catch((error: { code: string }) => error.code);
  assert.equal([(await refused)?.code, (await refused)?.reason], ['ERR_UNDELIVERED', 'overloaded']);
  assert.is(await asked, 'ERR_UNDELIVERED');
  for (const token of tokens) token.resume();
  await test.settle();
  assert.is(test.system.stats().queued, 0);
});

delivery('`send` waits for room, keeps its order and rejects when the actor stops', async () => {
  await using test = createTestSystem();
  for (const overflow of ['mute-sender', 'reject', 'drop-newest'] as const) {
    const ref = test.system.spawn(defineSink(overflow, 2));
    const token = test.system.suspend(ref);
    const done: string[] = [];
    const sends = [1, 2, 3, 4].map((n) =>
      ref.send.put(n).then(
        () => done.push(`sent ${n}`),
        (error: { code: string }) => done.push(`${error.code} ${n}`),
      ),
    );
    await test.settle();
    assert.equal(done, ['sent 1', 'sent 2'], overflow);
    token.resume();
    await test.settle(Promise.all(sends));
    assert.equal(done, ['sent 1', 'sent 2', 'sent 3', 'sent 4'], overflow);
    assert.equal(await test.ask(ref).seen(), [1, 2, 3, 4], overflow);
    test.system.suspend(ref);
    ref.offer.put(5);
    ref.offer.put(6);
    const late = ref.send.put(7).catch((error: { code: string }) => error.code);
    await test.settle();
    await test.settle(test.system.kill(ref));
    assert.is(await late, 'ERR_UNDELIVERED', overflow);
  }
});

delivery('a `send` does not overtake earlier ones that wait for room', async () => {
  const Slow = defineActor('slow', {
    state: () => ({ seen: [] as number[] }),
    handlers: {
      put(ctx, n: number) {
        ctx.state.seen.push(n);
      },
      seen: (ctx) => [...ctx.state.seen],
    },
    mailbox: { capacity: 8 },
    throughput: 1,
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Slow);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  const sends = numbers.slice(0, 12).map((n) => ref.send.put(n));
  // Some room, but not yet enough to wake the waiting senders.
  for (let turns = 0; turns < 3; turns += 1) test.step();
  for (const n of numbers.slice(12)) {
    sends.push(ref.send.put(n));
    test.step();
    if (n % 3 === 0) await test.settle();
  }
  await test.settle(Promise.all(sends));
  const seen = ref.ask.seen();
  assert.equal(await test.settle(seen), numbers);
});

delivery('a `send` that waited for room keeps the async context of its caller', async () => {
  const storage = new AsyncLocalStorage<number>();
  const seen: (readonly [unknown, number | undefined])[] = [];
  const asyncContextReader: Middleware = {
    name: 'asyncContextReader',
    onSend: ({ payload }) => void seen.push([payload, storage.getStore()]),
  };
  await using test = createTestSystem({ middleware: [asyncContextReader] });
  const ref = test.system.spawn(defineSink('reject', 2));
  const token = test.system.suspend(ref);
  const sends = [1, 2, 3, 4, 5].map((n) => storage.run(n, () => ref.send.put(n)));
  await test.settle();
  token.resume();
  await test.settle(Promise.all(sends));
  assert.equal(seen, [
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 5],
  ]);
});

delivery('a `send` that waits for room is accepted by the next incarnation', async () => {
  const Failing = defineActor('failing', {
    state: () => ({ seen: [] as number[] }),
    handlers: {
      put(ctx, n: number) {
        if (n === 1) throw new Error('one');
        ctx.state.seen.push(n);
      },
      seen: (ctx) => [...ctx.state.seen],
    },
    mailbox: { capacity: 2, overflow: 'reject' },
  });
  await using test = createTestSystem({ supervise: { backoff: { fromMs: 100, toMs: 100 } } });
  const ref = test.system.spawn(Failing);
  await test.tell(ref).put(1);
  ref.tell.put(2);
  ref.tell.put(3);
  const sent = ref.send.put(4);
  await test.settle();
  await test.advance(100);
  await sent;
  const seen = ref.ask.seen();
  assert.equal(await test.settle(seen), [2, 3, 4]);
});

delivery('a dead letter has reason, receiver, message, payload and sender', async () => {
  await using test = createTestSystem();
  const letters = lettersOf(test);
  const sink = test.system.spawn(defineSink('reject'), { name: 'sink' });
  const Sender = defineActor('sender', { handlers: { go: () => sink.tell.put(7) } });
  const sender = test.system.spawn(Sender, { name: 'sender' });
  await test.settle(test.system.stop(sink));
  await test.tell(sender).go();
  assert.equal(letters, [{ reason: 'stopped', to: '/sink', message: 'put', payload: 7, from: '/sender' }]);
});

delivery.run();
