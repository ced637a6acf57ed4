import { defineActor, type InvokeResult, type Middleware } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_MESSAGE } from '#src/message/envelope.js';
import { COMPLETED } from '#src/run-queue/invoke-result.js';
import { deferred } from '../deferred.js';
import { cellOf, runtimeOf } from '../internals.js';

const invoker = suite('invoker');

/** Records the result of every turn. */
function results(): { readonly seen: InvokeResult[]; readonly middleware: Middleware } {
  const seen: InvokeResult[] = [];
  return { seen, middleware: { name: 'results', afterTurn: (_turn, result) => void seen.push(result) } };
}

const Actor = defineActor('actor', {
  state: () => ({ seen: [] as number[] }),
  handlers: {
    put: (ctx, n: number) => void ctx.state.seen.push(n),
    seen: (ctx) => [...ctx.state.seen],
    fail: (): never => {
      throw new Error('broken');
    },
    sleep: (ctx) => void ctx.suspend({ user: 'nap' }, { on: 'event', key: 'morning' }),
    wait: async (_ctx, until: Promise<void>) => until,
    stop: (ctx) => ctx.stop(),
  },
  throughput: 3,
});

invoker('a turn that empties the mailbox has the result completed', async () => {
  const { seen, middleware } = results();
  await using test = createTestSystem({ middleware: [middleware] });
  const ref = test.system.spawn(Actor);
  await test.tell(ref).put(1);
  assert.equal(seen, [{ kind: 'completed', readyHint: false }]);
});

invoker('a turn with an empty mailbox does nothing', async () => {
  await using test = createTestSystem();
  const { invoker: real } = runtimeOf(test.system);
  const cell = cellOf(test.system.spawn(Actor));
  assert.is(real.invoke(cell, NO_MESSAGE, undefined), COMPLETED);
  assert.is(real.handled, 0);
});

invoker('a turn handles at most `throughput` messages', async () => {
  const { seen, middleware } = results();
  await using test = createTestSystem({ middleware: [middleware] });
  const ref = test.system.spawn(Actor);
  for (let n = 1; n <= 7; n += 1) ref.tell.put(n);
  test.step();
  assert.equal(seen, [{ kind: 'yielded' }]);
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1, 2, 3]);
  await test.settle();
  assert.equal(
    seen.map(({ kind }) => kind),
    ['yielded', 'yielded', 'completed'],
  );
});

invoker('a failing message ends the turn, and the messages behind it stay in the mailbox', async () => {
  const { seen, middleware } = results();
  await using test = createTestSystem({ middleware: [middleware] });
  const ref = test.system.spawn(Actor);
  ref.tell.put(1);
  ref.tell.fail();
  ref.tell.put(2);
  test.step();
  assert.equal(
    seen.map((result) => (result.kind === 'failed' ? String(result.error) : result.kind)),
    ['Error: broken'],
  );
  assert.is(cellOf(ref).queue.length, 1);
  assert.equal(await test.ask(ref).seen(), [2]);
  assert.is(test.system.stats().deadLetters, 0);
});

invoker('a suspension in the middle of a turn ends the turn', async () => {
  const { seen, middleware } = results();
  await using test = createTestSystem({ middleware: [middleware] });
  const ref = test.system.spawn(Actor);
  ref.tell.put(1);
  ref.tell.sleep();
  ref.tell.put(2);
  await test.settle();
  assert.equal(seen, [
    { kind: 'suspended', reason: { user: 'nap' }, resumeOn: { on: 'event', key: 'morning' } },
  ]);
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1]);
  test.system.event('morning');
  await test.settle();
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1, 2]);
});

invoker('a suspension in the middle of a turn ends the turn, without middleware', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  ref.tell.put(1);
  ref.tell.sleep();
  ref.tell.put(2);
  await test.settle();
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1]);
  test.system.event('morning');
  await test.settle();
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1, 2]);
});

invoker('a stop in the middle of a turn makes dead letters of the remaining messages', async () => {
  const { seen, middleware } = results();
  for (const hooks of [[], [middleware]]) {
    const test = createTestSystem({ middleware: hooks });
    const letters: unknown[] = [];
    test.system.subscribe((event) => {
      if (event.kind === 'dead-letter') letters.push([event.letter.reason, event.letter.payload]);
    });
    const ref = test.system.spawn(Actor);
    ref.tell.put(1);
    ref.tell.stop();
    ref.tell.put(2);
    ref.tell.put(3);
    await test.settle();
    assert.equal(letters, [
      ['left-over', 2],
      ['left-over', 3],
    ]);
    await test[Symbol.asyncDispose]();
  }
  assert.equal(
    seen.map(({ kind }) => kind),
    ['stopped'],
  );
});

invoker('an asynchronous handler suspends the turn until it settles, one message at a time', async () => {
  const { seen, middleware } = results();
  await using test = createTestSystem({ middleware: [middleware] });
  const ref = test.system.spawn(Actor);
  const until = deferred();
  ref.tell.wait(until.promise);
  ref.tell.put(1);
  await test.settle();
  assert.equal(seen, [{ kind: 'suspended', reason: 'awaiting', resumeOn: { on: 'settled' } }]);
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, []);
  until.resolve();
  await test.settle();
  assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1]);
  assert.is(seen.length, 2, 'the turn after the settlement has its hooks too');
});

