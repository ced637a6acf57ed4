import { createSystem, defineActor, type Host, type Middleware, nodeHost, type Outcome } from '@troupe/core';
import { createMiddlewareRig, createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const pipeline = suite('pipeline');

/** Records `+name` in `beforeMessage` and `-name outcome` in `afterMessage`. */
function recordHooks(name: string, lines: string[], more: Partial<Middleware> = {}): Middleware {
  return {
    name,
    beforeMessage: () => void lines.push(`+${name}`),
    afterMessage: (_message, outcome) => void lines.push(`-${name} ${outcome.kind}`),
    ...more,
  };
}

pipeline('`beforeMessage` hooks run in order and `afterMessage` hooks in reverse', async () => {
  const lines: string[] = [];
  await using rig = createMiddlewareRig([
    recordHooks('a', lines),
    recordHooks('b', lines),
    recordHooks('c', lines),
  ]);
  await rig.tell(rig.ref).work(1);
  assert.equal(lines, ['+a', '+b', '+c', '-c handled', '-b handled', '-a handled']);
});

pipeline('when one middleware holds a message, only those before it get `afterMessage`', async () => {
  const lines: string[] = [];
  const holdUntil50: Middleware = {
    name: 'hold',
    beforeMessage: ({ now }) =>
      now < 50
        ? { verdict: 'hold', reason: { user: 'hold' }, resumeOn: { on: 'after', ms: 50 - now } }
        : undefined,
    afterMessage: (_message, outcome) => void lines.push(`-hold ${outcome.kind}`),
  };
  await using rig = createMiddlewareRig([recordHooks('a', lines), holdUntil50, recordHooks('z', lines)]);
  await rig.tell(rig.ref).work(1);
  assert.equal(lines, ['+a', '-a held']);
  await rig.advance(50);
  assert.equal(lines, ['+a', '-a held', '+a', '+z', '-z handled', '-hold handled', '-a handled']);
});

pipeline('a hold suspends the actor with its own reason until its own time', async () => {
  const hold: Middleware = {
    name: 'hold',
    beforeMessage: ({ now }) =>
      now < 7
        ? { verdict: 'hold', reason: { user: 'moon' }, resumeOn: { on: 'after', ms: 7 - now } }
        : undefined,
  };
  await using rig = createMiddlewareRig(hold);
  rig.ref.tell.work(1);
  await rig.advance(6);
  assert.equal(rig.suspensions, [{ reason: { user: 'moon' }, at: 0 }]);
  assert.equal(rig.ran, []);
  await rig.advance(1);
  assert.equal(rig.ran, [1]);
});

pipeline('a held message waits for its event, and no message overtakes it', async () => {
  let open = false;
  const holdUntilEvent: Middleware = {
    name: 'hold',
    beforeMessage: () =>
      open
        ? undefined
        : { verdict: 'hold', reason: { user: 'closed' }, resumeOn: { on: 'event', key: 'opened' } },
  };
  await using rig = createMiddlewareRig(holdUntilEvent);
  for (const n of [1, 2, 3]) rig.ref.tell.work(n);
  await rig.advance(60_000);
  assert.equal(rig.ran, []);
  open = true;
  assert.is(rig.system.event('opened'), 1);
  await rig.settle();
  assert.equal(rig.ran, [1, 2, 3]);
});

pipeline('`afterMessage` gets the same view object as `beforeMessage`', async () => {
  const notes = new WeakMap<object, number>();
  const found: (number | undefined)[] = [];
  const noting: Middleware = {
    name: 'noting',
    beforeMessage: (message) => void notes.set(message, message.payload as number),
    afterMessage: (message) => void found.push(notes.get(message)),
  };
  await using rig = createMiddlewareRig(noting, { handle: async (payload) => payload });
  for (const n of [1, 2, 3]) rig.ref.tell.work(n);
  await rig.settle();
  assert.equal(found, [1, 2, 3]);
});

pipeline('a refused message is a dead letter and fails its ask', async () => {
  const no: Middleware = { name: 'no', beforeMessage: () => ({ verdict: 'refuse', why: 'not today' }) };
  await using rig = createMiddlewareRig(no);
  const asked = rig.ref.ask.work(1).catch((error: Error) => error.message);
  await rig.settle();
  assert.match(String(await asked), /not delivered, not today/);
  assert.equal(
    rig.deadLetters.map(({ reason }) => reason),
    ['refused'],
  );
  assert.equal(rig.ran, []);
});

pipeline('the verdict answer replies without running the handler', async () => {
  const oracle: Middleware = { name: 'oracle', beforeMessage: () => ({ verdict: 'answer', reply: 42 }) };
  await using rig = createMiddlewareRig(oracle);
  assert.is(await rig.ask(rig.ref).work('?'), 42);
  assert.equal(rig.ran, []);
});

for (const hook of [
  'beforeTurn',
  'afterTurn',
  'beforeMessage',
  'afterMessage',
  'around',
  'onSend',
] as const) {
  pipeline(`a middleware that throws in ${hook} fails its actor and no other`, async () => {
    let thrown = false;
    const broken: Middleware = {
      name: 'broken',
      [hook]: (_view: unknown, run?: () => unknown) => {
        if (thrown) return hook === 'around' ? run?.() : undefined;
        thrown = true;
        throw new Error('hook broke');
      },
    };
    await using rig = createMiddlewareRig(broken);
    const other = rig.spawn('other');
    assert.not.throws(() => rig.ref.tell.work(1));
    await rig.settle();
    assert.equal(
      rig.failures.map((error) => (error as { code?: string }).code),
      ['ERR_MIDDLEWARE'],
    );
    assert.match(rig.failures[0]?.message ?? '', new RegExp(`broken.${hook}`));
    other.tell.work(2);
    rig.ref.tell.work(3);
    await rig.settle();
    assert.equal(rig.ran.slice(-2), [2, 3]);
  });
}

pipeline('an error of the handler passes an `around` hook unchanged', async () => {
  const wrapper: Middleware = { name: 'wrapper', around: (_message, run) => run() };
  const handle = (): never => {
    throw new RangeError('mine');
  };
  await using rig = createMiddlewareRig([wrapper, { ...wrapper, name: 'second' }], { handle });
  await rig.tell(rig.ref).work(1);
  assert.equal(
    rig.failures.map((error) => error.name),
    ['RangeError'],
  );
});

pipeline('a verdict that cannot be carried out is a failure of the actor', async () => {
  const impossible: Middleware = {
    name: 'impossible',
    beforeMessage: ({ payload }) => ({
      verdict: 'hold',
      reason: 'rate-limit',
      resumeOn: { on: 'after', ms: payload as number },
    }),
  };
  await using rig = createMiddlewareRig(impossible);
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) rig.ref.tell.work(ms);
  await rig.settle();
  assert.is(rig.failures.length, 3);
  assert.ok(rig.failures.every((error) => (error as { code?: string }).code === 'ERR_MIDDLEWARE'));
});

