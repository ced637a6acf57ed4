import { defineActor, type Middleware } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../../deferred.js';

const hooks = suite('message hooks');

/** Retries every failed message. */
const again: Middleware = {
  name: 'again',
  afterMessage: (_message, { kind }) => (kind === 'failed' ? { retryAfterMs: 100 } : undefined),
};

function limit(withinMs: number): Middleware {
  return { name: 'limit', beforeMessage: () => ({ verdict: 'continue', withinMs }) };
}

function recordHooks(lines: string[]): Middleware {
  return {
    name: 'recordHooks',
    beforeMessage: ({ payload, retries }) => void lines.push(`${payload} try ${retries}`),
    afterMessage: ({ payload }, { kind }) => void lines.push(`${payload} ${kind}`),
  };
}

function connection(illegal: 'stash' | 'dead-letter', stashMax = 10) {
  return defineActor('connection', {
    handlers: {},
    phases: {
      closed: { open: (ctx) => ctx.become('opened') },
      opened: { walk: (_ctx, n: number) => n },
    },
    illegal,
    stashMax,
  });
}

hooks('a message that a phase stashes has the outcome held and is handled in a later phase', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({ middleware: [recordHooks(lines)] });
  const ref = test.system.spawn(connection('stash'));
  ref.tell.walk(1);
  const asked = ref.ask.walk(2);
  ref.tell.open();
  assert.is(await test.settle(asked), 2);
  assert.equal(
    lines.filter((line) => !line.includes('try')),
    ['1 held', '2 held', 'undefined handled', '1 handled', '2 handled'],
  );
  assert.is(test.system.stats().handled, 3);
});

hooks('hooks that want only the outcome held see a message that a phase stashes', async () => {
  const held: unknown[] = [];
  const heldOnly: Middleware = {
    name: 'heldOnly',
    outcomes: ['held', 'failed'],
    afterMessage: ({ payload }, { kind }) => void held.push(`${payload} ${kind}`),
  };
  await using test = createTestSystem({ middleware: [heldOnly] });
  const ref = test.system.spawn(connection('stash', 1));
  ref.tell.walk(1);
  ref.tell.walk(2);
  await test.settle();
  assert.equal(
    held,
    ['1 held', '2 failed', '1 held'],
    'a full stash is a failure, and the restart returns its messages',
  );
});

hooks('a message without a handler in its phase has the outcome refused', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({ middleware: [recordHooks(lines)] });
  const ref = test.system.spawn(connection('dead-letter'));
  const letters: string[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'dead-letter') letters.push(`${event.letter.reason} ${event.letter.payload}`);
  });
  ref.tell.walk(1);
  assert.is(
    await test.settle(ref.ask.walk(2).catch((error: { reason?: string }) => error.reason)),
    'not legal in phase closed',
  );
  assert.equal(lines, ['1 try 0', '1 refused', '2 try 0', '2 refused']);
  assert.equal(letters, ['illegal 1', 'illegal 2']);
  assert.is(test.system.stats().handled, 0);
});

const Late = defineActor('late', {
  state: () => ({ n: 0 }),
  handlers: {
    deaf: async (ctx, until: Promise<void>) => {
      running += 1;
      most = Math.max(most, running);
      await until;
      running -= 1;
      ctx.state.n += 1;
    },
    heedful: (ctx, wait: Promise<void>) => {
      running += 1;
      most = Math.max(most, running);
      const { signal } = ctx;
      return new Promise<void>((resolve, reject) => {
        void wait.then(resolve);
        signal.addEventListener('abort', () => {
          running -= 1;
          reject(new Error('gave up'));
        });
      });
    },
    n: (ctx) => ctx.state.n,
    more: (ctx) => {
      ctx.state.n += 100;
    },
  },
  retryable: ['deaf', 'heedful'],
});
let running = 0;
let most = 0;

