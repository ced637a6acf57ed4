import { type ActorRef, defineActor, type LaterReply } from '@troupe/core';
import { type ExploredWorld, ExploreError, explore, type Scenario } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const exploring = suite('explore');

async function failureOf(scenario: Scenario, seeds = 500): Promise<ExploreError> {
  try {
    await explore(scenario, { seeds });
  } catch (error) {
    assert.instance(error, ExploreError, String(error));
    return error as ExploreError;
  }
  throw new Error(`nothing found in ${seeds} schedules`);
}

const Store = defineActor('store', {
  state: () => ({ n: 0, written: 0 }),
  handlers: {
    read: (ctx) => ctx.state.n,
    write(ctx, n: number) {
      ctx.state.n = n;
      ctx.state.written += 1;
    },
  },
});

const Adder = defineActor('adder', {
  state: (args: { store: ActorRef<typeof Store> }) => args,
  handlers: {
    async add(ctx) {
      const n = await ctx.ask(ctx.state.store).read();
      await ctx.ask(ctx.state.store).write(n + 1);
    },
  },
});

async function twoAdders(world: ExploredWorld): Promise<void> {
  const store = world.system.spawn(Store, { name: 'store' });
  const adders = ['a', 'b'].map((name) => world.system.spawn(Adder, { args: { store }, name }));
  await adders[0]?.ask.add();
  await Promise.all(adders.map((adder) => adder.ask.add()));
  assert.is(await store.ask.read(), 3);
}

exploring('it finds a lost update, shrinks it, and shows the messages before it', async () => {
  const error = await failureOf(twoAdders);
  assert.match(error.message, /Expected values to be strictly equal|3/);
  assert.match(error.message, /\n {2}\/a → \/store\.read/);
  assert.match(error.message, new RegExp(`replay: explore\\(scenario, { replay: '${error.replay}' }\\)`));
});

exploring('the replay of a failure fails in the same way', async () => {
  const first = await failureOf(twoAdders);
  try {
    await explore(twoAdders, { replay: first.replay });
    assert.unreachable();
  } catch (error) {
    assert.instance(error, ExploreError);
    const again = error as ExploreError;
    assert.is((again.cause as Error).message, (first.cause as Error).message);
    assert.equal(again.messages, first.messages);
  }
});

exploring('a scenario that holds on every schedule passes them all', async () => {
  const schedules = await explore(
    async (world) => {
      const store = world.system.spawn(Store);
      const adder = world.system.spawn(Adder, { args: { store } });
      await Promise.all([adder.ask.add(), adder.ask.add(), world.delay(5)]);
      assert.is(await store.ask.read(), 2);
    },
    { seeds: 50 },
  );
  assert.is(schedules, 50);
});

exploring('it finds a missing check after an await, by an invariant', async () => {
  const Account = defineActor('account', {
    state: () => ({ cents: 100 }),
    handlers: {
      balance: (ctx) => ctx.state.cents,
      take(ctx, cents: number) {
        ctx.state.cents -= cents;
      },
    },
  });
  const Till = defineActor('till', {
    state: (args: { account: ActorRef<typeof Account> }) => args,
    handlers: {
      async pay(ctx, cents: number) {
        if ((await ctx.ask(ctx.state.account).balance()) >= cents) ctx.tell(ctx.state.account).take(cents);
      },
    },
  });
  const error = await failureOf(async (world) => {
    const account = world.system.spawn(Account, { name: 'account' });
    const tills = [1, 2].map(() => world.system.spawn(Till, { args: { account } }));
    world.invariant('no debt', () => world.stateOf(Account, account).cents >= 0);
    await Promise.all(tills.map((till) => till.ask.pay(60)));
  });
  assert.is((error.cause as { code?: string }).code, 'ERR_TEST_INVARIANT');
  assert.match(error.message, /the invariant does not hold: no debt/);
});

exploring('it finds a cycle of waits that the runtime cannot see', async () => {
  const Fork = defineActor('fork', {
    state: () => ({ isTaken: false, waiting: [] as LaterReply<void>[] }),
    handlers: {
      take(ctx) {
        const taken = ctx.later<void>();
        if (ctx.state.isTaken) ctx.state.waiting.push(taken);
        else {
          ctx.state.isTaken = true;
          taken.reply();
        }
        return taken;
      },
      put(ctx) {
        const next = ctx.state.waiting.shift();
        if (next === undefined) ctx.state.isTaken = false;
        else next.reply();
      },
    },
  });
  type Forks = readonly ActorRef<typeof Fork>[];
  const Philosopher = defineActor('philosopher', {
    state: (args: { forks: Forks }) => args,
    handlers: {
      async eat(ctx) {
        for (const fork of ctx.state.forks)
          await ctx.ask(fork, { withinMs: Number.POSITIVE_INFINITY }).take();
        for (const fork of ctx.state.forks) ctx.tell(fork).put();
      },
    },
  });
  const error = await failureOf(async (world) => {
    const forks = [0, 1].map((i) => world.system.spawn(Fork, { name: `fork-${i}` }));
    const hands: Forks[] = [forks, [...forks].reverse()];
    const all = hands.map((own, i) =>
      world.system.spawn(Philosopher, { args: { forks: own }, name: `philosopher-${i}` }),
    );
    await Promise.all(all.map((one) => one.with({ withinMs: Number.POSITIVE_INFINITY }).ask.eat()));
  });
  assert.is((error.cause as { code?: string }).code, 'ERR_TEST_STUCK');
  assert.match(error.message, /\/philosopher-0 \(philosopher\): running eat/);
});

