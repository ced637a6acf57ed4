import {
  ActorFailedError,
  type ActorRef,
  AskCycleError,
  AskTimeoutError,
  createSystem,
  defineActor,
  isFailure,
  type LaterReply,
  OptionError,
  type RefOf,
  UndeliveredError,
} from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { runtimeOf } from '../internals.js';

const asks = suite('asks');

/** The error of a rejected promise. */
async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    (value) => new Error(`was answered with ${String(value)}`),
    (error: Error) => error,
  );
}

const Clerk = defineActor('clerk', {
  handlers: {
    echo: (_ctx, value: unknown) => value,
    later: async (_ctx, value: unknown) => value,
    never: () => new Promise<number>(() => undefined),
    wait: async (_ctx, until: Promise<unknown>) => until,
    fail: (): number => {
      throw new RangeError('no');
    },
    refuse: (ctx) => ctx.fail('insufficient', { have: 1 }),
    nothing: async () => undefined,
  },
});

asks(
  'the reply is the result of the handler: immediate, asynchronous, undefined or an expected failure',
  async () => {
    await using test = createTestSystem();
    const ref = test.system.spawn(Clerk);
    const value = { deep: [1] };
    const [now, then, nothing, none, refused] = await test.settle(
      Promise.all([
        ref.ask.echo(value),
        ref.ask.later(value),
        ref.ask.nothing(),
        ref.ask.echo(null),
        ref.ask.refuse(),
      ]),
    );
    assert.is(now, value);
    assert.is(then, value);
    assert.is(nothing, undefined);
    assert.is(none, null);
    assert.ok(isFailure(refused));
    assert.is(refused.code, 'insufficient');
    assert.equal(refused.detail, { have: 1 });
    assert.is(test.system.stats().timers, 0);
  },
);

asks('an ask of a handler that throws rejects with the cause', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clerk, { name: 'clerk' });
  const error = (await test.settle(failure(ref.ask.fail()))) as ActorFailedError;
  assert.instance(error, ActorFailedError);
  assert.is(error.target, '/clerk');
  assert.instance(error.cause, RangeError);
  assert.match(error.message, '/clerk.fail: the handler failed: no');
});

asks('an ask without a reply rejects at its deadline and says what the target was doing', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clerk, { name: 'clerk' });
  const first = failure(ref.ask.never());
  await test.advance(1_000);
  const second = failure(test.system.ask(ref, { withinMs: 500 }).echo(1));
  const third = failure(test.system.ask(ref, { withinMs: 500 }).echo(2));
  await test.advance(499);
  let over = false;
  void second.then(() => {
    over = true;
  });
  await test.settle();
  assert.is(over, false);
  await test.advance(1);
  const timedOut = (await second) as AskTimeoutError;
  assert.instance(timedOut, AskTimeoutError);
  assert.equal([timedOut.target, timedOut.question, timedOut.waitedMs], ['/clerk', 'echo', 500]);
  assert.match(timedOut.targetState, 'running never for 1500 ms; this message is number 1 of 2');
  assert.match(((await third) as AskTimeoutError).targetState, 'number 2 of 2');
  await test.advance(3_500);
  assert.match(((await first) as AskTimeoutError).message, '/clerk.never: no reply within 5000 ms');
});

asks('the timeout error names the suspension, failure or end of the target', async () => {
  await using test = createTestSystem({ supervise: { backoff: { fromMs: 10_000, toMs: 10_000 } } });
  const suspended = test.system.spawn(Clerk);
  test.system.suspend(suspended, 'audit');
  const failed = test.system.spawn(Clerk);
  failed.tell.fail();
  const Promiser = defineActor('promiser', { handlers: { later: (ctx) => ctx.later<number>() } });
  const stopped = test.system.spawn(Promiser);
  const promised = failure(stopped.ask.later());
  await test.settle();
  void test.system.stop(stopped);
  const waits = [suspended, failed].map((ref) => failure(ref.ask.echo(1)));
  await test.advance(5_000);
  const [audit, fault] = (await Promise.all(waits)) as AskTimeoutError[];
  assert.match(audit?.targetState ?? '', 'suspended: audit for 5000 ms');
  assert.match(fault?.targetState ?? '', 'failed in fail, waiting for its parent');
  assert.match(((await promised) as AskTimeoutError).targetState, 'stopped');
});

