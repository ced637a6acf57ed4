import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AbortedError,
  type ActorRef,
  AskTimeoutError,
  createSystem,
  type DeadLetter,
  defineActor,
  HandlerTimeoutError,
  type LaterReply,
  type Middleware,
  OptionError,
  router,
  SendTimeoutError,
  StaleContextError,
} from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';

const cancellation = suite('cancellation');

/** The reason of a rejected promise. */
function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => new Error(`was answered with ${String(value)}`),
    (reason: unknown) => reason,
  );
}

function deadLettersOf({ system }: TestSystem): DeadLetter[] {
  const letters: DeadLetter[] = [];
  system.subscribe((event) => {
    if (event.kind === 'dead-letter') letters.push(event.letter);
  });
  return letters;
}

type Reasons = unknown[];

/** Works until its signal fires, and keeps the reason. */
const Worker = defineActor('worker', {
  state: (reasons: Reasons) => ({ reasons, begun: 0 }),
  handlers: {
    work(ctx, _job?: unknown): Promise<string> {
      ctx.state.begun += 1;
      const { signal, state } = ctx;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          state.reasons.push(signal.reason);
          reject(new Error('gave up'));
        });
      });
    },
    hold: async (_ctx, until: Promise<void>) => until,
    count: (ctx) => {
      ctx.state.begun += 1;
      return ctx.state.begun;
    },
    later(ctx): LaterReply<string> {
      const later = ctx.later<string>();
      later.signal.addEventListener('abort', () => ctx.state.reasons.push(later.signal.reason));
      return later;
    },
    begun: (ctx) => ctx.state.begun,
  },
});
type Workers = ActorRef<typeof Worker>;

/** Asks the next actor with the same question, and keeps the reason of its own signal. */
const Relay = defineActor('relay', {
  state: (args: { reasons: Reasons; ask: () => Promise<unknown> }) => args,
  handlers: {
    async work(ctx): Promise<unknown> {
      ctx.signal.addEventListener('abort', () => ctx.state.reasons.push(ctx.signal.reason));
      return ctx.state.ask();
    },
  },
});

const Narrow = defineActor('narrow', {
  handlers: {
    hold: async (_ctx, until: Promise<void>) => until,
    count: () => undefined,
  },
  mailbox: { capacity: 2 },
});

/** Without a look at its own signal. */
const Asker = defineActor('asker', {
  handlers: {
    async through(ctx, next: Workers): Promise<unknown> {
      await null;
      return ctx.ask(next).work();
    },
    async both(ctx, next: readonly [Workers, Workers]): Promise<unknown> {
      return Promise.all(next.map((one) => ctx.ask(one).work()));
    },
    async send(ctx, { next, ends }: { next: ActorRef<typeof Narrow>; ends: Reasons }): Promise<void> {
      await null;
      ends.push(await reasonOf(ctx.send(next).count()));
    },
  },
});

cancellation(
  'the abort of an ask rejects it with the reason and fires the signal of its handler',
  async () => {
    await using test = createTestSystem({ supervise: { decide: () => 'resume' } });
    const reasons: Reasons = [];
    const ref = test.system.spawn(Worker, { args: reasons });
    const given = new AbortController();
    const asked = reasonOf(ref.with({ signal: given.signal }).ask.work());
    await test.settle();
    assert.equal(reasons, []);
    const reason = new Error('the client has left');
    given.abort(reason);
    assert.is(await test.settle(asked), reason);
    assert.is(reasons[0], reason);
    assert.is(test.system.stats().timers, 0);
  },
);

cancellation('a reason may be any value, and a signal that has fired before sends nothing', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Worker, { args: [] });
  const fired = AbortSignal.abort('no more');
  const calls = [
    ref.with({ signal: fired }).ask.count(),
    ref.with({ signal: fired }).send.count(),
    test.system.ask(ref, { signal: fired }).count(),
  ];
  assert.equal(await Promise.all(calls.map(reasonOf)), ['no more', 'no more', 'no more']);
  await test.settle();
  assert.is(test.system.stats().handled, 0);
});