hooks('a handler that runs on after its time limit is not retried', async () => {
  running = 0;
  most = 0;
  await using test = createTestSystem({ middleware: [again, limit(20)] });
  const ref = test.system.spawn(Late);
  const until = deferred();
  const asked = ref.ask
    .deaf(until.promise)
    .catch((error: { cause?: { code?: string } }) => error.cause?.code);
  await test.advance(1_000);
  assert.is(await asked, 'ERR_HANDLER_TIMEOUT');
  assert.is(most, 1);
  const n = ref.ask.n();
  until.resolve();
  assert.is(await test.settle(n), 0);
});

hooks('a handler that runs on after its time limit never runs on a resumed state', async () => {
  await using test = createTestSystem({ middleware: [limit(20)], supervise: { decide: () => 'resume' } });
  const ref = test.system.spawn(Late);
  const until = deferred();
  ref.tell.more();
  ref.tell.deaf(until.promise);
  await test.advance(30);
  until.resolve();
  await test.settle();
  assert.is(await test.ask(ref).n(), 0, 'the next incarnation has a state of its own');
});

hooks('a handler that heeds its abort signal can be retried and resumed', async () => {
  running = 0;
  most = 0;
  let tries = 0;
  const twice: Middleware = {
    name: 'twice',
    afterMessage: (message, { kind }) => {
      if (kind !== 'failed') return undefined;
      tries += 1;
      return message.retries === 0 ? { retryAfterMs: 10 } : undefined;
    },
  };
  await using test = createTestSystem({
    middleware: [twice, limit(20)],
    supervise: { decide: () => 'resume' },
  });
  const ref = test.system.spawn(Late);
  ref.tell.more();
  const asked = ref.ask
    .heedful(new Promise(() => undefined))
    .catch((error: { cause?: { code?: string; cause?: Error } }) => error.cause);
  const quick = ref.ask.heedful(Promise.resolve());
  const n = ref.ask.n();
  await test.advance(1_000);
  assert.is((await asked)?.code, 'ERR_HANDLER_TIMEOUT');
  assert.is((await asked)?.cause?.message, 'gave up', 'its own error is the cause');
  assert.is(tries, 2);
  assert.is(most, 1);
  assert.is(await quick, undefined, 'the next message has a signal of its own');
  assert.is(await n, 100);
});

const IgnoresAbort = defineActor('ignores-abort', {
  handlers: {
    fail: (_ctx, what: string): number => {
      throw new Error(what);
    },
    urgent: () => undefined,
  },
  retryable: ['fail'],
  mailbox: { levels: { urgent: 'high' } },
});

hooks('retries are counted per message: an expired ask leaves no count behind', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({ middleware: [recordHooks(lines), again] });
  const ref = test.system.spawn(IgnoresAbort);
  const asked = test.system
    .ask(ref, { withinMs: 50 })
    .fail('a')
    .catch((error: { code?: string }) => error.code);
  ref.tell.fail('b');
  await test.advance(210);
  assert.is(await asked, 'ERR_ASK_TIMEOUT');
  assert.equal(
    lines.filter((line) => line.includes('try')),
    ['a try 0', 'b try 0', 'b try 1'],
  );
});

hooks('no message overtakes another between its retries, at any level', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({ middleware: [recordHooks(lines), again] });
  const ref = test.system.spawn(IgnoresAbort);
  ref.tell.fail('x');
  for (let round = 0; round < 3; round += 1) {
    await test.advance(50);
    ref.tell.urgent();
    await test.advance(50);
  }
  assert.equal(
    lines.filter((line) => line.includes('try')),
    ['x try 0', 'x try 1', 'x try 2', 'x try 3'],
  );
});

hooks('no message overtakes a held one, at any level', async () => {
  const order: string[] = [];
  let holds = 2;
  const hold: Middleware = {
    name: 'hold',
    beforeMessage: ({ message }) => {
      if (message !== 'fail' || holds === 0) {
        order.push(message);
        return message === 'fail' ? { verdict: 'answer', reply: undefined } : undefined;
      }
      holds -= 1;
      return { verdict: 'hold', reason: { user: 'hold' }, resumeOn: { on: 'after', ms: 10 } };
    },
  };
  await using test = createTestSystem({ middleware: [hold] });
  const ref = test.system.spawn(IgnoresAbort);
  await test.tell(ref).fail('x');
  ref.tell.urgent();
  await test.advance(100);
  assert.equal(order, ['fail', 'urgent']);
});

