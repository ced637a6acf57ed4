import {
  type ActorContext,
  createSystem,
  defineActor,
  type Middleware,
  ThrownValueError,
  TroupeError,
} from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { boundedError, messageOf } from '#src/errors/bounded-error.js';
import { describe } from '#src/errors/describe-value.js';
import { toError } from '#src/errors/thrown-value.js';

const errors = suite('errors');

const trapped: ProxyHandler<object> = Object.fromEntries(
  ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor', 'set', 'apply'].map((trap) => [
    trap,
    () => {
      throw new Error(`trap ${trap}`);
    },
  ]),
);

/** Values that user code may throw, some with throwing getters. */
const hostile: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'a symbol': () => Symbol('s'),
  'a bigint': () => 10n ** 5_000n,
  'a function': () => () => 1,
  'an object without a prototype': () => Object.create(null),
  'a proxy whose traps throw': () => new Proxy({}, trapped),
  'a proxy of an error whose traps throw': () => new Proxy(new Error('x'), trapped),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable(new Error('x'), {});
    revoke();
    return proxy;
  },
  'an error whose message throws': () =>
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('no message for you');
      },
    }),
  'an error whose message throws the second time': () => {
    let reads = 0;
    return Object.defineProperty(new Error('x'), 'message', {
      get() {
        reads += 1;
        if (reads > 1) throw new Error('only once');
        return 'once';
      },
    });
  },
  'an error whose message is a symbol': () => Object.assign(new Error('x'), { message: Symbol('m') }),
  '100 MB of text': () => 'x'.repeat(100 * 2 ** 20),
  'an error with 100 MB of text': () => new Error('x'.repeat(100 * 2 ** 20)),
  'a rejected promise': () => {
    const rejected = Promise.reject(new Error('inner'));
    rejected.catch(() => undefined);
    return rejected;
  },
};

errors('any thrown value becomes an Error with a short text', () => {
  for (const [name, make] of Object.entries(hostile)) {
    const error = toError(make());
    assert.instance(error, Error, name);
    assert.ok(messageOf(error).length <= 10_001, name);
    assert.ok(describe(make()).length <= 300, name);
  }
});

errors('an Error stays as it is, any other value becomes a ThrownValueError that describes it', () => {
  const error = new RangeError('r');
  assert.is(toError(error), error);
  const thrown = toError({ a: 1, b: 2 }) as ThrownValueError;
  assert.instance(thrown, ThrownValueError);
  assert.is(thrown.code, 'ERR_THROWN_VALUE');
  assert.is(thrown.thrown, 'an object with a, b');
  assert.is((toError('why') as ThrownValueError).thrown, '"why"');
});

errors(
  'any value that a handler throws causes a restart and a rejected ask, and the executor continues',
  async () => {
    const Thrower = defineActor('thrower', {
      handlers: {
        now: (_ctx, name: string): number => {
          throw hostile[name]?.();
        },
        later: async (_ctx, name: string): Promise<number> => {
          await Promise.resolve();
          throw hostile[name]?.();
        },
        ping: () => 'pong',
      },
    });
    const host = new ManualHost();
    await using test = createTestSystem({ host, supervise: { restarts: 1_000 } });
    const ref = test.system.spawn(Thrower);
    for (const name of Object.keys(hostile)) {
      for (const message of ['now', 'later'] as const) {
        const code = ref.ask[message](name).catch((error: TroupeError) => error.code);
        const pong = ref.ask.ping();
        await test.settle();
        assert.is(await code, 'ERR_ACTOR_FAILED', `${name} ${message}`);
        assert.is(await pong, 'pong', `${name} ${message}`);
      }
    }
    assert.ok(host.logged.every((line) => line.message.length < 11_000));
  },
);

