// Invalid options get a typed error with the option, its value and the expectation, before anything is
// created.
import {
  type ActorContext,
  child,
  createSystem,
  defineActor,
  fromActor,
  fromClass,
  fromReducer,
  type Middleware,
  MisuseError,
  OptionError,
  pool,
  router,
  type SpawnOptions,
  SystemStoppedError,
  supervisor,
  toActor,
} from '@troupe/core';
import { createMiddlewareRig, createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const options = suite('options');

/** Calls without type checks. */
const define = defineActor as unknown as (name: unknown, spec: unknown) => unknown;
const create = createSystem as unknown as (given: unknown) => unknown;

function refusal(act: () => unknown): OptionError {
  try {
    act();
  } catch (error) {
    assert.instance(error, OptionError, String(error));
    assert.is((error as OptionError).code, 'ERR_OPTION');
    return error as OptionError;
  }
  throw new Error('was accepted');
}

const handlers = { put: () => undefined };

options('an invalid definition is refused', () => {
  const cases: readonly (readonly [spec: unknown, option: string])[] = [
    [undefined, 'x'],
    [null, 'x'],
    [[], 'x'],
    [{}, 'x.handlers'],
    [{ handlers: null }, 'x.handlers'],
    [{ handlers: { put: 1 } }, 'x.handlers.put'],
    [{ handlers: { '~ref': () => 1 } }, 'x.handlers.~ref'],
    [{ handlers, hanlders: {} }, 'x.hanlders'],
    [{ handlers, state: {} }, 'x.state'],
    [{ handlers, started: 'now' }, 'x.started'],
    [{ handlers, mailbox: null }, 'x.mailbox'],
    [{ handlers, mailbox: { size: 1 } }, 'x.mailbox.size'],
    [{ handlers, mailbox: { capacity: 0 } }, 'x.mailbox.capacity'],
    [{ handlers, mailbox: { capacity: 1.5 } }, 'x.mailbox.capacity'],
    [{ handlers, mailbox: { capacity: Number.NaN } }, 'x.mailbox.capacity'],
    [{ handlers, mailbox: { overflow: 'explode' } }, 'x.mailbox.overflow'],
    [{ handlers, mailbox: { levels: { unknown: 'high' } } }, 'x.mailbox.levels.unknown'],
    [{ handlers, mailbox: { levels: { toString: 'high' } } }, 'x.mailbox.levels.toString'],
    [{ handlers, mailbox: { levels: { put: 'urgent' } } }, 'x.mailbox.levels.put'],
    [{ handlers, throughput: 0 }, 'x.throughput'],
    [{ handlers, throughput: -1 }, 'x.throughput'],
    [{ handlers, throughput: 0.5 }, 'x.throughput'],
    [{ handlers, throughput: '300' }, 'x.throughput'],
    [{ handlers, stopWithinMs: -1 }, 'x.stopWithinMs'],
    [{ handlers, stopWithinMs: Number.POSITIVE_INFINITY }, 'x.stopWithinMs'],
    [{ handlers, stashMax: 0 }, 'x.stashMax'],
    [{ handlers, illegal: 'drop' }, 'x.illegal'],
    [{ handlers, phases: [] }, 'x.phases'],
    [{ handlers, phases: { open: null } }, 'x.phases.open'],
    [{ handlers, phases: { open: { put: 1 } } }, 'x.phases.open.put'],
    [{ handlers, retryable: 'put' }, 'x.retryable'],
    [{ handlers, retryable: ['unknown'] }, 'x.retryable'],
    [{ handlers, supervise: { strategy: 'all' } }, 'supervise.strategy'],
    [{ handlers, supervise: { restarts: -1 } }, 'supervise.restarts'],
    [{ handlers, supervise: { withinMs: 0 } }, 'supervise.withinMs'],
    [{ handlers, supervise: { restartsTotal: 0.5 } }, 'supervise.restartsTotal'],
    [{ handlers, supervise: { backof: {} } }, 'supervise.backof'],
    [{ handlers, supervise: { decide: 'restart' } }, 'supervise.decide'],
    [{ handlers, supervise: { backoff: { fromMs: 10, toMs: 5 } } }, 'supervise.backoff.toMs'],
    [{ handlers, supervise: { backoff: { fromMs: 1, toMs: 5, jitter: 2 } } }, 'supervise.backoff.jitter'],
    [
      { handlers, supervise: { backoff: { fromMs: 1, toMs: 5, resetAfterMs: -1 } } },
      'supervise.backoff.resetAfterMs',
    ],
    [{ handlers, middleware: {} }, 'middleware'],
    [{ handlers, middleware: [null] }, 'middleware'],
    [{ handlers, middleware: [{}] }, 'middleware.name'],
    [{ handlers, middleware: [{ name: 'a', beforeTurn: 1 }] }, 'a.beforeTurn'],
    [{ handlers, middleware: [{ name: 'a' }, { name: 'a' }] }, 'middleware.name'],
  ];
  for (const [spec, option] of cases) {
    const error = refusal(() => define('x', spec));
    assert.is(error.option, option);
    assert.match(error.message, option);
  }
  for (const name of ['', 7, undefined]) refusal(() => define(name, { handlers }));
});

options('a throughput below 1 is refused', () => {
  assert.match(refusal(() => define('x', { handlers, throughput: 0 })).message, 'at least 1, got 0');
});

options('invalid system options are refused', () => {
  const cases: readonly (readonly [given: unknown, option: string])[] = [
    [null, 'createSystem'],
    [{ nmae: 'x' }, 'createSystem.nmae'],
    [{ name: 7 }, 'createSystem.name'],
    [{ name: 'a/b' }, 'createSystem.name'],
    [{ queuedMax: 0 }, 'queuedMax'],
    [{ queuedMax: 2 ** 60 }, 'queuedMax'],
    [{ askWithinMs: 0 }, 'askWithinMs'],
    [{ askWithinMs: Number.POSITIVE_INFINITY }, 'askWithinMs'],
    [{ slice: { msMin: 0, msMax: 1 } }, 'slice.msMin'],
    [{ slice: { msMin: 2, msMax: 1 } }, 'slice.msMax'],
    [{ slice: { ms: 1 } }, 'slice.ms'],
    [{ executor: 'default' }, 'createSystem.executor'],
    [{ supervise: { restarts: 'many' } }, 'supervise.restarts'],
    [{ middleware: 'telemetry' }, 'middleware'],
  ];
  for (const [given, option] of cases) assert.is(refusal(() => create(given)).option, option);
});

options('a spawn with invalid options is refused, and no actor is created', async () => {
  await using test = createTestSystem();
  const Actor = defineActor('actor', { handlers });
  const cases: readonly (readonly [given: unknown, option: string])[] = [
    [{ nmae: 'x' }, 'spawn.nmae'],
    [{ name: 'a b' }, 'name'],
    [{ restart: 'often' }, 'spawn.restart'],
    [{ significant: 1 }, 'spawn.significant'],
    [{ supervise: { restarts: -1 } }, 'supervise.restarts'],
    [{ middleware: [{ name: '' }] }, 'middleware.name'],
  ];
  for (const [given, option] of cases) {
    assert.is(refusal(() => test.system.spawn(Actor, given as SpawnOptions)).option, option);
  }
  assert.is(test.system.stats().actors, 1);
});

options('only a definition made by `defineActor` can be spawned, by a system and by an actor', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  for (const wrong of [undefined, null, {}, 'actor', () => undefined]) {
    assert.throws(
      () => test.system.spawn(wrong as never),
      (error: unknown) => error instanceof MisuseError,
    );
    const Parent = defineActor('parent', { handlers: { go: (ctx) => void ctx.spawn(wrong as never) } });
    await test.tell(test.system.spawn(Parent)).go();
  }
  assert.is(errors.length, 5);
  assert.ok(errors.every((error) => error instanceof MisuseError));
});

