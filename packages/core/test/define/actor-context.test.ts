// The context of a handler: its members, and its end with the incarnation.
import { type ActorContext, defineActor, MisuseError, StaleContextError } from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deferred } from '../deferred.js';
import { cellOf } from '../internals.js';

const cell = suite('context');

const Other = defineActor('other', {
  handlers: { ping: () => 'pong', put: (_ctx, _n: number) => undefined },
});

/** Every method of a context, and the reaction of an ended one: it throws, rejects or makes a dead letter. */
const uses: Readonly<Record<string, (ctx: ActorContext, other: ReturnType<typeof spawnOther>) => unknown>> = {
  spawn: (ctx) => ctx.spawn(Other),
  stop: (ctx) => ctx.stop(),
  drain: (ctx) => ctx.drain(),
  kill: (ctx) => ctx.kill(),
  watch: (ctx, other) => ctx.watch(other),
  unwatch: (ctx, other) => ctx.unwatch(other),
  after: (ctx, other) => ctx.after(1, other),
  every: (ctx, other) => ctx.every(1, other),
  receiveTimeout: (ctx) => ctx.receiveTimeout(5),
  stash: (ctx) => ctx.stash(),
  unstash: (ctx) => ctx.unstash(),
  become: (ctx) => ctx.become('x'),
  suspend: (ctx) => ctx.suspend('operator', { on: 'after', ms: 1 }),
  lookup: (ctx) => ctx.lookup(Other, 'other'),
  watchName: (ctx) => ctx.watchName(Other, 'other', () => undefined),
  event: (ctx) => ctx.event('x'),
  state: (ctx) => ctx.state,
};

function spawnOther(test: ReturnType<typeof createTestSystem>) {
  return test.system.spawn(Other, { name: 'other' });
}

for (const how of ['restart', 'stop', 'kill'] as const) {
  cell(`a context that a ${how} has ended refuses every call and reports each refusal`, async () => {
    const host = new ManualHost();
    await using test = createTestSystem({ host });
    const other = spawnOther(test);
    let kept: ActorContext | undefined;
    const Stale = defineActor('stale', {
      handlers: {
        keep: (ctx) => {
          kept = ctx as unknown as ActorContext;
        },
        fail: (): never => {
          throw new Error('x');
        },
        ping: () => 'pong',
      },
      stashMax: 5,
    });
    const reports: string[] = [];
    const letters: string[] = [];
    test.system.subscribe((event) => {
      if (event.kind === 'stale-context') reports.push(event.what);
      if (event.kind === 'dead-letter') letters.push(event.letter.reason);
    });
    const ref = test.system.spawn(Stale, { name: 'stale' });
    await test.tell(ref).keep();
    const stale = kept as unknown as ActorContext;
    const keptTimerMethods = stale.after(10, other);
    if (how === 'restart') ref.tell.fail();
    else void test.system[how](ref);
    await test.settle();
    for (const [name, use] of Object.entries(uses)) {
      try {
        use(stale, other);
        assert.unreachable(name);
      } catch (error) {
        assert.instance(error, StaleContextError, name);
        assert.match((error as StaleContextError).message, '/stale');
      }
    }
    assert.throws(() => keptTimerMethods.put(1), /ended/, 'timer methods kept from an ended context');
    assert.equal(reports, [...Object.keys(uses), 'after']);
    stale.tell(other).put(1);
    assert.equal(letters, ['illegal']);
    const asked = stale
      .ask(other)
      .ping()
      .catch((error: { code: string }) => error.code);
    assert.is(await asked, 'ERR_STALE_CONTEXT');
    assert.is(stale.signal.aborted, true);
    await test.settle();
    assert.is(test.system.stats().timers, 0);
    if (how === 'restart') {
      assert.is(await test.ask(ref).ping(), 'pong');
    }
  });
}

