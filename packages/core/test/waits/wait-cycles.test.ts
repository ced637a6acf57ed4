import { type ActorRef, AskCycleError, defineActor, type Ref, SendCycleError } from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const cycles = suite('wait cycles');

/** The steps of a handler, by the names of the actors that they concern. */
type Step =
  | { readonly tell: string; readonly steps?: readonly Step[]; readonly times?: number }
  | { readonly ask: string; readonly steps?: readonly Step[]; readonly isAwaited?: boolean }
  | { readonly send: string; readonly steps?: readonly Step[] }
  | { readonly suspendUntilRoomAt: string }
  | { readonly elapse: number }
  | { readonly stashFor: number };

/** Actors of capacity 1 that do what their messages say, and note the errors of their waits. */
class ScriptedActors {
  readonly errors: Error[] = [];
  private readonly stashed = new Set<Step>();
  private readonly test: TestSystem;
  private readonly refs = new Map<string, ActorRef<ReturnType<ScriptedActors['define']>>>();

  constructor(test: TestSystem, names: string) {
    this.test = test;
    const Scripted = this.define();
    for (const name of names) this.refs.set(name, test.system.spawn(Scripted, { name }));
  }

  ref(name: string): ActorRef<ReturnType<ScriptedActors['define']>> {
    const ref = this.refs.get(name);
    if (ref === undefined) throw new Error(`no actor ${name}`);
    return ref;
  }

  private define() {
    const actors = this;
    return defineActor('scripted', {
      handlers: {
        async run(ctx, steps: readonly Step[]): Promise<string> {
          const [first] = steps;
          if (first !== undefined && 'stashFor' in first && actors.stashes(first)) {
            ctx.stash();
            ctx.after(first.stashFor, actors.ref(ctx.path.slice(1))).unstash();
            return 'stashed';
          }
          for (const step of steps) {
            if ('stashFor' in step) continue;
            if ('elapse' in step)
              await new Promise<void>((done) => void actors.test.host.setTimer(step.elapse, done));
            else if ('suspendUntilRoomAt' in step)
              ctx.suspend('backpressure', { on: 'capacity', of: actors.ref(step.suspendUntilRoomAt) });
            else if ('tell' in step)
              for (let i = 0; i < (step.times ?? 1); i += 1)
                ctx.tell(actors.ref(step.tell)).run(step.steps ?? []);
            else if ('ask' in step) {
              const reply = actors.note(ctx.ask(actors.ref(step.ask)).run(step.steps ?? []));
              if (step.isAwaited !== false) await reply;
            } else await actors.note(ctx.send(actors.ref(step.send)).run(step.steps ?? []));
          }
          return 'done';
        },
        unstash: (ctx) => ctx.unstash(),
      },
      mailbox: { capacity: 1 },
      stashMax: 10,
    });
  }

  /** Each such step stashes its message once. */
  private stashes(step: Step): boolean {
    const isFirst = !this.stashed.has(step);
    this.stashed.add(step);
    return isFirst;
  }

  private note(wait: Promise<unknown>): Promise<void> {
    return wait.then(
      () => undefined,
      (error: Error) => void this.errors.push(error),
    );
  }
}

/** Everything that has begun ends well before a deadline or a release by time. */
async function settleAll(test: TestSystem): Promise<void> {
  await test.advance(1_000);
  assert.not.match(test.system.tree(), /waiting|suspended|running/);
  assert.is(test.system.stats().queued, 0);
}

cycles(
  'an actor that asks itself after an await is refused, also where code outside actors has asked it',
  async () => {
    await using test = createTestSystem();
    const actors = new ScriptedActors(test, 'a');
    const reply = actors.ref('a').ask.run([{ elapse: 1 }, { ask: 'a' }]);
    await settleAll(test);
    assert.is(await reply, 'done');
    assert.instance(actors.errors[0], AskCycleError);
    assert.equal((actors.errors[0] as AskCycleError).cycle, ['/a', '/a']);
  },
);

cycles('an ask that was answered is no part of a cycle', async () => {
  await using test = createTestSystem();
  const actors = new ScriptedActors(test, 'abc');
  // a asks b and has its answer; b has asked c without waiting, and c asks a, which waits for a timer only.
  actors.ref('c').tell.run([{ elapse: 10 }]);
  actors
    .ref('a')
    .tell.run([
      { ask: 'b', steps: [{ ask: 'c', isAwaited: false, steps: [{ ask: 'a' }] }] },
      { elapse: 100 },
    ]);
  await settleAll(test);
  assert.equal(actors.errors, []);
});

cycles(
  'two actors that send to each other: the send that closes the cycle is refused with its path',
  async () => {
    await using test = createTestSystem();
    const actors = new ScriptedActors(test, 'ab');
    for (const [one, other] of ['ab', 'ba']) {
      actors.ref(one as string).tell.run([{ elapse: 1 }, { send: other as string }]);
      for (let i = 0; i < 2; i += 1) actors.ref(one as string).tell.run([]);
    }
    await settleAll(test);
    assert.is(actors.errors.length, 1, 'one send is refused, the other has room after it');
    assert.instance(actors.errors[0], SendCycleError);
    const { cycle } = actors.errors[0] as SendCycleError;
    assert.equal([...new Set(cycle)].sort(), ['/a', '/b']);
    assert.is(cycle[0], cycle.at(-1));
  },
);