options('a stopped system and a stopping actor cannot spawn', async () => {
  const test = createTestSystem();
  const Actor = defineActor('actor', { handlers });
  const errors: unknown[] = [];
  const Late = defineActor('late', {
    handlers: {},
    stopping(ctx) {
      try {
        ctx.spawn(Actor);
      } catch (error) {
        errors.push(error);
      }
    },
  });
  test.system.spawn(Late);
  await test[Symbol.asyncDispose]();
  assert.throws(
    () => test.system.spawn(Actor),
    (error: unknown) => error instanceof SystemStoppedError,
  );
  assert.instance(errors[0], SystemStoppedError);
});

options(
  'an unknown message is a compile error, and without a compiler a TypeError of the caller',
  async () => {
    await using test = createTestSystem();
    const ref = test.system.spawn(defineActor('actor', { handlers }));
    assert.throws(() => (ref.tell as unknown as { unknown(): void }).unknown(), TypeError);
    assert.is(test.system.stats().queued, 0);
  },
);

options('an option getter that throws reaches the caller and leaves the system unchanged', async () => {
  await using test = createTestSystem();
  const hostile = {
    get handlers(): never {
      throw new RangeError('getter');
    },
  };
  assert.throws(() => define('x', hostile), /getter/);
  const Actor = defineActor('actor', { handlers: { put: (_ctx, _value: unknown) => 'ok' } });
  const spawn = {
    get name(): never {
      throw new RangeError('getter');
    },
  };
  assert.throws(() => test.system.spawn(Actor, spawn as SpawnOptions), /getter/);
  const ref = test.system.spawn(Actor);
  const payload = {
    get anything(): never {
      throw new RangeError('getter');
    },
  };
  assert.is(await test.ask(ref).put(payload), 'ok');
});

