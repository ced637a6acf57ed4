// Starts, failures, restarts and stops with hooks that throw or hang all end in a defined state.
import { type AnyRef, defineActor, MisuseError, type StopReason } from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FAULT } from '#src/mailbox/status-word.js';
import { deferred } from '../deferred.js';
import { cellOf, runtimeOf } from '../internals.js';

const lifecycle = suite('lifecycle');

function kindsOf(test: TestSystem): string[] {
  const events: string[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') events.push(`failed ${event.message} ${event.directive}`);
    else if (event.kind === 'stopped') events.push(`stopped ${event.path} ${event.reason}`);
    else if (event.kind === 'restarted') events.push(`restarted ${event.restarts}`);
  });
  return events;
}

/** Whether a promise has resolved, without waiting for it. */
function track<T>(promise: Promise<T>): { value: T | undefined } {
  const box: { value: T | undefined } = { value: undefined };
  void promise.then((value) => {
    box.value = value;
  });
  return box;
}

lifecycle('a stop runs `stopping`, stops children in reverse start order, then runs `stopped`', async () => {
  const log: string[] = [];
  const Child = defineActor('child', {
    state: (args: { name: string }) => args,
    handlers: {},
    stopped: (ctx) => void log.push(`stopped ${ctx.state.name}`),
  });
  const Parent = defineActor('parent', {
    handlers: { note: () => void log.push('message') },
    started(ctx) {
      log.push('started');
      for (const name of ['first', 'second', 'third']) ctx.spawn(Child, { args: { name } });
    },
    stopping: () => void log.push('stopping'),
    stopped: () => void log.push('stopped parent'),
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Parent);
  await test.tell(ref).note();
  assert.equal(log, ['started', 'message']);
  const stopped = test.system.stop(ref);
  assert.is(await test.settle(stopped), 'stopped');
  assert.equal(log.slice(2), [
    'stopping',
    'stopped third',
    'stopped second',
    'stopped first',
    'stopped parent',
  ]);
});

lifecycle('messages wait for asynchronous hooks', async () => {
  const start = deferred();
  const log: string[] = [];
  const Slow = defineActor('slow', {
    handlers: { put: (_ctx, n: number) => void log.push(`put ${n}`) },
    started: async () => {
      await start.promise;
      log.push('started');
    },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Slow);
  await test.tell(ref).put(1);
  assert.equal(log, []);
  start.resolve();
  await test.settle();
  assert.equal(log, ['started', 'put 1']);
});

lifecycle(
  'an error in the state function is a failure: restarted, then given up, and the name is free again',
  async () => {
    let broken = 2;
    const Failing = defineActor('failing', {
      state: () => {
        broken -= 1;
        if (broken >= 0) throw new Error('no state');
        return { ok: true };
      },
      handlers: { ok: (ctx) => ctx.state.ok },
      started: () => undefined,
    });
    await using test = createTestSystem();
    const events = kindsOf(test);
    const ref = test.system.spawn(Failing, { name: 'f' });
    const ok = ref.ask.ok();
    assert.is(await test.settle(ok), true);
    assert.equal(events.slice(0, 3), ['failed state restart', 'restarted 1', 'failed state restart']);
    broken = 1_000;
    const Parent = defineActor('parent', {
      handlers: { children: (ctx) => ctx.children.length },
      started: (ctx) => void ctx.spawn(Failing, { name: 'f' }),
      supervise: { decide: () => 'stop' },
    });
    const parent = test.system.spawn(Parent, { name: 'p' });
    await test.settle();
    const children = parent.ask.children();
    assert.is(await test.settle(children), 0);
    assert.is(test.system.lookup(Failing, 'p/f'), undefined);
  },
);

for (const hook of ['started', 'stopping', 'stopped', 'restarting'] as const) {
  for (const how of ['throws', 'rejects', 'throws a non-error'] as const) {
    lifecycle(`a ${hook} hook that ${how} ends in a defined state`, async () => {
      let armed = true;
      const fail = (): Promise<void> | undefined => {
        if (!armed) return undefined;
        armed = false;
        if (how === 'rejects') return Promise.reject(new Error(hook));
        throw how === 'throws' ? new Error(hook) : hook;
      };
      const Bad = defineActor('bad', {
        handlers: {
          ping: () => 'pong',
          fail: (): never => {
            throw new Error('x');
          },
        },
        [hook]: fail,
      });
      const Watcher = defineActor('watcher', {
        state: () => ({ notices: [] as StopReason[] }),
        handlers: { watch: (ctx, ref: AnyRef) => ctx.watch(ref), notices: (ctx) => [...ctx.state.notices] },
        terminated: (ctx, { reason }) => void ctx.state.notices.push(reason),
      });
      await using test = createTestSystem();
      const ref = test.system.spawn(Bad, { name: 'bad' });
      const watcher = test.system.spawn(Watcher);
      watcher.tell.watch(ref);
      if (hook === 'restarting') ref.tell.fail();
      assert.is(await test.ask(ref).ping(), 'pong');
      assert.is(await test.settle(test.system.stop(ref)), 'stopped');
      const notices = watcher.ask.notices();
      assert.equal(await test.settle(notices), ['stopped']);
      assert.is(test.system.lookup(Bad, 'bad'), undefined);
      assert.is(armed, false);
    });
  }
}

lifecycle('a stop that hangs is ended by the time limit of the definition or of the call', async () => {
  const Hanging = defineActor('hanging', {
    handlers: { hang: () => new Promise<void>(() => undefined) },
    stopWithinMs: 1_000,
  });
  await using test = createTestSystem();
  for (const [given, limit] of [
    [undefined, 1_000],
    [50, 50],
    [4_000, 4_000],
  ] as const) {
    const ref = test.system.spawn(Hanging);
    await test.tell(ref).hang();
    const ended = track(test.system.stop(ref, given === undefined ? {} : { withinMs: given }));
    await test.advance(limit - 1);
    assert.is(ended.value, undefined, `${given}`);
    await test.advance(1);
    assert.is(ended.value, 'killed', `${given}`);
  }
});

lifecycle('a drain handles the backlog, and messages sent meanwhile become dead letters', async () => {
  const seen: number[] = [];
  const letters: string[] = [];
  const Sink = defineActor('sink', { handlers: { put: (_ctx, n: number) => void seen.push(n) } });
  await using test = createTestSystem();
  test.system.subscribe((event) => {
    if (event.kind === 'dead-letter') letters.push(event.letter.reason);
  });
  const ref = test.system.spawn(Sink);
  for (let n = 0; n < 500; n += 1) ref.tell.put(n);
  const ended = track(test.system.drain(ref));
  await test.tell(ref).put(-1);
  assert.is(ended.value, 'drained');
  assert.is(seen.length, 500);
  assert.equal(letters, ['draining']);
});

lifecycle('a stop after a drain does not wait for the backlog', async () => {
  const Sink = defineActor('sink', { handlers: { put: () => undefined } });
  await using test = createTestSystem();
  const ref = test.system.spawn(Sink);
  test.system.suspend(ref);
  ref.tell.put();
  const drained = track(test.system.drain(ref));
  await test.settle();
  assert.is(drained.value, undefined);
  const stopped = track(test.system.stop(ref));
  await test.settle();
  assert.equal([drained.value, stopped.value], ['stopped', 'stopped']);
  assert.is(test.system.stats().deadLetters, 1);
});

lifecycle('a drain continues after a failure: the restarted actor finishes the backlog', async () => {
  const seen: number[] = [];
  const Sink = defineActor('sink', {
    handlers: {
      put(_ctx, n: number) {
        if (n % 2 === 0) throw new Error('even');
        seen.push(n);
      },
    },
  });
  await using test = createTestSystem({ supervise: { restarts: 100 } });
  const ref = test.system.spawn(Sink);
  for (let n = 0; n < 10; n += 1) ref.tell.put(n);
  const ended = track(test.system.drain(ref));
  await test.settle();
  assert.is(ended.value, 'drained');
  assert.equal(seen, [1, 3, 5, 7, 9]);
});

lifecycle('a drain between a failure and the restart does not lose the restart', async () => {
  const seen: number[] = [];
  const Sink = defineActor('sink', {
    handlers: {
      put(_ctx, n: number) {
        if (n === 0) throw new Error('zero');
        seen.push(n);
      },
    },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Sink);
  ref.tell.put(0);
  ref.tell.put(1);
  test.step();
  assert.is.not(cellOf(ref).status & FAULT, 0);
  test.step();
  const ended = track(test.system.drain(ref));
  await test.settle();
  assert.is(ended.value, 'drained');
  assert.equal(seen, [1]);
});

lifecycle('a stop while a restart waits for its hook ends the actor', async () => {
  const hook = deferred();
  const Slow = defineActor('slow', {
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
    },
    restarting: async () => hook.promise,
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Slow);
  await test.tell(ref).fail();
  const ended = track(test.system.stop(ref));
  await test.settle();
  hook.resolve();
  await test.settle();
  assert.is(ended.value, 'stopped');
  assert.is(test.system.stats().actors, 1);
});

lifecycle('a kill waits neither for a handler nor for hooks, not even those of children', async () => {
  const forever = (): Promise<void> => new Promise(() => undefined);
  const Hanging = defineActor('hanging', {
    handlers: { hang: forever, ping: () => 'pong' },
    stopping: forever,
    stopped: forever,
    started(ctx) {
      if (ctx.parent === undefined) for (let i = 0; i < 3; i += 1) ctx.spawn(Hanging).tell.hang();
    },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Hanging);
  await test.settle();
  const hung = ref.ask.hang().catch((error: { code: string }) => error.code);
  const queued = ref.ask.ping().catch((error: { code: string }) => error.code);
  await test.settle();
  const ended = track(test.system.kill(ref));
  await test.settle();
  assert.is(ended.value, 'killed');
  assert.equal(await Promise.all([hung, queued]), ['ERR_UNDELIVERED', 'ERR_UNDELIVERED']);
  assert.is(test.system.stats().actors, 1);
});

lifecycle('`ctx.signal` fires on stop, kill and restart, with or without a running handler', async () => {
  for (const how of ['stop', 'kill', 'restart'] as const) {
    const test = createTestSystem();
    let signal: AbortSignal | undefined;
    const Holder = defineActor('holder', {
      handlers: {
        hold: (ctx) => {
          signal = ctx.signal;
        },
        fail: (): never => {
          throw new Error('x');
        },
      },
    });
    const ref = test.system.spawn(Holder);
    await test.tell(ref).hold();
    assert.is(signal?.aborted, false, how);
    if (how === 'restart') ref.tell.fail();
    else void test.system[how](ref);
    await test.settle();
    assert.is(signal?.aborted, true, how);
    await test[Symbol.asyncDispose]();
  }
});

lifecycle(
  'a failed message counts as handled, and the next incarnation handles the rest with a new state',
  async () => {
    const seen: string[] = [];
    const Actor = defineActor('actor', {
      state: () => ({ n: 0 }),
      handlers: {
        put(ctx, n: number) {
          ctx.state.n += 1;
          if (n === 1) throw new Error('one');
          seen.push(`${n} as number ${ctx.state.n}`);
        },
      },
    });
    await using test = createTestSystem();
    const ref = test.system.spawn(Actor);
    for (const n of [0, 1, 2, 3]) ref.tell.put(n);
    await test.settle();
    assert.equal(seen, ['0 as number 1', '2 as number 1', '3 as number 2']);
    assert.is(test.system.stats().handled, 4);
  },
);

lifecycle('a failed actor handles no message before its parent has decided', async () => {
  const decision = deferred();
  let ran = 0;
  const Child = defineActor('child', {
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
      put: () => {
        ran += 1;
      },
    },
  });
  const Parent = defineActor('parent', {
    handlers: { wait: async () => decision.promise },
    started: (ctx) => void ctx.spawn(Child, { name: 'child' }),
    supervise: { backoff: { fromMs: 100, toMs: 100 } },
  });
  await using test = createTestSystem();
  test.system.spawn(Parent, { name: 'parent' });
  await test.settle();
  const child = test.system.lookup(Child, 'parent/child');
  child?.tell.fail();
  child?.tell.put();
  await test.advance(50);
  assert.is(ran, 0);
  await test.advance(50);
  assert.is(ran, 1);
  decision.resolve();
});

lifecycle(
  'a shutdown under load is bounded in time, and every message is handled or a dead letter',
  async () => {
    const Sink = defineActor('sink', { handlers: { put: (_ctx, _n: number) => undefined } });
    const SelfSender = defineActor('self-sender', {
      handlers: { go: (ctx): void => SelfSender.self(ctx).tell.go() },
    });
    const test = createTestSystem();
    const sinks = Array.from({ length: 50 }, () => test.system.spawn(Sink));
    for (const sink of sinks) for (let n = 0; n < 200; n += 1) sink.tell.put(n);
    test.system.spawn(SelfSender).tell.go();
    const startedAt = test.host.now();
    await test[Symbol.asyncDispose]();
    const report = await test.system.whenStopped;
    assert.ok(test.host.now() - startedAt <= 6_000);
    assert.ok(report.handled + report.deadLetters >= 10_001);
    assert.is(test.system.stats().queued, 0);
  },
);

lifecycle('an actor can end only itself and its children', async () => {
  const errors: unknown[] = [];
  const Other = defineActor('other', { handlers: {} });
  await using test = createTestSystem();
  const other = test.system.spawn(Other);
  const StopsOthers = defineActor('stops-others', {
    handlers: {
      meddle(ctx) {
        for (const verb of ['stop', 'drain', 'kill'] as const) {
          try {
            ctx[verb](other);
          } catch (error) {
            errors.push(error);
          }
        }
      },
    },
  });
  await test.tell(test.system.spawn(StopsOthers)).meddle();
  assert.is(errors.length, 3);
  assert.ok(errors.every((error) => error instanceof MisuseError));
  assert.is(runtimeOf(test.system).ready.slots.live, 3);
});

lifecycle('a suspension of a stopped actor has no effect', async () => {
  const Actor = defineActor('actor', { handlers: {} });
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  await test.settle(test.system.stop(ref));
  const token = test.system.suspend(ref);
  assert.is(token.active, false);
  token.resume();
  assert.is(await test.system.stop(ref), 'stopped');
});

lifecycle('an actor cannot spawn between the end of its children and its next incarnation', async () => {
  await using test = createTestSystem();
  const Child = defineActor('child', { handlers: {} });
  const errors: unknown[] = [];
  const Parent = defineActor('parent', {
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
    },
    restarting(ctx) {
      try {
        ctx.spawn(Child);
      } catch (error) {
        errors.push(error);
      }
    },
    started: (ctx) => void ctx.spawn(Child),
  });
  const parent = test.system.spawn(Parent);
  await test.settle();
  for (let i = 0; i < 3; i += 1) {
    await test.tell(parent).fail();
  }
  assert.is(test.system.inspect({ under: parent }).children.length, 1);
  assert.is(errors.length, 3);
  assert.ok(errors.every((error) => error instanceof MisuseError));
});

lifecycle.run();