cancellation('an ask that expires fires the signal of its handler with the timeout error', async () => {
  await using test = createTestSystem();
  const reasons: Reasons = [];
  const ref = test.system.spawn(Worker, { args: reasons });
  const asked = reasonOf(ref.with({ withinMs: 20 }).ask.work());
  await test.advance(20);
  assert.instance(await asked, AskTimeoutError);
  assert.is(reasons[0], await asked);
});

cancellation(
  'an abort goes through a chain of actors, whether or not they look at their signals',
  async () => {
    for (const look of [true, false]) {
      await using test = createTestSystem();
      const reasons: Reasons = [];
      const last = test.system.spawn(Worker, { args: reasons });
      const middle = test.system.spawn(Asker);
      const first = look
        ? test.system.spawn(Relay, { args: { reasons, ask: () => middle.ask.through(last) } })
        : undefined;
      const given = new AbortController();
      const options = { signal: given.signal };
      const asked = reasonOf(first?.with(options).ask.work() ?? middle.with(options).ask.through(last));
      await test.settle();
      given.abort('enough');
      assert.is(await test.settle(asked), 'enough');
      assert.equal(reasons, look ? ['enough', 'enough'] : ['enough']);
    }
  },
);

cancellation('an ask of a cancelled handler rejects, and is not begun, though no handler looks', async () => {
  await using test = createTestSystem();
  const letters = deadLettersOf(test);
  const until = deferred();
  const busy = test.system.spawn(Worker, { args: [] });
  const ends: unknown[] = [];
  const Plain = defineActor('plain', {
    handlers: {
      async through(ctx): Promise<void> {
        ends.push(await reasonOf(Promise.all([ctx.ask(busy).hold(until.promise), ctx.ask(busy).count()])));
      },
    },
  });
  const given = new AbortController();
  const asked = reasonOf(test.system.spawn(Plain).with({ signal: given.signal }).ask.through());
  await test.settle();
  given.abort('enough');
  await test.settle();
  assert.equal([await asked, ...ends], ['enough', 'enough']);
  until.resolve();
  assert.is(await test.ask(busy).begun(), 0);
  assert.equal(
    letters.map(({ reason, message }) => [reason, message]),
    [['cancelled', 'count']],
  );
});

cancellation('an expiry goes through a chain of three actors', async () => {
  await using test = createTestSystem();
  const reasons: Reasons = [];
  const last = test.system.spawn(Worker, { args: reasons, name: 'last' });
  const middle = test.system.spawn(Asker);
  const first = test.system.spawn(Relay, { args: { reasons, ask: () => middle.ask.through(last) } });
  const asked = reasonOf(first.with({ withinMs: 50 }).ask.work());
  await test.advance(50);
  assert.instance(await asked, AskTimeoutError);
  assert.is(reasons.length, 2);
  assert.ok(reasons.every((reason) => reason instanceof AskTimeoutError));
});

cancellation('all concurrent asks of a cancelled handler are cancelled, after a gap too', async () => {
  await using test = createTestSystem();
  const reasons: Reasons = [];
  const [a, b] = [test.system.spawn(Worker, { args: reasons }), test.system.spawn(Worker, { args: reasons })];
  const asker = test.system.spawn(Asker);
  const given = new AbortController();
  const asked = reasonOf(asker.with({ signal: given.signal }).ask.both([a, b]));
  await test.settle();
  given.abort('enough');
  assert.is(await test.settle(asked), 'enough');
  assert.equal(reasons, ['enough', 'enough']);
});

cancellation('an ask that a cancelled handler makes afterwards is refused with the same reason', async () => {
  await using test = createTestSystem();
  const until = deferred();
  const worker = test.system.spawn(Worker, { args: [] });
  const ends: unknown[] = [];
  const Late = defineActor('late', {
    handlers: {
      async work(ctx): Promise<void> {
        await until.promise;
        ends.push(await reasonOf(ctx.ask(worker).count()));
      },
    },
  });
  const given = new AbortController();
  void reasonOf(test.system.spawn(Late).with({ signal: given.signal }).ask.work());
  await test.settle();
  given.abort('enough');
  until.resolve();
  await test.settle();
  assert.equal(ends, ['enough']);
  assert.is(test.system.stats().handled, 1, 'the question was not sent');
});