asks('an ask whose deadline has passed is not run and becomes a dead letter', async () => {
  await using test = createTestSystem();
  let ran = 0;
  const Slow = defineActor('slow', {
    handlers: {
      hold: async (_ctx, until: Promise<void>) => until,
      count: () => {
        ran += 1;
        return ran;
      },
    },
  });
  const letters: string[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'dead-letter') letters.push(event.letter.reason);
  });
  const ref = test.system.spawn(Slow);
  const until = deferred();
  ref.tell.hold(until.promise);
  const given = failure(test.system.ask(ref, { withinMs: 10 }).count());
  await test.advance(10);
  assert.instance(await given, AskTimeoutError);
  until.resolve();
  await test.settle();
  assert.is(ran, 0);
  assert.equal(letters, ['expired']);
  assert.equal(
    [test.system.stats().handled, test.system.stats().deadLetters, test.system.stats().queued],
    [1, 1, 0],
  );
});

asks('a reply after the deadline is discarded', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clerk);
  const until = deferred<unknown>();
  const given = failure(test.system.ask(ref, { withinMs: 10 }).wait(until.promise));
  await test.advance(10);
  until.resolve('too late');
  assert.instance(await test.settle(given), AskTimeoutError);
  assert.is(test.system.stats().queued, 0);
});

asks(
  'an ask inside a handler inherits the deadline of the current ask, and is refused after it',
  async () => {
    await using test = createTestSystem();
    const target = test.system.spawn(Clerk, { name: 'target' });
    const until = deferred();
    const errors: AskTimeoutError[] = [];
    const Middle = defineActor('middle', {
      handlers: {
        async relay(ctx): Promise<number> {
          await ctx
            .ask(target)
            .never()
            .catch((error: AskTimeoutError) => errors.push(error));
          await until.promise;
          await ctx
            .ask(target)
            .never()
            .catch((error: AskTimeoutError) => errors.push(error));
          return 1;
        },
      },
    });
    const middle = test.system.spawn(Middle);
    const outer = failure(test.system.ask(middle, { withinMs: 100 }).relay());
    await test.advance(100);
    assert.instance(await outer, AskTimeoutError);
    assert.is(errors[0]?.waitedMs, 100);
    await test.advance(50);
    until.resolve();
    await test.advance(5);
    assert.is(errors.length, 2);
    assert.ok((errors[1]?.waitedMs ?? -1) >= 0 && (errors[1]?.waitedMs ?? 99) < 5, 'no time is left');
  },
);

asks('a cycle of asks is refused at once, with its path', async () => {
  await using test = createTestSystem();
  type Node = ActorRef<typeof Ring>;
  const Ring = defineActor('ring', {
    state: (args: { next: () => Node }) => args,
    handlers: {
      async go(ctx, left: number): Promise<unknown> {
        if (left === 0) return 'end';
        return ctx.ask(ctx.state.next()).go(left - 1);
      },
      ask: async (ctx): Promise<unknown> => ctx.ask(Ring.self(ctx)).go(0),
    },
  });
  const refs: Node[] = ['a', 'b', 'c'].map((name, i) =>
    test.system.spawn(Ring, { args: { next: () => refs[(i + 1) % 3] as Node }, name }),
  );
  assert.is(await test.ask(refs[0] as Node).go(2), 'end');
  const closed = failure((refs[0] as Node).ask.go(5));
  await test.settle();
  let error = await closed;
  while (error instanceof ActorFailedError) error = error.cause as Error;
  assert.instance(error, AskCycleError);
  assert.equal((error as AskCycleError).cycle, ['/a', '/b', '/c', '/a']);
  const self = failure((refs[1] as Node).ask.ask());
  await test.settle();
  let own = await self;
  while (own instanceof ActorFailedError) own = own.cause as Error;
  assert.instance(own, AskCycleError);
  assert.equal((own as AskCycleError).cycle, ['/b', '/b']);
});

type Pings = RefOf<{ readonly ping: (ctx: never) => string | LaterReply<string> }>;

/** Asks another actor, at once or after a delay, and returns the outcome. */
const Peer = defineActor('peer', {
  state: () => ({ ends: [] as string[] }),
  handlers: {
    async ask(ctx, { of, first }: { of: () => Pings; first?: Promise<void> }): Promise<string> {
      await first;
      const end = await ctx
        .ask(of())
        .ping()
        .catch((error: AskCycleError | AskTimeoutError) =>
          error instanceof AskCycleError ? error.cycle.join(' ') : error.code,
        );
      ctx.state.ends.push(end);
      return end;
    },
    askWithoutWaiting(ctx, { of, thenRestMs }: { of: () => Pings; thenRestMs: number }): void {
      ctx.suspend({ user: 'rest' }, { on: 'after', ms: thenRestMs });
      void ctx
        .ask(of())
        .ping()
        .then(
          (end) => ctx.state.ends.push(end),
          (error: Error) => ctx.state.ends.push(error.message),
        );
    },
    ping: () => 'pong',
    ends: (ctx) => [...ctx.state.ends],
  },
});
type Peers = ActorRef<typeof Peer>;