invoker(
  '`beforeMessage` hooks run in order, `afterMessage` hooks in reverse, and only those of entered middleware',
  async () => {
    const log: string[] = [];
    const noting = (name: string): Middleware => ({
      name,
      beforeTurn: () => void log.push(`before turn ${name}`),
      afterTurn: () => void log.push(`after turn ${name}`),
      beforeMessage: (message) => {
        log.push(`before ${name}`);
        return name === 'b' && message.payload === 2 ? { verdict: 'refuse', why: 'two' } : undefined;
      },
      afterMessage: (_message, { kind }) => {
        log.push(`after ${name} ${kind}`);
        return undefined;
      },
    });
    await using test = createTestSystem({ middleware: ['a', 'b', 'c'].map(noting) });
    const ref = test.system.spawn(Actor);
    await test.tell(ref).put(1);
    assert.equal(log.splice(0), [
      'before turn a',
      'before turn b',
      'before turn c',
      'before a',
      'before b',
      'before c',
      'after c handled',
      'after b handled',
      'after a handled',
      'after turn c',
      'after turn b',
      'after turn a',
    ]);
    await test.tell(ref).put(2);
    assert.equal(
      log.filter((line) => !line.includes('turn')),
      ['before a', 'before b', 'after a refused'],
    );
  },
);

invoker(
  'a hook that holds a message gives the reason and the resume condition, and the message stays first',
  async () => {
    const order: unknown[] = [];
    let open = false;
    let asked = 0;
    const { seen, middleware } = results();
    const hold: Middleware = {
      name: 'hold',
      beforeMessage: () => {
        asked += 1;
        return open
          ? undefined
          : { verdict: 'hold', reason: { user: 'closed' }, resumeOn: { on: 'after', ms: 40 } };
      },
      afterMessage: (message, outcome) => {
        order.push([message.payload, outcome.kind]);
        return undefined;
      },
    };
    const outer: Middleware = {
      name: 'outer',
      afterMessage: (message, outcome) => {
        order.push(['outer', message.payload, outcome.kind]);
        return undefined;
      },
    };
    await using test = createTestSystem({ middleware: [middleware, outer, hold] });
    const ref = test.system.spawn(Actor);
    ref.tell.put(1);
    ref.tell.put(2);
    await test.settle();
    assert.equal(seen, [
      { kind: 'suspended', reason: { user: 'closed' }, resumeOn: { on: 'after', ms: 40 } },
    ]);
    assert.equal(order, [['outer', 1, 'held']]);
    assert.is(test.system.stats().handled, 0);
    assert.is(test.system.stats().queued, 2);
    open = true;
    await test.advance(39);
    assert.is(asked, 1);
    await test.advance(1);
    assert.is(asked, 3, 'one call per message, not per turn');
    assert.equal((cellOf(ref).state as { seen: number[] }).seen, [1, 2]);
  },
);

invoker('a hook that throws is a failure of its actor, never of the sender', async () => {
  for (const hook of ['beforeTurn', 'afterTurn', 'beforeMessage', 'afterMessage', 'onSend'] as const) {
    let broken = true;
    const bad: Middleware = {
      name: 'bad',
      [hook]: () => {
        if (broken) throw new Error(hook);
        return undefined;
      },
    };
    const test = createTestSystem();
    const ref = test.system.spawn(Actor, { middleware: [bad] });
    const failures: string[] = [];
    test.system.subscribe((event) => {
      if (event.kind === 'failed') failures.push((event.error as { code?: string }).code ?? '');
    });
    ref.tell.put(1);
    test.step();
    broken = false;
    assert.ok(Array.isArray(await test.ask(ref).seen()), hook);
    assert.equal(failures, ['ERR_MIDDLEWARE'], hook);
    await test[Symbol.asyncDispose]();
  }
});

invoker('an invalid verdict refuses the message and is a failure of its middleware', async () => {
  for (const verdict of [Promise.resolve(), { verdict: 'maybe' }, 7, { verdict: 'hold' }]) {
    const bad = { name: 'bad', beforeMessage: () => verdict } as unknown as Middleware;
    const test = createTestSystem();
    const ref = test.system.spawn(Actor, { middleware: [bad] });
    const letters: string[] = [];
    test.system.subscribe((event) => {
      if (event.kind === 'dead-letter') letters.push(event.letter.reason);
    });
    await test.tell(ref).put(1);
    assert.equal(letters, ['refused']);
    await test[Symbol.asyncDispose]();
  }
});

invoker('the middleware of a system, a definition or an actor cannot be changed later', () => {
  const list: Middleware[] = [];
  const Fixed = defineActor('fixed', { handlers: { put: () => undefined }, middleware: list });
  const test = createTestSystem();
  const ref = test.system.spawn(Fixed);
  let called = 0;
  list.push({
    name: 'late',
    beforeTurn: () => {
      called += 1;
    },
  });
  ref.tell.put();
  test.step();
  assert.is(called, 0);
  assert.not.ok('addMiddleware' in runtimeOf(test.system).invoker);
});

invoker('the context of one message does not leak into the next message of the turn', async () => {
  const contexts: unknown[] = [];
  const trace: Middleware = {
    name: 'trace',
    onSend: (send) => send.cause ?? `root ${String(send.payload)}`,
    beforeMessage: (message) => {
      contexts.push([message.actor, message.context]);
      return undefined;
    },
  };
  await using test = createTestSystem({ middleware: [trace] });
  const Last = defineActor('last', { handlers: { put: (_ctx, _n: number) => undefined } });
  const last = test.system.spawn(Last);
  const Relay = defineActor('relay', { handlers: { put: (_ctx, n: number) => last.tell.put(10 * n) } });
  const relay = test.system.spawn(Relay);
  relay.tell.put(1);
  relay.tell.put(2);
  await test.settle();
  assert.equal(contexts, [
    ['relay', 'root 1'],
    ['relay', 'root 2'],
    ['last', 'root 1'],
    ['last', 'root 2'],
  ]);
  await test.tell(last).put(3);
  assert.equal(contexts.at(-1), ['last', 'root 3']);
});

invoker.run();