pipeline('every `beforeTurn` is followed by one `afterTurn`, whatever the result', async () => {
  const ended: string[] = [];
  let begun = 0;
  const clock: Middleware = {
    name: 'clock',
    beforeTurn: () => {
      begun += 1;
    },
    afterTurn: (turn, result) => {
      assert.ok(turn.endedAt >= turn.startedAt);
      ended.push(result.kind);
    },
  };
  const hold: Middleware = {
    name: 'hold',
    beforeMessage: ({ payload, now }) =>
      payload === 'hold' && now < 10
        ? { verdict: 'hold', reason: 'rate-limit', resumeOn: { on: 'after', ms: 10 } }
        : undefined,
  };
  const handle = (payload: unknown): unknown => {
    if (payload === 'throw') throw new Error('no');
    return payload === 'wait' ? Promise.resolve() : undefined;
  };
  await using rig = createMiddlewareRig([clock, hold], { handle });
  for (const payload of ['plain', 'throw', 'wait', 'hold']) {
    rig.ref.tell.work(payload);
    await rig.advance(20);
  }
  await rig.settle(rig.system.stop(rig.ref));
  assert.is(ended.length, begun);
  for (const kind of ['completed', 'failed', 'suspended']) assert.ok(ended.includes(kind), kind);
});

pipeline(
  'entered middleware gets `afterMessage` when the actor restarts during an asynchronous handler',
  async () => {
    const outcomes: Outcome[] = [];
    const seen: Middleware = {
      name: 'seen',
      afterMessage: (_message, outcome) => void outcomes.push(outcome),
    };
    const Child = defineActor('child', {
      handlers: {
        wait: (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)),
        boom: () => {
          throw new Error('boom');
        },
      },
    });
    const Parent = defineActor('parent', {
      started: (ctx) => {
        ctx.spawn(Child, { name: 'one' });
        ctx.spawn(Child, { name: 'two' });
      },
      supervise: { strategy: 'one-for-all', restarts: 3, withinMs: 1_000 },
      handlers: {},
    });
    await using test = createTestSystem({ middleware: [seen] });
    test.system.spawn(Parent, { name: 'p' });
    await test.settle();
    test.system.lookup(Child, 'p/one')?.tell.wait();
    await test.settle();
    assert.is(outcomes.length, 0);
    test.system.lookup(Child, 'p/two')?.tell.boom();
    await test.settle();
    assert.equal(outcomes.map(({ kind }) => kind).sort(), ['abandoned', 'failed']);
  },
);