options('a middleware list is copied: later changes have no effect', async () => {
  const list: Middleware[] = [];
  let called = 0;
  const test = createTestSystem({ middleware: list });
  list.push({
    name: 'late',
    beforeTurn: () => {
      called += 1;
    },
  });
  test.system.spawn(defineActor('actor', { handlers })).tell.put();
  await test[Symbol.asyncDispose]();
  assert.is(called, 0);
});

options('a value that is not a ref is refused where a ref is needed', async () => {
  await using test = createTestSystem();
  /** Calls without type checks. */
  type Loose = Readonly<Record<string, (...given: unknown[]) => unknown>>;
  const loose = test.system as unknown as Loose;
  for (const given of [undefined, null, 42, 'ref', {}, { cell: {} }, () => undefined]) {
    for (const call of ['stop', 'drain', 'kill', 'suspend', 'ask'])
      assert.is(refusal(() => loose[call]?.(given)).option, `${call}.ref`);
    if (given !== undefined)
      assert.is(refusal(() => loose.inspect?.({ under: given })).option, 'inspect.under');
    const refused: string[] = [];
    const Actor = defineActor('actor', {
      handlers: {
        all(ctx) {
          const own = ctx as unknown as Loose;
          for (const call of ['watch', 'unwatch', 'link', 'unlink'])
            refused.push(refusal(() => own[call]?.(given)).option);
          for (const call of ['after', 'every']) refused.push(refusal(() => own[call]?.(10, given)).option);
          const until = { on: 'capacity', of: given };
          refused.push(refusal(() => own.suspend?.({ user: 'x' }, until)).option);
          if (given === undefined) return;
          for (const call of ['stop', 'drain', 'kill'])
            refused.push(refusal(() => own[call]?.(given)).option);
        },
      },
    });
    const ref = test.system.spawn(Actor);
    await test.tell(ref).all();
    assert.equal(
      refused,
      ['watch.ref', 'unwatch.ref', 'link.ref', 'unlink.ref', 'after.ref', 'every.ref', 'suspend.of'].concat(
        given === undefined ? [] : ['stop.ref', 'drain.ref', 'kill.ref'],
      ),
    );
    assert.equal(test.system.inspect({ under: ref }).status, ['idle']);
  }
});