cancellation('a question in the mailbox that is cancelled is not begun and is a dead letter', async () => {
  for (const middleware of [[], [{ name: 'plain', afterMessage: () => undefined } satisfies Middleware]]) {
    await using test = createTestSystem({ middleware });
    const letters = deadLettersOf(test);
    const ref = test.system.spawn(Worker, { args: [], name: 'worker' });
    const until = deferred();
    ref.tell.hold(until.promise);
    const given = new AbortController();
    const asked = reasonOf(ref.with({ signal: given.signal }).ask.count());
    await test.settle();
    given.abort('enough');
    assert.is(await asked, 'enough');
    until.resolve();
    assert.is(await test.ask(ref).begun(), 0);
    assert.equal(
      letters.map(({ reason, to, message }) => [reason, to, message]),
      [['cancelled', '/worker', 'count']],
    );
    const { handled, queued, deadLetters } = test.system.stats();
    assert.equal([handled, queued, deadLetters], [2, 0, 1]);
  }
});

cancellation('a signal that is read after the asker gave up has fired already', async () => {
  for (const how of ['abort', 'expiry'] as const) {
    await using test = createTestSystem();
    const until = deferred();
    const seen: AbortSignal[] = [];
    const Late = defineActor('late', {
      handlers: {
        async work(ctx): Promise<void> {
          await until.promise;
          seen.push(ctx.signal, ctx.signal);
        },
      },
    });
    const given = new AbortController();
    const asked = reasonOf(test.system.spawn(Late).with({ signal: given.signal, withinMs: 10 }).ask.work());
    await test.settle();
    if (how === 'abort') given.abort('enough');
    else await test.advance(10);
    until.resolve();
    await test.settle();
    assert.ok(seen[0]?.aborted);
    assert.is(seen[0], seen[1]);
    assert.is(seen[0]?.reason, await asked);
  }
});

cancellation('the signal of an ask fires no more after its reply, the next ask has its own', async () => {
  await using test = createTestSystem();
  const signals: AbortSignal[] = [];
  const Reads = defineActor('reads', {
    handlers: {
      read: (ctx) => {
        signals.push(ctx.signal);
      },
    },
  });
  const ref = test.system.spawn(Reads);
  const given = new AbortController();
  const asked = [ref.with({ signal: given.signal }).ask.read(), ref.ask.read()];
  await test.settle(Promise.all(asked));
  given.abort();
  await test.settle(test.system.kill(ref));
  assert.is(new Set(signals).size, 2);
  assert.not(signals.some(({ aborted }) => aborted));
});

cancellation('a handler that ends by its signal after its asker gave up has not failed', async () => {
  const Heedful = defineActor('heedful', {
    state: () => ({ n: 0 }),
    handlers: {
      async wait(ctx, how: 'reason' | 'platform' | 'other'): Promise<void> {
        ctx.state.n += 1;
        const { signal } = ctx;
        const until = deferred();
        signal.addEventListener('abort', () => until.resolve());
        await until.promise;
        if (how === 'reason') signal.throwIfAborted();
        if (how === 'platform') await sleep(1, undefined, { signal });
        throw new Error('something else');
      },
      n: (ctx) => ctx.state.n,
    },
  });
  const outcomes: string[] = [];
  const note: Middleware = { name: 'note', afterMessage: (_, { kind }) => void outcomes.push(kind) };
  for (const middleware of [[], [note]]) {
    for (const how of ['abort', 'expiry'] as const) {
      await using test = createTestSystem({ middleware });
      const failures: Error[] = [];
      test.system.subscribe((event) => {
        if (event.kind === 'failed') failures.push(event.error);
      });
      const ref = test.system.spawn(Heedful);
      for (const end of ['reason', 'platform', 'other'] as const) {
        const given = new AbortController();
        const asked = reasonOf(ref.with({ signal: given.signal, withinMs: 50 }).ask.wait(end));
        await test.settle();
        if (how === 'abort') given.abort(new Error('the client has left'));
        else await test.advance(50);
        await test.settle(asked);
        assert.equal(await test.ask(ref).n(), end === 'reason' ? 1 : end === 'platform' ? 2 : 0, end);
      }
      assert.equal(
        failures.map(({ message }) => message),
        ['something else'],
      );
    }
  }
  const handled = outcomes.filter((kind) => kind !== 'handled');
  assert.equal(handled, ['abandoned', 'abandoned', 'failed', 'abandoned', 'abandoned', 'failed']);
});