pipeline(
  'entered middleware gets `afterMessage` when the actor is killed during a handler that never settles',
  async () => {
    await using rig = createMiddlewareRig([], { handle: () => new Promise(() => undefined) });
    await rig.tell(rig.ref).work(1);
    await rig.settle(rig.system.kill(rig.ref));
    assert.equal(
      rig.outcomes.map(({ kind }) => kind),
      ['abandoned'],
    );
  },
);

pipeline('a subtree inherits its middleware, and one actor can have its own', async () => {
  const seen: string[] = [];
  const note = (name: string): Middleware => ({
    name,
    beforeMessage: ({ path }) => void seen.push(`${name} ${path}`),
  });
  const Leaf = defineActor('leaf', { handlers: { poke: () => undefined } });
  const Guarded = defineActor('guarded', { handlers: { poke: () => undefined }, middleware: [note('own')] });
  const Branch = defineActor('branch', {
    started: (ctx) => void ctx.spawn(Leaf, { name: 'leaf' }),
    handlers: { poke: () => undefined },
  });
  await using test = createTestSystem({ middleware: [note('system')] });
  test.system.spawn(Branch, { name: 'branch', middleware: [note('subtree')] });
  const outside = test.system.spawn(Leaf, { name: 'outside' });
  const guarded = test.system.spawn(Guarded, { name: 'guarded' });
  await test.settle();
  test.system.lookup(Leaf, 'branch/leaf')?.tell.poke();
  outside.tell.poke();
  guarded.tell.poke();
  await test.settle();
  assert.equal(seen, [
    'system /branch/leaf',
    'subtree /branch/leaf',
    'system /outside',
    'system /guarded',
    'own /guarded',
  ]);
});

pipeline('changing a middleware list later has no effect on living actors', async () => {
  const lines: string[] = [];
  const list = [recordHooks('first', lines)];
  const Actor = defineActor('actor', { handlers: { poke: () => undefined } });
  await using test = createTestSystem({ middleware: list });
  const ref = test.system.spawn(Actor);
  list.push(recordHooks('late', lines));
  await test.tell(ref).poke();
  assert.equal(lines, ['+first', '-first handled']);
});

pipeline('duplicate and missing middleware names are refused', () => {
  const twice = [{ name: 'same' }, { name: 'same' }];
  assert.throws(() => createSystem({ middleware: twice }), /ERR_OPTION|used once/);
  assert.throws(() => createSystem({ middleware: [{ name: '' }] }), /needed a name/);
});

pipeline(
  'the context from `onSend` travels with the message and is visible to its own middleware only',
  async () => {
    const found: unknown[] = [];
    const stamp = (name: string): Middleware => ({
      name,
      onSend: ({ payload }) => `${name}:${String(payload)}`,
      beforeMessage: ({ context }) => void found.push(context),
    });
    await using rig = createMiddlewareRig([stamp('a'), stamp('b')]);
    rig.ref.tell.work(1);
    void rig.ref.ask.work(2);
    await rig.settle();
    assert.equal(found, ['a:1', 'b:1', 'a:2', 'b:2']);
  },
);

pipeline('a send in a handler knows the context of the current message, also after an await', async () => {
  const causes: unknown[] = [];
  const stamp: Middleware = {
    name: 'stamp',
    onSend: ({ message, cause }) => {
      causes.push([message, cause]);
      return message;
    },
  };
  const Last = defineActor('last', {
    handlers: { now: () => undefined, afterAwait: () => undefined, askedAfterAwait: () => true },
  });
  const First = defineActor('first', {
    handlers: {
      async go(ctx) {
        const last = ctx.spawn(Last);
        last.tell.now();
        await Promise.resolve();
        ctx.tell(last).afterAwait();
        await ctx.ask(last).askedAfterAwait();
      },
    },
  });
  await using test = createTestSystem({ middleware: [stamp] });
  await test.tell(test.system.spawn(First)).go();
  assert.equal(causes, [
    ['go', undefined],
    ['now', 'go'],
    ['afterAwait', 'go'],
    ['askedAfterAwait', 'go'],
  ]);
});