cell('a continuation of the previous incarnation cannot change the state of the next one', async () => {
  const until = deferred();
  const outcomes: string[] = [];
  const Actor = defineActor('actor', {
    state: () => ({ n: 0 }),
    handlers: {
      async slow(ctx) {
        const { state } = ctx;
        await until.promise;
        state.n = 99;
        const uses = [() => ctx.stop(), () => ctx.state.n, () => (ctx.state = { n: 98 })];
        for (const use of uses) {
          try {
            use();
          } catch (error) {
            outcomes.push((error as StaleContextError).code);
          }
        }
      },
      get: (ctx) => ctx.state.n,
    },
  });
  const Parent = defineActor('parent', {
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
      child: (ctx) => ctx.children[0]?.path,
    },
    supervise: { strategy: 'one-for-all' },
    started(ctx) {
      ctx.spawn(Actor, { name: 'actor' });
      ctx.spawn(Bomb, { name: 'bomb' });
    },
  });
  const Bomb = defineActor('bomb', {
    handlers: {
      go: (): never => {
        throw new Error('bomb');
      },
    },
  });
  await using test = createTestSystem();
  test.system.spawn(Parent, { name: 'p' });
  await test.settle();
  const actor = test.system.lookup(Actor, 'p/actor');
  actor?.tell.slow();
  await test.settle();
  test.system.lookup(Bomb, 'p/bomb')?.tell.go();
  await test.settle();
  until.resolve();
  await test.settle();
  const n = actor?.ask.get();
  await test.settle();
  assert.is(await n, 0);
  assert.equal(outcomes, ['ERR_STALE_CONTEXT', 'ERR_STALE_CONTEXT', 'ERR_STALE_CONTEXT']);
});

cell('the hooks of an end still see the state, and the ended cell keeps its id and path', async () => {
  const seen: unknown[] = [];
  const Actor = defineActor('actor', {
    state: () => ({ n: 7 }),
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
    },
    restarting: async (ctx) => {
      await Promise.resolve();
      seen.push(ctx.state.n);
    },
    stopping: (ctx) => void seen.push(ctx.state.n),
    stopped: async (ctx) => {
      await Promise.resolve();
      seen.push(ctx.state.n);
    },
  });
  await using test = createTestSystem();
  const ref = test.system.spawn(Actor);
  const { id, path } = ref;
  await test.tell(ref).fail();
  await test.settle(test.system.stop(ref));
  assert.equal(seen, [7, 7, 7]);
  assert.equal([ref.id, ref.path], [id, path]);
});

cell('`lookup`, `event` and `phase` of a context are those of the system and the actor', async () => {
  const Machine = defineActor('machine', {
    handlers: {
      find: (ctx) => ctx.lookup(Other, 'other')?.path,
      wait: (ctx) => void ctx.suspend({ user: 'x' }, { on: 'event', key: 'go' }),
      phase: (ctx) => ctx.phase,
    },
    phases: { shut: { open: (ctx) => ctx.become('ajar') }, ajar: { close: (ctx) => ctx.become('shut') } },
  });
  const Caller = defineActor('caller', { handlers: { go: (ctx) => [ctx.event('go'), ctx.phase] } });
  await using test = createTestSystem();
  spawnOther(test);
  const machine = test.system.spawn(Machine);
  const caller = test.system.spawn(Caller);
  assert.is(await test.ask(machine).find(), '/other');
  assert.is(await test.ask(machine).phase(), 'shut');
  machine.tell.open();
  assert.is(await test.ask(machine).phase(), 'ajar');
  await test.tell(machine).wait();
  assert.equal(await test.ask(caller).go(), [1, undefined]);
});

cell('`watchName` of a context runs in turns of the actor and ends with its incarnation', async () => {
  const until = deferred();
  const Watcher = defineActor('watcher', {
    state: () => ({ seen: [] as string[], isAwaiting: false }),
    handlers: {
      async slow(ctx) {
        ctx.state.isAwaiting = true;
        await until.promise;
        ctx.state.isAwaiting = false;
      },
      seen: (ctx) => ctx.state.seen,
      fail: (): never => {
        throw new Error('x');
      },
      end: (_ctx, end: () => void) => end(),
    },
    started(ctx) {
      ends.push(
        ctx.watchName(Other, 'other', (ref) => {
          ctx.state.seen.push(`${ref?.path ?? 'none'}${ctx.state.isAwaiting ? ' while awaiting' : ''}`);
        }),
      );
    },
  });
  const ends: (() => void)[] = [];
  await using test = createTestSystem();
  const watcher = test.system.spawn(Watcher);
  await test.tell(watcher).slow();
  const other = spawnOther(test);
  await test.settle();
  until.resolve();
  assert.equal(await test.ask(watcher).seen(), ['none', '/other']);
  watcher.tell.fail();
  await test.settle(test.system.stop(other));
  spawnOther(test);
  assert.equal(await test.ask(watcher).seen(), ['none', '/other'], 'one watch of the new incarnation');
  ends[1]?.();
  void test.system.kill(test.system.lookup(Other, 'other') as typeof other);
  assert.equal(await test.ask(watcher).seen(), ['none', '/other'], 'no call after its end');
  assert.is(test.eventsOf('stale-context').length, 0);
});