function peers(test: ReturnType<typeof createTestSystem>) {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => test.system.spawn(Peer, { name }));
  return { a: a as Peers, b: b as Peers, c: c as Peers };
}

asks('two actors that ask each other outside a common chain are refused before their deadlines', async () => {
  for (const late of ['a', 'b', 'both', 'none']) {
    await using test = createTestSystem();
    const { a, b } = peers(test);
    const until = deferred();
    const first = until.promise;
    a.tell.ask({ of: () => b, ...(late === 'a' || late === 'both' ? { first } : {}) });
    b.tell.ask({ of: () => a, ...(late === 'b' || late === 'both' ? { first } : {}) });
    await test.settle();
    until.resolve();
    await test.settle();
    const ends = [a.ask.ends(), b.ask.ends()];
    const [endOfA, endOfB] = (await test.settle(Promise.all(ends))) as [string[], string[]];
    // The later ask is refused, so that its actor can answer the other.
    const byB = endOfA[0] === 'pong';
    assert.equal(byB ? endOfB : endOfA, [byB ? '/a /b /a' : '/b /a /b'], late);
    assert.equal(byB ? endOfA : endOfB, ['pong'], late);
  }
});

asks('a cycle of waiting actors is found through intermediate actors', async () => {
  await using test = createTestSystem();
  const { a, b, c } = peers(test);
  const until = deferred();
  a.tell.ask({ of: () => b });
  b.tell.ask({ of: () => c });
  c.tell.ask({ of: () => a, first: until.promise });
  const answers = [a.ask.ends(), b.ask.ends(), c.ask.ends()];
  await test.settle();
  until.resolve();
  assert.equal(await test.settle(Promise.all(answers)), [['pong'], ['pong'], ['/a /b /c /a']]);
});

asks(
  'a child that asks its waiting parent in `started` is refused, on the real executor and clock',
  async () => {
    await using system = createSystem();
    const ends: unknown[] = [];
    const Child = defineActor('child', {
      state: (args: { parent: () => Pings }) => args,
      handlers: { ready: () => 'ready' },
      async started(ctx) {
        ends.push(await failure(ctx.ask(ctx.state.parent()).ping()));
      },
    });
    const Parent = defineActor('parent', {
      handlers: {
        ping: () => 'pong',
        async begin(ctx): Promise<string> {
          const child = ctx.spawn(Child, { args: { parent: () => Parent.self(ctx) } });
          return ctx.ask(child).ready();
        },
      },
    });
    const parent = system.spawn(Parent, { name: 'p' });
    assert.is(await parent.ask.begin(), 'ready');
    assert.instance(ends[0], AskCycleError);
  },
);

asks('an ask that is not awaited is not refused, even in a cycle', async () => {
  await using test = createTestSystem();
  const { a, b } = peers(test);
  const held = test.system.suspend(a);
  a.tell.askWithoutWaiting({ of: () => b, thenRestMs: 5 });
  b.tell.ask({ of: () => a });
  await test.settle();
  held.resume();
  await test.advance(5);
  const ends = [a.ask.ends(), b.ask.ends()];
  assert.equal(await test.settle(Promise.all(ends)), [['pong'], ['pong']]);
});

asks('a pending ask of an earlier handler does not count as a wait of the current one', async () => {
  await using test = createTestSystem();
  const { a, b, c } = peers(test);
  const [first, second] = [deferred(), deferred()];
  b.tell.ask({ of: () => a, first: first.promise });
  a.tell.askWithoutWaiting({ of: () => b, thenRestMs: 1 });
  await test.advance(1);
  await test.tell(a).ask({ of: () => c, first: second.promise });
  first.resolve();
  await test.settle();
  second.resolve();
  await test.settle();
  const ends = [a.ask.ends(), b.ask.ends()];
  assert.equal(await test.settle(Promise.all(ends)), [['pong', 'pong'], ['pong']]);
});

