import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EMPTY_QUEUE, MessageQueue } from '#src/mailbox/message-queue.js';

const queue = suite('queue');

interface Message {
  readonly handler: number;
  readonly payload: unknown;
}

/** One random operation, repeated `n` times, so that segments fill up and empty. */
type Step = { readonly op: 'push' | 'take' | 'unshift'; readonly n: number; readonly handler: number };

const steps = fc.array(
  fc.record({
    op: fc.constantFrom('push' as const, 'push' as const, 'take' as const, 'unshift' as const),
    n: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: 1, max: 3_000 })),
    handler: fc.integer({ min: -1, max: 2 }),
  }),
  { maxLength: 40 },
);

queue('the queue behaves like a list under random pushes, takes and unshifts', () => {
  fc.assert(
    fc.property(steps, (history: readonly Step[]) => {
      const real = new MessageQueue();
      const model: Message[] = [];
      let next = 0;
      for (const { op, n, handler } of history) {
        for (let i = 0; i < n; i += 1) {
          if (op === 'take') {
            const expected = model.shift();
            if (expected === undefined) break;
            assert.is(real.peek(), expected.handler);
            assert.is(real.take(), expected.payload);
          } else {
            const message = { handler, payload: next };
            next += 1;
            real[op](handler, message.payload);
            if (op === 'push') model.push(message);
            else model.unshift(message);
          }
          assert.is(real.length, model.length);
        }
      }
      for (const { handler, payload } of model) {
        assert.is(real.peek(), handler);
        assert.is(real.take(), payload);
      }
      assert.is(real.length, 0);
    }),
    { seed: 1, numRuns: 300 },
  );
});

queue('the queue keeps its order over many segments', () => {
  const deep = new MessageQueue();
  for (let i = 0; i < 100_000; i += 1) deep.push(i % 7, i);
  for (let i = 0; i < 100_000; i += 1) {
    assert.is(deep.peek(), i % 7);
    assert.is(deep.take(), i);
  }
  assert.is(deep.length, 0);
});

queue('the queue stays ordered and small while handlers alternate', () => {
  const steady = new MessageQueue();
  let taken = 0;
  for (let i = 0; i < 100_000; i += 1) {
    steady.push(i % 3, i);
    if (i < 700) continue;
    assert.is(steady.peek(), taken % 3);
    assert.is(steady.take(), taken);
    taken += 1;
  }
  assert.ok((steady as unknown as { runs: number[] }).runs.length < 10_000);
  while (steady.length > 0) {
    assert.is(steady.peek(), taken % 3);
    assert.is(steady.take(), taken);
    taken += 1;
  }
});

queue('the queue counts the messages before a given one', () => {
  const deep = new MessageQueue();
  const payloads = Array.from({ length: 5_000 }, (_, i) => ({ i }));
  for (const payload of payloads) deep.push(0, payload);
  assert.is(
    deep.findIndex((payload) => payload === payloads[0]),
    0,
  );
  assert.is(
    deep.findIndex((payload) => payload === payloads[4_321]),
    4_321,
  );
  deep.take();
  assert.is(
    deep.findIndex((payload) => payload === payloads[4_321]),
    4_320,
  );
  assert.is(
    deep.findIndex((payload) => payload === queue),
    -1,
  );
});

queue('the shared empty queue is empty', () => {
  assert.is(EMPTY_QUEUE.length, 0);
});

queue.run();