cancellation('stop, kill and restart fire the signal of an ask under way, with a typed error', async () => {
  for (const how of ['stop', 'kill', 'restart'] as const) {
    const test = createTestSystem();
    const reasons: Reasons = [];
    const Fails = defineActor('fails', {
      handlers: {
        fail: (): never => {
          throw new Error('x');
        },
      },
      supervise: { strategy: 'one-for-all' },
    });
    const Parent = defineActor('parent', {
      state: () => ({ refs: [] as (Workers | ActorRef<typeof Fails>)[] }),
      handlers: {
        refs(ctx): [Workers, ActorRef<typeof Fails>] {
          return [ctx.spawn(Worker, { args: reasons, name: 'worker' }), ctx.spawn(Fails)];
        },
      },
      supervise: { strategy: 'one-for-all' },
    });
    const parent = test.system.spawn(Parent, { name: 'parent' });
    const [worker, fails] = await test.ask(parent).refs();
    const asked = reasonOf(worker.ask.work());
    await test.settle();
    if (how === 'restart') fails.tell.fail();
    else void test.system[how](worker);
    await test.settle();
    const [reason] = reasons;
    assert.instance(reason, AbortedError, how);
    assert.is((reason as AbortedError).path, '/parent/worker', how);
    const texts = { stop: 'is stopping', kill: 'was killed', restart: 'is restarting' };
    assert.match((reason as AbortedError).message, texts[how]);
    await asked;
    await test[Symbol.asyncDispose]();
  }
});

cancellation('a signal that is first read while its actor stops has fired', async () => {
  await using test = createTestSystem();
  const until = deferred();
  let signal: AbortSignal | undefined;
  const Late = defineActor('late', {
    handlers: {
      async work(ctx): Promise<void> {
        await until.promise;
        signal = ctx.signal;
      },
    },
  });
  const ref = test.system.spawn(Late);
  void reasonOf(ref.ask.work());
  await test.settle();
  const stopped = test.system.stop(ref);
  await test.settle();
  until.resolve();
  await test.settle(stopped);
  assert.instance(signal?.reason, AbortedError);
});

cancellation('the kill of an asker cancels its asks, a graceful stop does not', async () => {
  for (const how of ['stop', 'kill'] as const) {
    const test = createTestSystem();
    const reasons: Reasons = [];
    const workers = [1, 2].map(() => test.system.spawn(Worker, { args: reasons }));
    const asker = test.system.spawn(Asker, { name: 'asker' });
    const asked = reasonOf(asker.ask.both(workers as [Workers, Workers]));
    await test.settle();
    void test.system[how](asker);
    await test.settle();
    assert.equal(
      reasons.map((reason) => (reason as AbortedError).path),
      how === 'kill' ? ['/asker', '/asker'] : [],
    );
    await test.advance(10_000);
    await asked;
    await test[Symbol.asyncDispose]();
  }
});