options('invalid arguments of system methods are refused', async () => {
  await using test = createTestSystem();
  const Actor = defineActor('actor', { handlers });
  const ref = test.system.spawn(Actor, { name: 'a' });
  const onChange = (): void => undefined;
  const cases: readonly (readonly [call: string, given: readonly unknown[], option: string])[] = [
    ['lookup', [Actor, undefined], 'lookup.path'],
    ['lookup', [Actor, 42], 'lookup.path'],
    ['subscribe', [5], 'subscribe.listener'],
    ['subscribe', [undefined], 'subscribe.listener'],
    ['watchName', [Actor, 'x', 5], 'watchName.onChange'],
    ['watchName', [Actor, 'a//b', onChange], 'watchName.path'],
    ['watchName', [Actor, '', onChange], 'watchName.path'],
    ['watchName', [Actor, 'a/', onChange], 'watchName.path'],
    ['watchName', [Actor, undefined, onChange], 'watchName.path'],
    ['shutdown', [{ withinms: 5 }], 'shutdown.withinms'],
    ['shutdown', [{ withinMs: '5' }], 'shutdown.withinMs'],
    ['shutdown', [5], 'shutdown'],
    ['shutdown', [null], 'shutdown'],
    ['stop', [ref, { withinms: 5 }], 'stop.withinms'],
    ['stop', [ref, { withinMs: '5' }], 'stop.withinMs'],
    ['stop', [ref, 5], 'stop'],
    ['drain', [ref, { withinms: 5 }], 'drain.withinms'],
    ['inspect', [{ unter: ref }], 'inspect.unter'],
    ['inspect', [null], 'inspect'],
    ['tree', [{ unter: ref }], 'inspect.unter'],
    ['suspend', [ref, 5], 'suspend.reason'],
  ];
  const loose = test.system as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>;
  for (const [call, given, option] of cases)
    assert.is(refusal(() => loose[call]?.(...given)).option, option, `${call} ${option}`);
  assert.throws(
    () => loose.lookup?.({}, 'a'),
    (error: unknown) => error instanceof MisuseError,
  );
  assert.is(test.system.lookup(Actor, 'a'), ref);
  assert.type(test.system.watchName(Actor, '/actor-1/child', onChange), 'function');
});

options('a suspension without a valid reason and resume condition is refused', async () => {
  await using test = createTestSystem();
  const cases: readonly (readonly [reason: unknown, until: unknown, option: string])[] = [
    ['operator', { on: 'nonsense' }, 'suspend.on'],
    ['operator', {}, 'suspend.on'],
    ['operator', null, 'suspend.on'],
    ['operator', { on: 'after', ms: -1 }, 'suspend.after.ms'],
    ['operator', { on: 'after', ms: '5' }, 'suspend.after.ms'],
    ['operator', { on: 'event', key: 5 }, 'suspend.event.key'],
    ['operator', { on: 'settled', promise: 5 }, 'suspend.settled.promise'],
    [undefined, { on: 'after', ms: 1 }, 'suspend.reason'],
    [{ user: 5 }, { on: 'after', ms: 1 }, 'suspend.reason'],
  ];
  const refused: string[] = [];
  const Actor = defineActor('actor', {
    handlers: {
      all(ctx) {
        const suspend = ctx.suspend.bind(ctx) as (reason: unknown, until: unknown) => unknown;
        for (const [reason, until] of cases) refused.push(refusal(() => suspend(reason, until)).option);
      },
    },
  });
  const ref = test.system.spawn(Actor);
  await test.tell(ref).all();
  assert.equal(
    refused,
    cases.map(([, , option]) => option),
  );
  assert.equal(test.system.inspect({ under: ref }).status, ['idle']);
});