cell('an error in a name watch is a failure of the actor that watches', async () => {
  const Watcher = defineActor('watcher', {
    handlers: {},
    started: (ctx) =>
      void ctx.watchName(Other, 'other', (ref) => {
        if (ref !== undefined && isBroken) throw new Error('no');
      }),
  });
  let isBroken = true;
  await using test = createTestSystem();
  test.system.spawn(Watcher);
  await test.settle();
  spawnOther(test);
  await test.step();
  isBroken = false;
  await test.settle();
  assert.equal(
    test.eventsOf('failed').map(({ message, directive }) => [message, directive]),
    [['watchName', 'restart']],
  );
});

cell('a context has self, parent, children, path, clock, random numbers and a log', async () => {
  const host = new ManualHost({ seed: 3 });
  await using test = createTestSystem({ host });
  const seen: unknown[] = [];
  const Child = defineActor('child', {
    handlers: { record: (ctx) => void seen.push([ctx.path, ctx.parent?.path, ctx.self.path]) },
  });
  const Parent = defineActor('parent', {
    handlers: {
      record(ctx) {
        const child = ctx.spawn(Child, { name: 'c' });
        child.tell.record();
        ctx.log.info('hello', { n: 1 });
        seen.push([ctx.path, ctx.parent, ctx.children.map((ref) => ref.path), ctx.now()]);
        const chance = ctx.random();
        assert.ok(chance >= 0 && chance < 1);
      },
    },
  });
  await test.advance(12);
  await test.tell(test.system.spawn(Parent, { name: 'p' })).record();
  assert.equal(seen, [
    ['/p', undefined, ['/p/c'], 12],
    ['/p/c', '/p', '/p/c'],
  ]);
  assert.equal(host.logged, [{ level: 'info', message: '/p: hello', fields: { path: '/p', n: 1 } }]);
});

cell('`self` of a definition refuses the context of another definition', async () => {
  await using test = createTestSystem();
  const errors: Error[] = [];
  test.system.subscribe((event) => {
    if (event.kind === 'failed') errors.push(event.error);
  });
  const Wrong = defineActor('wrong', {
    handlers: { go: (ctx) => void Other.self(ctx as unknown as ActorContext<undefined>) },
  });
  await test.tell(test.system.spawn(Wrong)).go();
  assert.instance(errors[0], MisuseError);
});

cell('a ref stays valid over restarts and keeps the path of its actor after the end', async () => {
  await using test = createTestSystem();
  const Actor = defineActor('actor', {
    handlers: {
      fail: (): never => {
        throw new Error('x');
      },
      ping: () => 'pong',
    },
  });
  const ref = test.system.spawn(Actor, { name: 'a' });
  const { id } = ref;
  ref.tell.fail();
  assert.is(await test.ask(ref).ping(), 'pong');
  assert.is(ref.id, id);
  await test.settle(test.system.stop(ref));
  assert.is(ref.id, id);
  assert.is(ref.path, '/a');
  assert.is(String(ref), 'ref(/a)');
});

cell('ending an actor that has already ended does not end the next actor in its slot', async () => {
  await using test = createTestSystem();
  const Actor = defineActor('actor', {
    handlers: {
      crash() {
        throw new Error('crash');
      },
    },
  });
  const ref = test.system.spawn(Actor);
  const former = cellOf(ref);
  await test.tell(ref).crash();
  const latter = cellOf(ref);
  await test.settle(test.system.kill(ref));
  for (const cell of [former, latter]) {
    cell.requestStop();
    cell.requestDrain();
    cell.requestKill();
    cell.release();
  }
  assert.is(test.system.stats().ready, 0);
});

cell.run();