cancellation(
  'a time limit of a middleware fires the signal and cancels the asks of its handler',
  async () => {
    const limit: Middleware = {
      name: 'limit',
      beforeMessage: ({ message }) =>
        message === 'both' ? { verdict: 'continue', withinMs: 20 } : undefined,
    };
    await using test = createTestSystem({ middleware: [limit] });
    const reasons: Reasons = [];
    const workers = [1, 2].map(() => test.system.spawn(Worker, { args: reasons }));
    const asked = reasonOf(test.system.spawn(Asker).ask.both(workers as [Workers, Workers]));
    await test.advance(20);
    assert.instance(((await asked) as Error).cause, HandlerTimeoutError);
    assert.is(reasons.length, 2);
    assert.ok(reasons.every((reason) => reason instanceof HandlerTimeoutError));
  },
);

cancellation('an abort reaches the worker of a pool and of a pull pool', async () => {
  for (const routing of ['round-robin', { pull: { window: 1 } }] as const) {
    for (const how of ['abort', 'expiry'] as const) {
      await using test = createTestSystem({ supervise: { decide: () => 'resume' } });
      const letters = deadLettersOf(test);
      const reasons: Reasons = [];
      const pool = test.system.spawnPool(Worker, { size: 1, args: () => reasons, routing });
      await test.settle();
      const given = new AbortController();
      const options = { signal: given.signal, withinMs: 50 };
      const asked = [pool.with(options).ask.work(1), pool.with(options).ask.work(2)].map(reasonOf);
      await test.settle();
      if (how === 'abort') given.abort('enough');
      else await test.advance(50);
      const ends = await test.settle(Promise.all(asked));
      if (how === 'abort') assert.equal([...ends, ...reasons], ['enough', 'enough', 'enough']);
      else assert.instance(reasons[0], AskTimeoutError);
      assert.equal(
        letters.map(({ reason, payload }) => [reason, payload]),
        [[how === 'abort' ? 'cancelled' : 'expired', 2]],
      );
      assert.is(await test.ask(pool).count(), 1, 'the worker is free again, after its restart');
    }
  }
});

cancellation(
  'a worker of a pull pool keeps its place in the window until cancelled work is done',
  async () => {
    await using test = createTestSystem();
    const until = deferred();
    const pool = test.system.spawnPool(Worker, { size: 1, args: () => [], routing: { pull: { window: 1 } } });
    await test.settle();
    const given = new AbortController();
    const held = reasonOf(pool.with({ signal: given.signal }).ask.hold(until.promise));
    const next = pool.ask.count();
    await test.settle();
    given.abort('enough');
    assert.is(await test.settle(held), 'enough');
    assert.is(test.system.inspect().children[0]?.children[0]?.depth, 0, 'the next work waits in the pool');
    until.resolve();
    assert.is(await test.settle(next), 1);
  },
);

cancellation('cancelled work in the mailbox of a worker of a pull pool is not begun', async () => {
  await using test = createTestSystem();
  const letters = deadLettersOf(test);
  const until = deferred();
  const pool = test.system.spawnPool(Worker, { size: 1, args: () => [], routing: { pull: { window: 2 } } });
  await test.settle();
  const held = pool.ask.hold(until.promise);
  const given = new AbortController();
  const asked = reasonOf(pool.with({ signal: given.signal }).ask.count());
  await test.settle();
  given.abort('enough');
  until.resolve();
  const begun = pool.ask.begun();
  await test.settle(held);
  assert.equal([await asked, await begun], ['enough', 0]);
  assert.equal(
    letters.map(({ reason, message }) => [reason, message]),
    [['cancelled', 'count']],
  );
});

cancellation('the holder of a later reply gets a signal', async () => {
  for (const how of ['abort', 'expiry', 'stop'] as const) {
    const test = createTestSystem();
    const reasons: Reasons = [];
    const ref = test.system.spawn(Worker, { args: reasons });
    const given = new AbortController();
    const asked = reasonOf(ref.with({ signal: given.signal, withinMs: 50 }).ask.later());
    await test.settle();
    if (how === 'abort') given.abort('enough');
    else if (how === 'stop') void test.system.stop(ref);
    else await test.advance(50);
    await test.settle();
    if (how === 'abort') assert.equal(reasons, ['enough']);
    else assert.instance(reasons[0], how === 'stop' ? AbortedError : AskTimeoutError);
    await test[Symbol.asyncDispose]();
    await asked;
  }
});