errors('an error of an event listener reaches neither the runtime nor other listeners', async () => {
  const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });
  await using test = createTestSystem();
  for (const make of Object.values(hostile)) {
    test.system.subscribe(() => {
      throw make();
    });
  }
  let received = 0;
  test.system.subscribe(() => {
    received += 1;
  });
  assert.is(await test.ask(test.system.spawn(Actor)).ping(), 'pong');
  assert.is(received, 1);
});

errors('a log function that throws stops no actor', async () => {
  const host = new ManualHost();
  host.log = () => {
    throw new Error('disk full');
  };
  const Actor = defineActor('actor', {
    handlers: {
      bad: (): never => {
        throw new Error('x');
      },
      ping: () => 'pong',
    },
  });
  await using test = createTestSystem({ host });
  const ref = test.system.spawn(Actor);
  ref.tell.bad();
  assert.is(await test.ask(ref).ping(), 'pong');
  assert.is(test.system.stats().logsLost, 1);
});

const huge = 'x'.repeat(2 ** 20);
const HUGE: Readonly<Record<string, () => Error>> = {
  'a text': () => new RangeError(huge),
  'a stack': () => Object.assign(new RangeError('small'), { stack: huge }),
  'a name': () => Object.assign(new RangeError('small'), { name: huge, message: huge }),
  'a code': () => Object.assign(new RangeError(huge), { code: huge }),
  'a cause': () => new RangeError('small', { cause: new Error('middle', { cause: new Error(huge) }) }),
  'a chain of causes': () => {
    let error = new RangeError('innermost');
    for (let i = 0; i < 10_000; i += 1) error = new RangeError('outer', { cause: error });
    return error;
  },
};

function lengthOf(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  const { code = '' } = error as { code?: string };
  return (
    error.name.length +
    error.message.length +
    (error.stack ?? '').length +
    code.length +
    lengthOf(error.cause)
  );
}

errors('an error that leaves the runtime is bounded in size', async () => {
  for (const [name, make] of Object.entries(HUGE)) {
    const bounded = boundedError(make());
    assert.ok(lengthOf(bounded) < 300_000, `${name}: ${lengthOf(bounded)}`);
    assert.instance(bounded, Error, name);
    assert.match(bounded.name, /^(RangeError|x+…)$/, name);
  }
  const Thrower = defineActor('thrower', {
    handlers: {
      bad: (_ctx, name: string): never => {
        throw HUGE[name]?.();
      },
    },
  });
  for (const name of Object.keys(HUGE)) {
    const host = new ManualHost();
    const test = createTestSystem({ host, supervise: { restarts: 0 } });
    const received: unknown[] = [];
    test.system.subscribe((event) => {
      if (event.kind === 'failed') received.push(event.error);
      if (event.kind === 'system-stopping') received.push(event.cause);
    });
    await test.tell(test.system.spawn(Thrower)).bad(name);
    received.push((await test.system.whenStopped).cause, ...host.logged.map(({ fields }) => fields.error));
    assert.is(received.length, 5, name);
    assert.ok(received.every((error) => error instanceof Error && lengthOf(error) < 300_000));
  }
});

errors('an error of ordinary size leaves the runtime unchanged', () => {
  const error = new RangeError('r', { cause: new Error('why') });
  assert.is(boundedError(error), error);
});

errors('an error with throwing getters leaves the runtime as a readable one', () => {
  for (const [name, make] of Object.entries(hostile)) {
    const error = boundedError(toError(make()));
    for (let i = 0; i < 3; i += 1) {
      assert.type(error.message, 'string', name);
      assert.ok(`${error.name}${error.message}${error.stack}`.length < 40_000, name);
    }
  }
});

errors('a cycle of causes is cut', () => {
  const error = new Error('a');
  error.cause = new Error('b', { cause: error });
  assert.instance(boundedError(error), Error);
});

errors('every error has its own name, a stable code and its values', async () => {
  const system = createSystem({ name: 's' });
  await system.shutdown();
  const Actor = defineActor('actor', { handlers: {} });
  try {
    system.spawn(Actor);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, TroupeError);
    assert.is((error as TroupeError).code, 'ERR_SYSTEM_STOPPED');
    assert.is((error as TroupeError).name, 'SystemStoppedError');
    assert.match((error as TroupeError).message, 'system s');
  }
});