cycles('an actor that sends to itself and is full is refused with its path', async () => {
  await using test = createTestSystem();
  const actors = new ScriptedActors(test, 'a');
  actors.ref('a').tell.run([{ send: 'a' }]);
  actors.ref('a').tell.run([]);
  await settleAll(test);
  assert.instance(actors.errors[0], SendCycleError);
  assert.equal([...new Set((actors.errors[0] as SendCycleError).cycle)], ['/a']);
});

cycles(
  'A waits for room in B, B is muted by C, C has asked A: the mute ends, and nothing is refused',
  async () => {
    await using test = createTestSystem();
    const actors = new ScriptedActors(test, 'abc');
    // c awaits a, which begins to send only later; b has sent to c beyond its capacity.
    actors.ref('c').tell.run([{ ask: 'a', steps: [{ elapse: 10 }, { send: 'b' }] }]);
    actors.ref('b').tell.run([{ elapse: 1 }, { tell: 'c', times: 3 }]);
    for (let i = 0; i < 2; i += 1) actors.ref('b').tell.run([]);
    await settleAll(test);
    assert.equal(actors.errors, []);
  },
);

cycles('a cycle of a send and an ask is refused at the wait that closes it', async () => {
  await using test = createTestSystem();
  const actors = new ScriptedActors(test, 'ab');
  actors.ref('a').tell.run([{ elapse: 1 }, { send: 'b' }]);
  actors.ref('b').tell.run([{ elapse: 2 }, { ask: 'a' }]);
  actors.ref('b').tell.run([]);
  await settleAll(test);
  assert.is(actors.errors.length, 1);
  assert.instance(actors.errors[0], AskCycleError);
});

cycles(
  'a suspension until a mailbox has room ends when that mailbox waits for the suspended actor',
  async () => {
    await using test = createTestSystem();
    const actors = new ScriptedActors(test, 'ab');
    // b waits for room at a, which is suspended until b has room.
    actors.ref('a').tell.run([{ elapse: 5 }, { suspendUntilRoomAt: 'b' }]);
    actors.ref('b').tell.run([{ elapse: 1 }, { send: 'a' }]);
    for (const name of 'ab') actors.ref(name).tell.run([]);
    await settleAll(test);
  },
);

cycles('a suspension until its own mailbox has room ends', async () => {
  await using test = createTestSystem();
  const actors = new ScriptedActors(test, 'a');
  actors.ref('a').tell.run([{ suspendUntilRoomAt: 'a' }]);
  for (let i = 0; i < 3; i += 1) actors.ref('a').tell.run([]);
  await settleAll(test);
});

cycles('an ask in the stash of its target is part of a cycle', async () => {
  await using test = createTestSystem();
  const actors = new ScriptedActors(test, 'ab');
  // b has stashed the ask of a, and asks a before it unstashes.
  await test.tell(actors.ref('a')).run([{ ask: 'b', steps: [{ stashFor: 100 }] }]);
  actors.ref('b').tell.run([{ ask: 'a' }]);
  await settleAll(test);
  assert.is(actors.errors.length, 1);
  assert.instance(actors.errors[0], AskCycleError);
});

cycles('a refused ask is not begun', async () => {
  await using test = createTestSystem();
  const letters: string[] = [];
  test.system.on('dead-letter', ({ letter }) => void letters.push(`${letter.reason} ${letter.to}`));
  const actors = new ScriptedActors(test, 'abc');
  const asked = { tell: 'c', steps: [] };
  actors.ref('a').tell.run([{ elapse: 1 }, { ask: 'b', steps: [asked] }]);
  actors.ref('b').tell.run([{ elapse: 2 }, { ask: 'a', steps: [{ ask: 'c', steps: [{ ask: 'c' }] }] }]);
  await settleAll(test);
  assert.is(actors.errors.length, 1, 'the ask of b, and not one of what it would have begun');
  assert.equal(letters, ['cancelled /a']);
});

/** The pool `p` of workers whose messages say what they do. */
class ScriptedPool {
  readonly errors: (AskCycleError | SendCycleError)[] = [];
  readonly done: string[] = [];
  readonly pool: Ref<PoolProtocol> & { resize(size: number): void };

