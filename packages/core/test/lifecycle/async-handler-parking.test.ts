// Asynchronous handlers run one at a time, with any thenable.
import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AWAITING } from '#src/mailbox/status-word.js';
import { deferred } from '../deferred.js';
import { cellOf, runtimeOf } from '../internals.js';

const awaiting = suite('awaiting');

awaiting('asynchronous handlers of one actor never overlap', async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  const Worker = defineActor('worker', {
    handlers: {
      async work(_ctx, n: number) {
        running += 1;
        most = Math.max(most, running);
        for (let i = 0; i < n % 4; i += 1) await Promise.resolve();
        running -= 1;
        done.push(n);
      },
    },
  });
  await using test = createTestSystem({ seed: 4 });
  const ref = test.system.spawn(Worker);
  for (let n = 0; n < 200; n += 1) ref.tell.work(n);
  await test.settle();
  assert.is(most, 1);
  assert.equal(
    done,
    Array.from({ length: 200 }, (_, n) => n),
  );
});

awaiting('a stop during an asynchronous handler begins at once and lets the handler finish', async () => {
  const until = deferred();
  const log: string[] = [];
  const Worker = defineActor('worker', {
    handlers: {
      async work(ctx) {
        ctx.signal.addEventListener('abort', () => log.push('abort'));
        await until.promise;
        log.push('finished');
        return 'done';
      },
      put: () => void log.push('put'),
    },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Worker);
  const work = ref.ask.work();
  ref.tell.put();
  await test.settle();
  const stopped = test.system.stop(ref);
  await test.settle();
  assert.equal(log, ['abort']);
  until.resolve();
  await test.settle();
  assert.is(await work, 'done');
  assert.is(await stopped, 'stopped');
  assert.equal(log, ['abort', 'finished']);
});

/** Thenables of many kinds. */
const THEN = 'then';

const thenables: Readonly<Record<string, () => unknown>> = {
  'calls back at once': () => ({ [THEN]: (ok: (v: number) => void) => ok(1) }),
  'calls back twice': () => ({
    [THEN]: (ok: (v: number) => void, bad: (e: unknown) => void) => {
      ok(1);
      ok(2);
      bad(new Error('second'));
    },
  }),
  'calls back and throws': () => ({
    [THEN]: (ok: (v: number) => void) => {
      ok(1);
      throw new Error('after');
    },
  }),
  'resolves later': () => ({ [THEN]: (ok: (v: number) => void) => void Promise.resolve().then(() => ok(1)) }),
};
const failing: Readonly<Record<string, () => unknown>> = {
  'throws when asked': () => ({
    [THEN]: () => {
      throw new Error('then');
    },
  }),
  'throws when looked at': () => ({
    get [THEN]() {
      throw new Error('get');
    },
  }),
  'rejects with nothing': () => ({ [THEN]: (_ok: unknown, bad: (e?: unknown) => void) => bad() }),
};

/** A thenable only at the first read of `then`. */
function thenableOnce(): unknown {
  let reads = 0;
  return {
    get [THEN]() {
      reads += 1;
      return reads === 1 ? (): void => undefined : 7;
    },
  };
}

/** Asks for every thenable above, each followed by a plain message. */
async function settleOnce(withHooks: boolean): Promise<void> {
  const Strange = defineActor('strange', {
    handlers: {
      get: (_ctx, make: () => unknown): unknown => make(),
      ping: () => 'pong',
    },
    supervise: {},
  });
  for (const directive of ['restart', 'resume'] as const) {
    const test = createTestSystem({
      supervise: { decide: () => directive, restarts: 1_000 },
      middleware: withHooks ? [{ name: 'noop', beforeMessage: () => undefined }] : [],
    });
    const ref = test.system.spawn(Strange);
    for (const [name, make] of Object.entries(thenables)) {
      const reply = ref.ask.get(make);
      const pong = ref.ask.ping();
      await test.settle();
      assert.is(await reply, 1, name);
      assert.is(await pong, 'pong', name);
    }
    for (const [name, make] of Object.entries(failing)) {
      const reply = ref.ask.get(make).catch((error: { code: string }) => error.code);
      const pong = ref.ask.ping();
      await test.settle();
      assert.is(await reply, 'ERR_ACTOR_FAILED', `${name} ${directive}`);
      assert.is(await pong, 'pong', `${name} ${directive}`);
      assert.is(cellOf(ref).status & AWAITING, 0, name);
    }
    const settled = ref.ask.get(thenableOnce).then(
      () => true,
      () => true,
    );
    const pong = ref.ask.ping();
    assert.equal(await test.settle(Promise.all([settled, pong])), [true, 'pong']);
    await test[Symbol.asyncDispose]();
  }
}

awaiting('any thenable settles once, on the fast path', () => settleOnce(false));
awaiting('any thenable settles once, with middleware', () => settleOnce(true));

awaiting('replies with throwing getters are passed on unchanged', async () => {
  const strange = new Proxy(
    {},
    {
      getPrototypeOf: () => {
        throw new Error('prototype');
      },
    },
  );
  const Actor = defineActor('actor', {
    handlers: { now: (): object => strange, later: async (): Promise<object> => strange },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const now = ref.ask.now();
  const later = ref.ask.later();
  await test.settle();
  assert.ok((await now) === strange);
  assert.ok((await later) === strange);
});

awaiting(
  'a handler that settles after a kill or restart of its actor has no effect and is reported',
  async () => {
    const reports: string[] = [];
    await using test = createTestSystem();
    test.system.subscribe((event) => {
      if (event.kind === 'stale-context') reports.push(event.what);
    });
    const until = deferred();
    const Worker = defineActor('worker', { handlers: { work: async () => until.promise } });
    const ref = test.system.spawn(Worker);
    const work = ref.ask.work().catch((error: { code: string }) => error.code);
    await test.settle();
    await test.settle(test.system.kill(ref));
    until.resolve();
    assert.is(await test.settle(work), 'ERR_UNDELIVERED');
    assert.equal(reports, ['work settled']);
    assert.is(runtimeOf(test.system).ready.depth, 0);
  },
);

awaiting('ten thousand awaiting actors are each resumed by their own promise', async () => {
  await using test = createTestSystem({ seed: 9 });
  const Worker = defineActor('worker', { handlers: { work: async (_ctx, until: Promise<number>) => until } });
  const pending = Array.from({ length: 10_000 }, () => deferred<number>());
  const replies = pending.map(({ promise }) => test.system.spawn(Worker).ask.work(promise));
  await test.settle();
  pending.forEach(({ resolve }, i) => {
    resolve(i);
  });
  assert.equal(
    await test.settle(Promise.all(replies)),
    Array.from({ length: 10_000 }, (_, i) => i),
  );
});

awaiting('the error of a handler whose actor was killed or restarted is logged', async () => {
  const limit = [{ name: 'limit', beforeMessage: () => ({ verdict: 'continue', withinMs: 10 }) as const }];
  await using test = createTestSystem({ middleware: limit });
  const Slow = defineActor('slow', {
    handlers: { hold: async (_ctx, until: Promise<void>) => until },
  });
  const lines = (): readonly string[] =>
    test.host.logged
      .filter(({ fields }) => (fields.error as Error | undefined)?.message === 'late')
      .map(({ message }) => message);
  const killed = test.system.spawn(Slow, { name: 'killed' });
  const first = deferred();
  await test.tell(killed).hold(first.promise);
  await test.settle(test.system.kill(killed));
  first.reject(new Error('late'));
  await test.settle();
  assert.is(lines().length, 1);
  assert.match(lines()[0] ?? '', '/killed');
  assert.match(lines()[0] ?? '', 'late');
  const timed = test.system.spawn(Slow, { name: 'timed' });
  const second = deferred();
  timed.tell.hold(second.promise);
  await test.advance(10);
  second.reject(new Error('late'));
  await test.settle();
  assert.is(lines().length, 2);
  assert.match(lines()[1] ?? '', '/timed');
});

awaiting(
  'the error of an abandoned handler is logged during the restart or kill too, for any thenable',
  async () => {
    const limit = [{ name: 'limit', beforeMessage: () => ({ verdict: 'continue', withinMs: 10 }) as const }];
    const steps = deferred();
    const Child = defineActor('child', { handlers: {}, stopped: () => steps.promise });
    const Slow = defineActor('slow', {
      handlers: {
        hold: async (_ctx, until: Promise<void>) => until,
        query: (_ctx, until: Promise<void>) => ({ [THEN]: until.then.bind(until) }) as unknown,
        raise(ctx) {
          ctx.spawn(Child);
        },
        crash() {
          throw new Error('crash');
        },
      },
      restarting: () => steps.promise,
    });
    const supervise = { strategy: 'one-for-all' } as const;
    await using test = createTestSystem({ supervise });
    const lines = (): number =>
      test.host.logged.filter(({ fields }) => (fields.error as Error | undefined)?.message === 'late').length;
    const other = test.system.spawn(Slow);
    const killed = test.system.spawn(Slow);
    const restarted = test.system.spawn(Slow);
    const gates = [deferred(), deferred()] as const;
    restarted.tell.hold(gates[0].promise);
    killed.tell.raise();
    killed.tell.hold(gates[1].promise);
    await test.settle();
    void test.system.kill(killed);
    await test.tell(other).crash();
    gates[0].reject(new Error('late'));
    await test.settle();
    assert.is(lines(), 1, 'restarting');
    gates[1].reject(new Error('late'));
    await test.settle();
    assert.is(lines(), 2, 'killed');
    steps.resolve();
    await test.settle();
    const timed = test.system.spawn(Slow, { middleware: limit });
    const third = deferred();
    timed.tell.query(third.promise);
    await test.advance(10);
    third.reject(new Error('late'));
    await test.settle();
    assert.is(lines(), 3, 'a thenable past its time limit');
  },
);

awaiting.run();