/** A host that counts the reads of its clock. */
function countingHost(): { readonly host: Host; reads(): number } {
  let reads = 0;
  const now = (): number => {
    reads += 1;
    return nodeHost.now();
  };
  return { host: { ...nodeHost, now }, reads: () => reads };
}

async function clockReadsOf(middleware: Middleware, messages: number): Promise<number> {
  const { host, reads } = countingHost();
  await using system = createSystem({ host, middleware: [middleware] });
  const Sum = defineActor('sum', {
    state: () => ({ sum: 0 }),
    handlers: {
      add(ctx, n: number) {
        ctx.state.sum += n;
      },
      get: (ctx) => ctx.state.sum,
    },
    mailbox: { overflow: 'grow' },
  });
  const ref = system.spawn(Sum);
  const before = reads();
  for (let i = 0; i < messages; i += 1) ref.tell.add(1);
  assert.is(await ref.ask.get(), messages);
  return reads() - before;
}

pipeline('the clock is not read unless a hook needs it', async () => {
  const untimed: Middleware = { name: 'a', timesHandlers: false, afterMessage: () => undefined };
  assert.ok((await clockReadsOf(untimed, 5_000)) < 2_500);
  const timed: Middleware = { name: 'a', afterMessage: () => undefined };
  assert.ok((await clockReadsOf(timed, 5_000)) >= 10_000);
});

pipeline('handlers are timed only when a hook needs it, and the coarse clock is never ahead', async () => {
  const seen: unknown[] = [];
  const untimed: Middleware = {
    name: 'untimed',
    timesHandlers: false,
    beforeMessage: (message) => void seen.push(message.coarseNow <= message.now),
    afterMessage: (_message, outcome) => void seen.push('ms' in outcome && outcome.ms),
  };
  let time = 0;
  const host: Host = { ...nodeHost, now: () => time };
  const Slow = defineActor('slow', {
    handlers: {
      work: () => {
        time += 7;
      },
      done: () => true,
    },
    middleware: [untimed],
  });
  for (const middleware of [[], [{ name: 'timed', afterMessage: () => undefined }]]) {
    await using system = createSystem({ host, middleware });
    const ref = system.spawn(Slow);
    ref.tell.work();
    await ref.ask.done();
  }
  assert.equal(seen, [true, Number.NaN, true, Number.NaN, true, 7, true, 0]);
});

pipeline('`onDeadLetter` is called once with the reason for a lost message that has a context', async () => {
  const lost: unknown[] = [];
  const stamp: Middleware = {
    name: 'stamp',
    onSend: ({ payload }) => `stamp of ${payload}`,
    onDeadLetter: ({ path, message, payload, reason, context }) =>
      void lost.push([path, message, payload, reason, context]),
    beforeMessage: ({ payload }) =>
      payload === 'hold'
        ? { verdict: 'hold', reason: { user: 'closed' }, resumeOn: { on: 'event', key: 'never' } }
        : payload === 'refuse'
          ? { verdict: 'refuse', why: 'no' }
          : undefined,
  };
  const other: Middleware = {
    name: 'other',
    onSend: () => 'another',
    onDeadLetter: () => void lost.push('other'),
  };
  await using rig = createMiddlewareRig([stamp]);
  for (const payload of ['fine', 'refuse', 'hold', 'behind']) rig.ref.tell.work(payload);
  await rig.settle();
  await rig.settle(rig.system.kill(rig.ref));
  rig.ref.tell.work('too late');
  assert.equal(lost, [
    ['/rigged', 'work', 'refuse', 'refused', 'stamp of refuse'],
    ['/rigged', 'work', 'hold', 'left-over', 'stamp of hold'],
    ['/rigged', 'work', 'behind', 'left-over', 'stamp of behind'],
  ]);
  await using both = createMiddlewareRig([other, stamp]);
  await both.tell(both.ref).work('refuse');
  assert.equal(lost.slice(3), ['other', ['/rigged', 'work', 'refuse', 'refused', 'stamp of refuse']]);
});