  constructor(
    test: TestSystem,
    { size, window, capacity = 100 }: { size: number; window?: number; capacity?: number },
  ) {
    const scripted = this;
    const Worker = defineActor.of<PoolProtocol>()('worker', {
      handlers: {
        async ask(ctx, depth) {
          if (depth > 0) await scripted.note(ctx.ask(scripted.pool).ask(depth - 1));
          scripted.done.push(`ask ${depth}`);
        },
        async send(ctx, times) {
          for (let i = 0; i < times; i += 1) await scripted.note(ctx.send(scripted.pool).send(0));
          scripted.done.push(`send ${times}`);
        },
        elapse: (_ctx, ms) => new Promise<void>((done) => void test.host.setTimer(ms, done)),
        later(ctx, ms) {
          const reply = ctx.later<void>();
          test.host.setTimer(ms, () => reply.reply());
          return reply;
        },
        async askLater(ctx, ms) {
          await scripted.note(ctx.ask(scripted.pool).later(ms));
          scripted.done.push(`later ${ms}`);
        },
        async askFriend(ctx) {
          await scripted.note(ctx.ask(friend).askPool());
          scripted.done.push('friend');
        },
      },
    });
    const Friend = defineActor.of<FriendProtocol>()('friend', {
      handlers: {
        async askPool(ctx) {
          await scripted.note(ctx.ask(scripted.pool).ask(0));
        },
      },
    });
    const friend: Ref<FriendProtocol> = test.system.spawn(Friend, { name: 'friend' });
    this.pool = test.system.spawnPool(Worker, {
      name: 'p',
      size,
      routing: { pull: { window } },
      mailbox: { capacity },
    });
  }

  private note(wait: Promise<unknown>): Promise<void> {
    return wait.then(
      () => undefined,
      (error) => void this.errors.push(error),
    );
  }
}

interface PoolProtocol {
  ask(depth: number): void;
  send(times: number): void;
  elapse(ms: number): void;
  later(ms: number): void;
  askLater(ms: number): void;
  askFriend(): void;
}

interface FriendProtocol {
  askPool(): void;
}

cycles('all workers of a pull pool that wait for their own pool: the last ask is refused', async () => {
  await using test = createTestSystem();
  const { pool, errors, done } = new ScriptedPool(test, { size: 2 });
  pool.tell.ask(5);
  await settleAll(test);
  // The ask of depth 4 is with the second worker, whose own ask would need a third.
  assert.equal(done, ['ask 4', 'ask 5']);
  assert.instance(errors[0], AskCycleError);
  assert.is(errors.length, 1);
  const { cycle } = errors[0] as AskCycleError;
  assert.is(cycle[0], '/p');
  assert.is(cycle.at(-1), '/p');
  assert.match(cycle[1] as string, /^\/p\//);
});

cycles('a worker that asks its pool while another worker is free is not refused', async () => {
  await using test = createTestSystem();
  const { pool, errors, done } = new ScriptedPool(test, { size: 3 });
  pool.tell.ask(2);
  pool.tell.elapse(50);
  await settleAll(test);
  assert.equal(errors, []);
  assert.equal(done, ['ask 0', 'ask 1', 'ask 2']);
});

cycles('a pull pool with one worker that has room for the ask: refused as well', async () => {
  await using test = createTestSystem();
  const { pool, errors } = new ScriptedPool(test, { size: 1, window: 4 });
  pool.tell.ask(1);
  await settleAll(test);
  assert.is(errors.length, 1);
  assert.instance(errors[0], AskCycleError);
});

cycles('workers of a pull pool that all wait for room in it: one send is refused', async () => {
  await using test = createTestSystem();
  const { pool, errors, done } = new ScriptedPool(test, { size: 2, capacity: 2 });
  pool.tell.send(4);
  pool.tell.send(4);
  await settleAll(test);
  assert.ok(errors.length > 0);
  for (const error of errors) assert.instance(error, SendCycleError);
  assert.is(done.filter((one) => one === 'send 4').length, 2);
  assert.is(done.filter((one) => one === 'send 0').length, 8 - errors.length);
});

cycles('a cycle through a pull pool and another actor is refused', async () => {
  await using test = createTestSystem();
  const { pool, errors, done } = new ScriptedPool(test, { size: 1 });
  pool.tell.askFriend();
  await settleAll(test);
  assert.is(errors.length, 1);
  assert.equal(done, ['friend']);
});

cycles('a worker that waits for a later reply of its pool is not refused', async () => {
  await using test = createTestSystem();
  const { pool, errors, done } = new ScriptedPool(test, { size: 2 });
  pool.tell.askLater(100);
  await settleAll(test);
  assert.equal(errors, []);
  assert.equal(done, ['later 100']);
});

cycles(
  'a pull pool loses the worker that would have been free: the wait of the other is refused',
  async () => {
    await using test = createTestSystem();
    const { pool, errors, done } = new ScriptedPool(test, { size: 2 });
    for (const ms of [1, 400]) pool.tell.elapse(ms);
    await test.advance(2);
    pool.tell.ask(1);
    await test.advance(100);
    assert.equal(errors, [], 'the second worker will be free');
    pool.resize(1);
    await test.advance(100);
    assert.is(errors.length, 1, 'the second worker gets no further work');
    await settleAll(test);
    assert.is(errors.length, 1);
    assert.equal(done, ['ask 1']);
  },
);

cycles.run();