asks('an ask of an actor that waits for a deferred reply is not refused', async () => {
  await using test = createTestSystem();
  const { c } = peers(test);
  const kept: LaterReply<string>[] = [];
  const Promiser = defineActor('promiser', {
    handlers: {
      ping(ctx) {
        const later = ctx.later<string>();
        kept.push(later);
        return later;
      },
      relay: async (ctx): Promise<string> => ctx.ask(c).ping(),
    },
  });
  const promiser = test.system.spawn(Promiser);
  await test.tell(c).ask({ of: () => promiser });
  const relayed = promiser.ask.relay();
  await test.settle();
  kept[0]?.reply('from outside');
  assert.is(await test.settle(relayed), 'pong');
});

asks('an ended ask keeps no reference to the asks that led to it', async () => {
  await using test = createTestSystem();
  let longest = 0;
  const Hop = defineActor('hop', {
    handlers: {
      go(ctx, left: number): number {
        let chain = 0;
        for (let call = runtimeOf(test.system).invoker.envelope; call !== undefined; call = call.cause)
          chain += 1;
        longest = Math.max(longest, chain);
        if (left > 0) void ctx.ask(left % 2 === 0 ? one : other).go(left - 1);
        return left;
      },
    },
  });
  const [one, other] = [test.system.spawn(Hop), test.system.spawn(Hop)];
  assert.is(await test.ask(one).go(1_000), 1_000);
  assert.ok(longest <= 2, `${longest} asks in a chain`);
});

asks('an actor that asks itself without awaiting gets its reply', async () => {
  await using test = createTestSystem();
  const answers: unknown[] = [];
  const Own = defineActor('own', {
    handlers: {
      go(ctx) {
        void Own.self(ctx)
          .ask.ping()
          .then((answer) => answers.push(answer));
      },
      ping: () => 'pong',
    },
  });
  test.system.spawn(Own).tell.go();
  await test.settle();
  assert.equal(answers, ['pong']);
});

asks('a deferred reply is given once, before or after the handler has returned it', async () => {
  await using test = createTestSystem();
  const kept: LaterReply<string>[] = [];
  const Promiser = defineActor('promiser', {
    handlers: {
      later(ctx) {
        const later = ctx.later<string>();
        kept.push(later);
        return later;
      },
      asyncLater: async (ctx) => {
        const later = ctx.later<string>();
        later.reply('before');
        later.reply('again');
        return later;
      },
      ping: () => 'pong',
    },
  });
  const ref = test.system.spawn(Promiser);
  const late = ref.ask.later();
  const refused = failure(ref.ask.later());
  const early = ref.ask.asyncLater();
  assert.is(await test.ask(ref).ping(), 'pong', 'the actor goes on meanwhile');
  assert.is(await early, 'before');
  kept[0]?.reply('after');
  kept[0]?.reply('ignored');
  kept[1]?.refuse(new RangeError('no'));
  assert.is(await late, 'after');
  assert.instance(await refused, RangeError);
});

asks('an ask of an actor that has stopped or stops first rejects as undelivered', async () => {
  await using test = createTestSystem();
  const ref = test.system.spawn(Clerk, { name: 'clerk' });
  test.system.suspend(ref);
  const waiting = failure(ref.ask.echo(1));
  await test.settle(test.system.stop(ref));
  const after = failure(ref.ask.echo(2));
  const [left, stopped] = (await Promise.all([waiting, after])) as UndeliveredError[];
  assert.instance(left, UndeliveredError);
  assert.equal([left?.target, left?.reason], ['/clerk', 'left-over']);
  assert.is(stopped?.reason, 'stopped');
  assert.is(test.system.stats().timers, 0);
});

asks('every ask ends with its system', async () => {
  for (const seed of [undefined, 1]) {
    const test = createTestSystem(seed === undefined ? {} : { seed });
    const Promiser = defineActor('promiser', { handlers: { later: (ctx) => ctx.later<number>() } });
    const ref = test.system.spawn(Promiser);
    const promised = failure(test.system.ask(ref, { withinMs: 60_000 }).later());
    await test.settle();
    await test[Symbol.asyncDispose]();
    assert.instance(await promised, AskTimeoutError);
    assert.ok(((await promised) as AskTimeoutError).waitedMs < 60_000);
  }
});

asks('a deadline must be above 0', async () => {
  await using system = createSystem();
  const ref = system.spawn(Clerk);
  for (const withinMs of [0, -1, Number.NaN, '5' as unknown as number]) {
    const error = (await failure(system.ask(ref, { withinMs }).echo(1))) as OptionError;
    assert.instance(error, OptionError);
    assert.is(error.option, 'ask.withinMs');
  }
  assert.is(await system.ask(ref, { withinMs: 2 ** 40 }).echo(1), 1);
  assert.is(await system.ask(ref, { withinMs: Number.POSITIVE_INFINITY }).echo(1), 1);
});

asks.run();