options('an unknown option is refused by every function that takes options', async () => {
  await using test = createTestSystem();
  const { system } = test;
  const Actor = defineActor('actor', { handlers });
  const ref = system.spawn(Actor);
  const routed = router(Actor, [ref]);
  class Plain {
    put(): void {}
  }
  const odd = { oddName: 1 } as never;
  const size = { size: 1, oddName: 1 } as never;
  const calls: Readonly<Record<string, () => unknown>> = {
    createSystem: () => createSystem(odd),
    createTestSystem: () => createTestSystem(odd),
    'createTestSystem warn': () => createTestSystem({ warn: odd }),
    'createTestSystem slice': () => createTestSystem({ slice: odd }),
    'createTestSystem supervise': () => createTestSystem({ supervise: odd }),
    createMiddlewareRig: () => createMiddlewareRig([], odd),
    'world.probe': () => test.probe(Actor, odd),
    'world.ask': () => test.ask(ref, odd).put(),
    defineActor: () => define('x', { handlers, oddName: 1 }),
    'defineActor mailbox': () => define('x', { handlers, mailbox: odd }),
    'defineActor supervise': () => define('x', { handlers, supervise: odd }),
    'defineActor backoff': () =>
      define('x', { handlers, supervise: { backoff: { fromMs: 1, toMs: 2, oddName: 1 } } }),
    'defineActor.of': () => defineActor.of<{ put(): void }>()('x', { handlers, oddName: 1 } as never),
    fromClass: () => fromClass('x', Plain, odd),
    'fromClass handlers': () => fromClass('x', Plain, { handlers: {} } as never),
    fromReducer: () =>
      fromReducer(
        'x',
        () => 0,
        (n: number) => n,
        odd,
      ),
    'fromReducer handlers': () =>
      fromReducer(
        'x',
        () => 0,
        (n: number) => n,
        { handlers: {} } as never,
      ),
    fromActor: () => fromActor(system, odd),
    toActor: () => toActor([1], ref as never, 'put' as never, odd),
    spawn: () => system.spawn(Actor, odd),
    'spawn supervise': () => system.spawn(Actor, { supervise: odd }),
    spawnPool: () => system.spawnPool(Actor, size),
    'spawnPool routing': () => system.spawnPool(Actor, { size: 1, routing: { pull: odd } }),
    'spawnPool mailbox': () => system.spawnPool(Actor, { size: 1, routing: { pull: {} }, mailbox: odd }),
    child: () => child(Actor, odd),
    pool: () => pool(Actor, size),
    supervisor: () => supervisor('x', odd, []),
    ask: () => system.ask(ref, odd).put(),
    with: () => ref.with(odd).ask.put(),
    gather: () => routed.gather(odd).put(),
    first: () => routed.first(odd).put(),
    stop: () => system.stop(ref, odd),
    drain: () => system.drain(ref, odd),
    shutdown: () => system.shutdown(odd),
    inspect: () => system.inspect(odd),
    tree: () => system.tree(odd),
  };
  const inHandler: Readonly<Record<string, (ctx: ActorContext) => unknown>> = {
    'ctx.spawn': (ctx) => ctx.spawn(Actor, odd),
    'ctx.spawnPool': (ctx) => ctx.spawnPool(Actor, size),
    'ctx.ask': (ctx) => ctx.ask(ref, odd).put(),
    'ctx.send': (ctx) => ctx.send(ref, odd).put(),
    'ctx.after': (ctx) => ctx.after(1, ref, odd),
    'ctx.every': (ctx) => ctx.every(1, ref, odd),
    'ctx.suspend': (ctx) => ctx.suspend('operator', { on: 'after', ms: 1, oddName: 1 } as never),
  };
  const accepted: string[] = [];
  const isRefused = async (call: () => unknown): Promise<boolean> => {
    try {
      await call();
      return false;
    } catch (error) {
      return error instanceof OptionError && /oddName|handlers/.test(error.option);
    }
  };
  for (const [name, call] of Object.entries(calls)) if (!(await isRefused(call))) accepted.push(name);
  const Caller = defineActor('caller', {
    handlers: {
      async call(ctx) {
        for (const [name, call] of Object.entries(inHandler))
          if (!(await isRefused(() => call(ctx as unknown as ActorContext)))) accepted.push(name);
      },
    },
  });
  await test.ask(system.spawn(Caller)).call();
  assert.equal(accepted, []);
});

options('middleware names of an actor are unique over all its lists', async () => {
  const one: Middleware = { name: 'one', beforeTurn: () => undefined };
  const other: Middleware = { name: 'one', afterTurn: () => undefined };
  await using test = createTestSystem({ middleware: [one] });
  const plain = defineActor('plain', { handlers });
  for (const spawn of [
    () => test.system.spawn(plain, { middleware: [one] }),
    () => test.system.spawn(plain, { middleware: [other] }),
    () => test.system.spawn(defineActor('own', { handlers, middleware: [one] })),
  ]) {
    assert.throws(
      spawn,
      (error: unknown) => error instanceof OptionError && error.option === 'middleware.name',
    );
  }
  assert.is(test.system.stats().actors, 1);
});

options.run();