/** Stashes its own message, then awaits. */
const StashesAndAwaits = defineActor('stashes-and-awaits', {
  state: () => ({ n: 0 }),
  handlers: {
    async wait(ctx, until: Promise<void>) {
      if (ctx.state.n > 0) return ctx.state.n;
      ctx.stash();
      await until;
      return 0;
    },
    async back(ctx, until: Promise<void>): Promise<void> {
      ctx.stash();
      await Promise.resolve();
      ctx.unstash();
      ctx.become('second');
      await until;
    },
    go(ctx) {
      ctx.state.n += 1;
      ctx.unstash();
    },
  },
  phases: { first: {}, second: { back: async (_ctx, _until: Promise<void>) => {} } },
  stashMax: 5,
  retryable: ['wait'],
});

hooks('the next message waits for a handler that stashes its message and awaits', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({ middleware: [recordHooks(lines)] });
  const ref = test.system.spawn(StashesAndAwaits);
  const until = deferred();
  const asked = ref.ask.wait(until.promise);
  ref.tell.go();
  await test.settle();
  assert.is(lines.length, 1, 'nothing else is handled meanwhile');
  until.resolve();
  assert.is(await test.settle(asked), 1);
  assert.equal(
    lines.map((line) => line.replace('[object Promise]', 'wait')),
    ['wait try 0', 'wait held', 'undefined try 0', 'undefined handled', 'wait try 0', 'wait handled'],
  );
});

hooks('a handler that stashes its message and then rejects has failed and can be retried', async () => {
  const lines: string[] = [];
  for (const tries of [1, 2]) {
    lines.length = 0;
    const retry: Middleware = {
      name: 'retry',
      afterMessage: ({ retries }, { kind }) =>
        kind === 'failed' && retries + 1 < tries ? { retryAfterMs: 10 } : undefined,
    };
    await using test = createTestSystem({
      middleware: [recordHooks(lines), retry],
      supervise: { decide: () => 'resume' },
    });
    const ref = test.system.spawn(StashesAndAwaits);
    const until = deferred();
    const asked = ref.ask.wait(until.promise).catch((error: { code: string }) => error.code);
    await test.settle();
    until.reject(new Error('broken'));
    await test.advance(100);
    assert.is(await asked, 'ERR_ACTOR_FAILED');
    assert.is(lines.filter((line) => line.endsWith('failed')).length, tries);
    const { handled, queued } = test.system.stats();
    assert.equal({ handled, queued }, { handled: 1, queued: 0 });
  }
});

hooks('a handler that unstashes its message before it fails handles it again', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({
    middleware: [again, recordHooks(lines)],
    supervise: { decide: () => 'resume' },
  });
  const ref = test.system.spawn(StashesAndAwaits);
  const until = deferred();
  const asked = ref.ask.back(until.promise);
  await test.settle();
  until.reject(new Error('broken'));
  await test.advance(1_000);
  assert.is(await asked, undefined);
  const { handled, queued } = test.system.stats();
  assert.equal({ handled, queued }, { handled: 1, queued: 0 });
});

hooks('a message stashed by a handler that is killed is a dead letter', async () => {
  const lines: string[] = [];
  await using test = createTestSystem({ middleware: [recordHooks(lines)] });
  const ref = test.system.spawn(StashesAndAwaits);
  const asked = ref.ask.wait(new Promise(() => undefined)).catch((error: { code: string }) => error.code);
  await test.settle();
  await test.settle(test.system.kill(ref));
  assert.is(await asked, 'ERR_UNDELIVERED');
  assert.is(test.system.stats().deadLetters, 1);
  assert.ok(lines.at(-1)?.endsWith('held'));
});

hooks.run();