cancellation('a reply that is owed to no one has a signal that never fires', async () => {
  await using test = createTestSystem();
  const reasons: Reasons = [];
  const ref = test.system.spawn(Worker, { args: reasons });
  await test.tell(ref).later();
  await test.settle(test.system.kill(ref));
  assert.equal(reasons, []);
});

cancellation('an abort rejects a gather and reaches every routee', async () => {
  for (const verb of ['gather', 'first'] as const) {
    await using test = createTestSystem();
    const reasons: Reasons = [];
    const routees = [1, 2, 3].map(() => test.system.spawn(Worker, { args: reasons }));
    const group = router(Worker, routees);
    const given = new AbortController();
    const asked = reasonOf(group[verb]({ signal: given.signal }).work());
    await test.settle();
    given.abort('enough');
    assert.is(await test.settle(asked), 'enough');
    assert.equal(reasons, ['enough', 'enough', 'enough']);
    assert.is(getEventListeners(given.signal, 'abort').length, 0);
  }
});

cancellation('the first reply aborts the other routees', async () => {
  await using test = createTestSystem();
  const reasons: Reasons = [];
  const Racer = defineActor('racer', {
    state: (args: { wins: boolean }) => args,
    handlers: {
      run(ctx): string | Promise<string> {
        if (ctx.state.wins) return 'won';
        return new Promise((resolve) => {
          ctx.signal.addEventListener('abort', () => {
            reasons.push(ctx.signal.reason);
            resolve('lost');
          });
        });
      },
    },
  });
  const routees = [false, true, false].map((wins) => test.system.spawn(Racer, { args: { wins } }));
  assert.is(await test.settle(router(Racer, routees).first().run()), 'won');
  assert.is(reasons.length, 2);
  assert.ok(reasons.every((reason) => reason instanceof AbortedError));
});

/** A mailbox of two that is full and does not move until it is opened. */
async function fullMailbox(test: TestSystem) {
  const until = deferred();
  const ref = test.system.spawn(Narrow, { name: 'narrow' });
  await test.tell(ref).hold(until.promise);
  for (let i = 0; i < 2; i += 1) assert.is(ref.offer.count(), 'accepted');
  return { ref, open: () => until.resolve() };
}

cancellation('a send that waits for room ends by its signal and by its deadline', async () => {
  await using test = createTestSystem();
  const { ref, open } = await fullMailbox(test);
  const given = new AbortController();
  const aborted = reasonOf(ref.with({ signal: given.signal }).send.count());
  const expired = reasonOf(ref.with({ withinMs: 30 }).send.count());
  const patient = ref.send.count();
  await test.settle();
  given.abort('enough');
  assert.is(await aborted, 'enough');
  await test.advance(30);
  const error = (await expired) as SendTimeoutError;
  assert.instance(error, SendTimeoutError);
  assert.is(error.code, 'ERR_SEND_TIMEOUT');
  assert.match(error.message, '/narrow.count: no room within 30 ms; the target is running hold for 30 ms');
  await test.advance(60_000);
  open();
  await test.settle(patient);
  assert.is(test.system.stats().handled, 4, 'neither of the two was delivered');
  assert.is(test.system.stats().timers, 0);
  assert.is(getEventListeners(given.signal, 'abort').length, 0);
});

cancellation('a send inside a handler ends with the ask that the handler serves', async () => {
  for (const how of ['abort', 'expiry'] as const) {
    await using test = createTestSystem();
    const { ref, open } = await fullMailbox(test);
    const ends: Reasons = [];
    const given = new AbortController();
    const asker = test.system.spawn(Asker);
    const asked = reasonOf(asker.with({ signal: given.signal, withinMs: 40 }).ask.send({ next: ref, ends }));
    await test.settle();
    if (how === 'abort') given.abort(new RangeError('enough'));
    else await test.advance(40);
    await test.settle();
    assert.instance(ends[0], how === 'abort' ? RangeError : SendTimeoutError);
    await asked;
    open();
    await test.settle();
    assert.is(test.system.stats().handled, 4);
  }
});