errors('every error of the message path occurs in a test and has its fields', async () => {
  const caught = new Map<string, TroupeError>();
  const note = (error: unknown): void => {
    for (let next = error; next instanceof Error; next = next.cause) {
      if (next instanceof TroupeError) caught.set(next.code, next);
    }
  };
  const attempt = (act: () => unknown): void => {
    try {
      act();
    } catch (error) {
      note(error);
    }
  };
  const test = createTestSystem({ supervise: { restarts: 100 } });
  test.system.subscribe((event) => {
    if (event.kind === 'failed') note(event.error);
  });
  const slow: Middleware = { name: 'slow', beforeMessage: () => ({ verdict: 'continue', withinMs: 5 }) };
  const bad: Middleware = {
    name: 'bad',
    beforeMessage: () => {
      throw new Error('hook');
    },
  };
  let kept: ActorContext | undefined;
  const Actor = defineActor('actor', {
    handlers: {
      hang: () => new Promise<number>(() => undefined),
      text: (): number => {
        throw 'text';
      },
      own: async (ctx): Promise<unknown> => ctx.ask(Actor.self(ctx)).hang(),
      keep: (ctx) => {
        kept = ctx as unknown as ActorContext;
      },
      watch: (ctx) => ctx.watch(ctx.self),
      bear: (ctx) => void ctx.spawn(Actor, { name: 'child' }).tell.text(),
    },
    supervise: { decide: () => 'escalate' },
  });
  const Other = defineActor('other', { handlers: {} });
  const ref = test.system.spawn(Actor, { name: 'a' });
  attempt(() => test.system.spawn(Actor, { name: 'a' }));
  attempt(() => test.system.spawn(Actor, { name: '/' }));
  attempt(() => test.system.lookup(Other, 'a'));
  for (const asked of [ref.ask.text(), ref.ask.own()]) asked.catch(note);
  ref.tell.watch();
  ref.tell.keep();
  ref.tell.bear();
  await test.settle();
  attempt(() => kept?.stop());
  test.system.ask(ref, { withinMs: 7 }).hang().catch(note);
  test.system
    .spawn(Actor, { middleware: [slow] })
    .ask.hang()
    .catch(note);
  test.system
    .spawn(Actor, { middleware: [bad] })
    .ask.hang()
    .catch(note);
  await test.advance(10);
  void test.system.kill(ref);
  ref.ask.hang().catch(note);
  await test[Symbol.asyncDispose]();
  attempt(() => test.system.spawn(Other));
  const values = Object.fromEntries(
    [...caught].map(([code, { message, ...rest }]) => [code, Object.keys(rest).sort().join(' ')]),
  );
  assert.equal(values, {
    ERR_NAME_TAKEN: 'code path',
    ERR_OPTION: 'code option value',
    ERR_LOOKUP: 'code path',
    ERR_ACTOR_FAILED: 'code target',
    ERR_THROWN_VALUE: 'code thrown',
    ERR_ASK_CYCLE: 'code cycle',
    ERR_MISUSE: 'code',
    ERR_ESCALATED: 'child code',
    ERR_STALE_CONTEXT: 'code path',
    ERR_ASK_TIMEOUT: 'code question target targetState waitedMs',
    ERR_HANDLER_TIMEOUT: 'code path',
    ERR_MIDDLEWARE: 'code middleware',
    ERR_UNDELIVERED: 'code reason target',
    ERR_SYSTEM_STOPPED: 'code',
  });
  for (const code of ['ERR_ACTOR_FAILED', 'ERR_ESCALATED', 'ERR_MIDDLEWARE']) {
    assert.instance(caught.get(code)?.cause, Error, code);
  }
});

errors.run();