pipeline('an `onDeadLetter` hook that throws is logged and stops no actor', async () => {
  const lines: string[] = [];
  const seen: string[] = [];
  const host: Host = { ...nodeHost, log: ({ message }) => void lines.push(message) };
  const throwing: Middleware = {
    name: 'throwing',
    onSend: () => 1,
    onDeadLetter: () => {
      throw new Error('oops');
    },
  };
  const counting: Middleware = {
    name: 'counting',
    onSend: () => 2,
    onDeadLetter: () => void seen.push('lost'),
  };
  const no: Middleware = { name: 'no', beforeMessage: () => ({ verdict: 'refuse', why: 'no' }) };
  await using system = createSystem({ host, middleware: [throwing, counting, no] });
  const Any = defineActor('any', { handlers: { get: () => 1 } });
  const ref = system.spawn(Any);
  await ref.ask.get().catch((error: Error) => seen.push(error.message.includes('no') ? 'refused' : ''));
  assert.equal(seen, ['lost', 'refused']);
  assert.ok(
    lines.some((line) => /throwing.*onDeadLetter.*oops/.test(line)),
    lines.join('\n'),
  );
});

pipeline('a message of a timer knows the message that armed the timer', async () => {
  const seen: unknown[] = [];
  const stamp: Middleware = {
    name: 'stamp',
    onSend: ({ message, cause, armedBy }) => {
      seen.push([message, cause, armedBy]);
      return message;
    },
  };
  const silent: Middleware = { name: 'silent', onSend: () => 'nothing of mine' };
  const Clock = defineActor('clock', {
    started(ctx) {
      ctx.after(5, Clock.self(ctx)).begin();
    },
    handlers: {
      begin(ctx) {
        ctx.after(5, Clock.self(ctx)).ring();
        Clock.self(ctx).tell.ready();
      },
      ready: () => undefined,
      ring: () => undefined,
    },
  });
  await using test = createTestSystem({ middleware: [silent, stamp] });
  test.system.spawn(Clock);
  await test.settle();
  await test.advance(20);
  assert.equal(seen, [
    ['begin', undefined, undefined],
    ['ready', 'begin', undefined],
    ['ring', undefined, 'begin'],
  ]);
});

pipeline('`afterMessage` is called for the outcomes that the middleware declares', async () => {
  const lines: string[] = [];
  const failedOnly = recordHooks('failedOnly', lines, { outcomes: ['failed'] });
  await using rig = createMiddlewareRig([recordHooks('all', lines), failedOnly], {
    handle: (payload) => {
      if (payload === 'bad') throw new Error('bad');
    },
  });
  rig.ref.tell.work('good');
  rig.ref.tell.work('bad');
  await rig.settle();
  assert.equal(lines, [
    '+all',
    '+failedOnly',
    '-all handled',
    '+all',
    '+failedOnly',
    '-failedOnly failed',
    '-all failed',
  ]);
});

// Messages take a fast path where all middleware wants only failures; a failure must still reach its hooks.
pipeline('middleware that declares only the outcome failed sees every failure', async () => {
  const seen: unknown[] = [];
  const onlyFailures: Middleware = {
    name: 'only-failures',
    outcomes: ['failed'],
    timesHandlers: false,
    afterMessage: ({ message, payload, retries, asked }, outcome) => {
      seen.push([message, payload, outcome.kind, retries, asked]);
      return message === 'unreliable' && retries < 2 ? { retryAfterMs: 1 } : undefined;
    },
  };
  const Worker = defineActor('worker', {
    state: () => ({ tries: 0, open: false }),
    handlers: {
      get: (_ctx, n: number) => n,
      later: async (_ctx, n: number) => n,
      unreliable(ctx, n: number) {
        ctx.state.tries += 1;
        if (ctx.state.tries < 3) throw new Error('unreliable');
        return n;
      },
      async bad(_ctx, _n: number): Promise<number> {
        throw new Error('bad');
      },
      aside(ctx, n: number) {
        if (!ctx.state.open) ctx.stash();
        return n;
      },
      open(ctx) {
        ctx.state.open = true;
        ctx.unstash();
      },
    },
    retryable: ['unreliable'],
    stashMax: 5,
  });
  await using test = createTestSystem({ middleware: [onlyFailures] });
  const ref = test.system.spawn(Worker);
  const answers = Promise.allSettled([
    ref.ask.get(1),
    ref.ask.later(2),
    ref.ask.aside(3),
    ref.ask.unreliable(4),
    ref.ask.bad(5),
  ]);
  await test.advance(10);
  ref.tell.open();
  await test.advance(10);
  const values = (await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value : 'failed'));
  assert.equal(values, [1, 2, 3, 4, 'failed']);
  assert.equal(seen, [
    ['unreliable', 4, 'failed', 0, true],
    ['unreliable', 4, 'failed', 1, true],
    ['bad', 5, 'failed', 0, true],
  ]);
});

pipeline.run();