cancellation('`ctx.send` and `ctx.offer` act in the name of their actor after an `await`', async () => {
  const senders: unknown[] = [];
  const onSend: Middleware = {
    name: 'senders',
    onSend: ({ message, from }) => senders.push([message, from]),
  };
  await using test = createTestSystem();
  const target = test.system.spawn(Narrow, { middleware: [onSend] });
  const until = deferred();
  const Sender = defineActor('sender', {
    handlers: {
      async go(ctx): Promise<string> {
        await null;
        const outcome = ctx.offer(target).hold(until.promise);
        for (let i = 0; i < 4; i += 1) await ctx.send(target).count();
        return outcome;
      },
    },
  });
  const asked = test.system.spawn(Sender, { name: 'sender' }).ask.go();
  await test.settle();
  assert.is(senders.length, 3, 'the next send waits');
  until.resolve();
  assert.is(await test.settle(asked), 'accepted');
  assert.equal(senders, [['hold', '/sender'], ...Array.from({ length: 4 }, () => ['count', '/sender'])]);
});

cancellation('an ended context refuses `send` and `offer`', async () => {
  await using test = createTestSystem();
  const worker = test.system.spawn(Worker, { args: [] });
  const until = deferred();
  const ends: unknown[] = [];
  const Ended = defineActor('ended', {
    handlers: {
      async go(ctx): Promise<void> {
        await until.promise;
        ends.push(await reasonOf(ctx.send(worker).count()));
        try {
          ctx.offer(worker).count();
        } catch (error) {
          ends.push(error);
        }
      },
    },
  });
  const ref = test.system.spawn(Ended);
  await test.tell(ref).go();
  await test.settle(test.system.kill(ref));
  until.resolve();
  await test.settle();
  assert.is(ends.length, 2);
  assert.ok(ends.every((error) => error instanceof StaleContextError));
});

cancellation('unknown and wrong options of asks and sends are refused', async () => {
  await using system = createSystem();
  const ref = system.spawn(Worker, { args: [] });
  const pool = system.spawnPool(Worker, { size: 1, args: () => [] });
  const ends: Promise<unknown>[] = [];
  const Own = defineActor('own', {
    handlers: {
      async go(ctx, options: object): Promise<void> {
        ends.push(reasonOf(ctx.ask(ref, options).count()), reasonOf(ctx.send(ref, options).count()));
      },
    },
  });
  const own = system.spawn(Own);
  for (const options of [{ within: 50 }, { signal: {} }, { withinMs: 0 }, 5 as unknown as object]) {
    for (const call of [
      () => ref.with(options),
      () => pool.with(options),
      () => pool.gather(options),
      () => pool.first(options),
    ])
      assert.throws(call, (error: unknown) => error instanceof OptionError);
    ends.push(reasonOf(system.ask(ref, options).count()));
    await own.ask.go(options);
  }
  assert.is(ends.length, 12);
  for (const end of await Promise.all(ends)) assert.instance(end, OptionError);
});

cancellation(
  'a long-lived signal keeps no listener of 10,000 asks, and one while some are open',
  async () => {
    await using test = createTestSystem();
    const { signal } = new AbortController();
    const ref = test.system.spawn(Worker, { args: [] });
    const until = deferred();
    const held = [1, 2, 3].map(() => ref.with({ signal }).ask.hold(until.promise));
    assert.is(getEventListeners(signal, 'abort').length, 1);
    until.resolve();
    await test.settle(Promise.all(held));
    const call = ref.with({ signal });
    for (let round = 0; round < 100; round += 1) {
      const asked = Array.from({ length: 100 }, () => call.ask.count());
      assert.is(getEventListeners(signal, 'abort').length, 1);
      await test.settle(Promise.all(asked));
    }
    assert.is(getEventListeners(signal, 'abort').length, 0);
  },
);

cancellation.run();