exploring('it finds work that a crash loses, and says where it crashed', async () => {
  const Counter = defineActor('counter', {
    state: () => ({ n: 0 }),
    handlers: {
      add(ctx) {
        ctx.state.n += 1;
      },
      total: (ctx) => ctx.state.n,
    },
  });
  const error = await failureOf(async (world) => {
    const counter = world.system.spawn(Counter, { name: 'counter' });
    world.mayCrash(counter);
    for (let i = 0; i < 5; i += 1) await counter.ask.add();
    assert.is(await counter.ask.total(), 5);
  });
  assert.match(error.message, /crashed: \/counter at turn \d+/);
});

exploring('a crash fails an actor in the middle of an asynchronous handler', async () => {
  const Slow = defineActor('slow', {
    handlers: {
      async sleep(ctx, ms: number) {
        const { host } = worlds[0] as ExploredWorld;
        await new Promise<void>((done) => void host.setTimer(ms, done));
        ctx.log.info('done');
      },
      ready: () => 'yes',
    },
  });
  const worlds: ExploredWorld[] = [];
  await explore(
    async (world) => {
      worlds[0] = world;
      const slow = world.system.spawn(Slow);
      const asleep = slow.ask.sleep(1_000).then(
        () => 'answered',
        (error: { code: string }) => error.code,
      );
      await world.delay(10);
      world.crash(slow);
      assert.is(await asleep, 'ERR_ACTOR_FAILED');
      assert.is(await slow.ask.ready(), 'yes', 'restarted');
      assert.is(world.eventsOf('failed').length, 1);
    },
    { seeds: 10 },
  );
});

exploring('unknown options and texts that are no replay are refused', async () => {
  const options: object[] = [{ sedes: 5 }, { seeds: 0 }, { replay: 'seed 5' }];
  for (const wrong of options) {
    try {
      await explore(() => undefined, wrong);
      assert.unreachable();
    } catch (error) {
      assert.is((error as { code?: string }).code, 'ERR_OPTION');
    }
  }
});

const Reader = defineActor('reader', {
  handlers: {
    read: (ctx, store: ActorRef<typeof Store>) => ctx.ask(store).read(),
  },
});

/** True in one thread, where the write is in the mailbox before the reader runs. */
async function readAfterWrite(world: ExploredWorld, on: readonly [string, string]): Promise<void> {
  const store = world.system.spawn(Store, { on: on[0] });
  const reader = world.system.spawn(Reader, { on: on[1] });
  assert.is(await reader.ask.read(store), 0);
  store.tell.write(1);
  assert.is(await reader.ask.read(store), 1);
}

exploring('threads are separate pumps: a message by a third thread may overtake', async () => {
  await explore((world) => readAfterWrite(world, ['main', 'main']), { threads: 2, seeds: 100 });
  await explore((world) => readAfterWrite(world, ['thread-1', 'thread-1']), { threads: 2, seeds: 100 });
  const scenario: Scenario = (world) => readAfterWrite(world, ['thread-1', 'thread-2']);
  const found = await explore(scenario, { threads: 2, seeds: 100 }).catch((error: unknown) => error);
  assert.instance(found, ExploreError);
  const { replay, message } = found as ExploreError;
  assert.match(message, /replay: '[^']*', threads: 2/);
  const again = await explore(scenario, { threads: 2, replay }).catch((error: unknown) => error);
  assert.is((again as ExploreError).replay, replay, 'the same choices, the same end');
});

exploring('a thread may end at any step: its actors begin again, and every ask ends', async () => {
  let refused = 0;
  await explore(
    async (world) => {
      const store = world.system.spawn(Store, { on: 'thread-1' });
      const writes = [1, 2, 3].map((n) =>
        store.ask.write(n).then(
          () => true,
          () => false,
        ),
      );
      const Ender = defineActor('ender', { handlers: { end: () => world.endThread('thread-1') } });
      world.system.spawn(Ender).tell.end();
      const ends = await Promise.all(writes);
      ends.forEach((isWritten) => {
        if (!isWritten) refused += 1;
      });
      const read = await store.ask.read();
      assert.ok(read === 0 || ends[read - 1], `${read} was written to the thread that took its place`);
    },
    { threads: 1, seeds: 50 },
  );
  assert.ok(refused > 0);
});

exploring.run();
