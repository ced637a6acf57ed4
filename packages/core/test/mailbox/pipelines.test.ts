// Pipelines, servers and senders that no mute holds back: which mailboxes stay bounded, and by how much.
import { type AnyRef, defineActor, type InvokeResult, type Ref, UndeliveredError } from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const pipelines = suite('pipelines');

const CAPACITY = 10;
const HARD_LIMIT = 64 * CAPACITY;

interface Stage {
  put(n: number): void;
}

/** The longest mailboxes, looked at after every send. */
class Depths {
  private readonly max = new Map<string, number>();
  private readonly test: TestSystem;

  constructor(test: TestSystem) {
    this.test = test;
  }

  look(ref: AnyRef): void {
    this.max.set(ref.path, Math.max(this.of(ref), this.now(ref)));
  }

  of(ref: AnyRef): number {
    return this.max.get(ref.path) ?? 0;
  }

  now(ref: AnyRef): number {
    return this.test.system.inspect({ under: ref, levels: 0 }).depth;
  }
}

function elapse(test: TestSystem, ms: number): Promise<void> {
  return new Promise((resolve) => {
    test.host.setTimer(ms, resolve);
  });
}

/** Takes a millisecond for each message. */
function spawnSlowSink(test: TestSystem, name = 'sink') {
  return test.system.spawn(
    defineActor('slow sink', {
      state: () => ({ handled: 0 }),
      handlers: {
        async put(ctx, _n: number) {
          await elapse(test, 1);
          ctx.state.handled += 1;
        },
        handled: (ctx) => ctx.state.handled,
      },
      mailbox: { capacity: CAPACITY },
    }),
    { name },
  );
}

/** Holds its mailbox as it is until it is resumed. */
function spawnHeldSink(test: TestSystem) {
  const sink = spawnSlowSink(test);
  return { sink, token: test.system.suspend(sink) };
}

/** Tells each of its messages `fan` times. */
function spawnStage(test: TestSystem, name: string, to: Ref<Stage>, fan: number, depths: Depths): Ref<Stage> {
  const Forwarder = defineActor('forwarder', {
    handlers: {
      put(_ctx, n: number) {
        for (let i = 0; i < fan; i += 1) {
          to.tell.put(n);
          depths.look(to);
        }
      },
    },
    mailbox: { capacity: CAPACITY },
  });
  return test.system.spawn(Forwarder, { name });
}

/** Runs messages through three stages, and checks the longest mailbox of the second and the last. */
async function runStages(fan: number): Promise<void> {
  await using test = createTestSystem();
  const depths = new Depths(test);
  const sink = spawnSlowSink(test);
  const second = spawnStage(test, 'second', sink, fan, depths);
  const first = spawnStage(test, 'first', second, fan, depths);
  const MESSAGES = 200;
  for (let n = 0; n < MESSAGES; n += 1) first.tell.put(n);
  await test.advance(5);
  assert.ok(depths.now(first) > MESSAGES / 2, 'the first stage waits: pressure has travelled up to it');
  await test.advance(2 * MESSAGES * fan * fan);
  assert.is(await test.ask(sink).handled(), MESSAGES * fan * fan);
  for (const stage of [second, sink]) {
    assert.ok(depths.of(stage) <= CAPACITY + fan, `${stage.path} had ${depths.of(stage)} messages`);
    assert.ok(depths.of(stage) > CAPACITY, `${stage.path} was never full`);
  }
}

pipelines(
  'three stages, one message for each, an asynchronous last one: no mailbox above its capacity and the sends of one message',
  () => runStages(1),
);

pipelines(
  'three stages, five messages for each, an asynchronous last one: no mailbox above its capacity and the sends of one message',
  () => runStages(5),
);

pipelines('a server that is asked all the time is muted by its slow log', async () => {
  await using test = createTestSystem({ askWithinMs: 1e6 });
  const depths = new Depths(test);
  const log = spawnSlowSink(test, 'log');
  const LINES = 3;
  const Server = defineActor('server', {
    handlers: {
      serve(_ctx, n: number) {
        for (let i = 0; i < LINES; i += 1) log.tell.put(n);
        depths.look(log);
        return n;
      },
    },
    mailbox: { capacity: CAPACITY },
  });
  const server = test.system.spawn(Server, { name: 'server' });
  const CLIENTS = 100;
  const ASKS = 10;
  let answered = 0;
  const Client = defineActor('client', {
    handlers: {
      async run(ctx) {
        for (let i = 0; i < ASKS; i += 1) {
          const reply = ctx.ask(server).serve(i);
          depths.look(server);
          await reply;
          answered += 1;
        }
      },
    },
  });
  for (let i = 0; i < CLIENTS; i += 1) test.system.spawn(Client).tell.run();
  await test.advance(2 * CLIENTS * ASKS * LINES);
  assert.is(answered, CLIENTS * ASKS);
  assert.is(await test.ask(log).handled(), CLIENTS * ASKS * LINES);
  assert.ok(depths.of(log) <= CAPACITY + LINES, `the log had ${depths.of(log)} messages`);
  assert.ok(depths.of(server) <= CLIENTS, `the server had ${depths.of(server)} messages`);
  assert.equal(test.eventsOf('stuck'), []);
});

pipelines(
  'a producer without end fills the mailbox of a consumer that awaits up to its capacity',
  async () => {
    await using test = createTestSystem();
    const depths = new Depths(test);
    const Consumer = defineActor('consumer', {
      state: () => ({ handled: 0 }),
      handlers: {
        put(ctx, _n: number): Promise<void> | undefined {
          ctx.state.handled += 1;
          return ctx.state.handled % 100 === 0 ? elapse(test, 1) : undefined;
        },
      },
      mailbox: { capacity: 100 },
    });
    const consumer = test.system.spawn(Consumer);
    const Producer = defineActor('producer', {
      handlers: {
        produce(ctx, n: number) {
          consumer.tell.put(n);
          depths.look(consumer);
          Producer.self(ctx).tell.produce(n + 1);
        },
      },
    });
    test.system.spawn(Producer).tell.produce(0);
    await test.advance(300);
    assert.ok(depths.of(consumer) <= 101, `the consumer had ${depths.of(consumer)} messages`);
    assert.ok(test.stateOf(Consumer, consumer).handled >= 300 * 100, 'and it was never idle');
  },
);

pipelines(
  'tells of code outside actors beyond 64 × capacity are dead letters, and one warning names `send`',
  async () => {
    await using test = createTestSystem();
    const { sink, token } = spawnHeldSink(test);
    for (let n = 0; n < HARD_LIMIT + 7; n += 1) sink.tell.put(n);
    assert.is(test.system.inspect({ under: sink }).depth, HARD_LIMIT);
    const letters = test.eventsOf('dead-letter').map(({ letter }) => letter);
    assert.equal(
      letters.map(({ reason }) => reason),
      Array.from({ length: 7 }, () => 'overloaded'),
    );
    assert.is(letters[0]?.payload, HARD_LIMIT);
    token.resume();
    await test.advance(HARD_LIMIT / 2);
    for (let n = 0; n < HARD_LIMIT; n += 1) sink.tell.put(n);
    assert.ok(test.eventsOf('dead-letter').length > 7, 'it was overloaded a second time');
    const warnings = test.host.logged.filter(({ message }) => message.includes('`send`'));
    assert.equal(
      warnings.map(({ level, fields }) => [level, fields['path']]),
      [['warn', '/sink']],
    );
  },
);

pipelines('an ask of code outside actors beyond 64 × capacity is refused with ERR_UNDELIVERED', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  for (let n = 0; n < HARD_LIMIT; n += 1) sink.tell.put(n);
  const error = await sink.ask.put(0).catch((refusal: unknown) => refusal);
  assert.instance(error, UndeliveredError);
  assert.is((error as UndeliveredError).code, 'ERR_UNDELIVERED');
  assert.is((error as UndeliveredError).reason, 'overloaded');
});

pipelines('`offer` is full and `send` waits at the capacity, not at the hard limit', async () => {
  await using test = createTestSystem();
  const { sink, token } = spawnHeldSink(test);
  for (let n = 0; n < CAPACITY; n += 1) assert.is(sink.offer.put(n), 'accepted');
  assert.is(sink.offer.put(0), 'full');
  let isSent = false;
  void sink.send.put(0).then(() => {
    isSent = true;
  });
  await test.settle();
  assert.is(isSent, false);
  token.resume();
  await test.advance(CAPACITY);
  assert.is(isSent, true);
});

pipelines('messages of timers beyond 64 × capacity are dead letters', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  const Clock = defineActor('clock', {
    handlers: {
      start(ctx) {
        for (let n = 0; n < HARD_LIMIT + 7; n += 1) ctx.after(1, sink).put(n);
      },
    },
  });
  test.system.spawn(Clock).tell.start();
  await test.advance(10);
  assert.is(test.system.inspect({ under: sink }).depth, HARD_LIMIT);
  assert.is(test.eventsOf('dead-letter').length, 7);
});

/** Sends in the synchronous part of a handler, or after an `await`. */
function spawnBurster(test: TestSystem, sink: Ref<Stage>) {
  const Burster = defineActor('burster', {
    state: () => ({ begun: 0 }),
    handlers: {
      now(ctx, count: number) {
        ctx.state.begun += 1;
        for (let n = 0; n < count; n += 1) sink.tell.put(n);
      },
      async afterAwait(ctx, count: number) {
        ctx.state.begun += 1;
        await Promise.resolve();
        for (let n = 0; n < count; n += 1) ctx.tell(sink).put(n);
      },
      async askAfterAwait(ctx) {
        ctx.state.begun += 1;
        await Promise.resolve();
        ctx
          .ask(sink)
          .put(0)
          .catch(() => undefined);
      },
      async waitForRoom(ctx) {
        ctx.state.begun += 1;
        await elapse(test, 1);
        await ctx.send(sink).put(0);
      },
    },
  });
  const ref = test.system.spawn(Burster, { name: 'burster' });
  return { ref, begun: (): number => test.stateOf(Burster, ref).begun };
}

pipelines('`ctx.tell` after an await meets the hard limit, and its actor is muted', async () => {
  await using test = createTestSystem();
  const { sink, token } = spawnHeldSink(test);
  const { ref, begun } = spawnBurster(test, sink);
  ref.tell.afterAwait(HARD_LIMIT + 7);
  ref.tell.afterAwait(1);
  await test.settle();
  assert.is(test.system.inspect({ under: sink }).depth, HARD_LIMIT);
  assert.is(test.eventsOf('dead-letter').length, 7);
  assert.is(begun(), 1, 'its next message waits');
  token.resume();
  await test.advance(HARD_LIMIT);
  assert.is(begun(), 2);
});

pipelines('an ask after an await mutes its actor too', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  const { ref, begun } = spawnBurster(test, sink);
  for (let i = 0; i < 3 * CAPACITY; i += 1) ref.tell.askAfterAwait();
  await test.settle();
  assert.is(begun(), CAPACITY + 1);
  assert.is(test.system.inspect({ under: sink }).depth, CAPACITY + 1);
});

pipelines('the synchronous part of a handler is never refused', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  const { ref } = spawnBurster(test, sink);
  await test.tell(ref).now(2 * HARD_LIMIT);
  assert.is(test.system.inspect({ under: sink }).depth, 2 * HARD_LIMIT);
  assert.equal(test.eventsOf('dead-letter'), []);
});

pipelines('`queuedMax` bounds the synchronous part of a handler', async () => {
  await using test = createTestSystem({ queuedMax: 2 * HARD_LIMIT });
  const { sink } = spawnHeldSink(test);
  const { ref } = spawnBurster(test, sink);
  await test.tell(ref).now(3 * HARD_LIMIT);
  assert.ok(test.system.inspect({ under: sink }).depth <= 2 * HARD_LIMIT);
  assert.ok(test.eventsOf('dead-letter').every(({ letter }) => letter.reason === 'overloaded'));
});

pipelines('a muted actor says so, with the path of its receiver: event, `inspect` and `tree`', async () => {
  await using test = createTestSystem();
  const { sink, token } = spawnHeldSink(test);
  const { ref } = spawnBurster(test, sink);
  ref.tell.now(CAPACITY + 1);
  await test.advance(70);
  const [event, ...others] = test.eventsOf('suspended').filter(({ reason }) => reason === 'backpressure');
  assert.equal(event, { kind: 'suspended', path: '/burster', reason: 'backpressure', receiver: '/sink' });
  assert.equal(others, []);
  const { status, notRunning } = test.system.inspect({ under: ref });
  assert.ok(status.includes('muted'));
  assert.match(notRunning?.why ?? '', /backpressure.*\/sink/);
  assert.is(notRunning?.forMs, 70);
  assert.match(test.system.tree(), /burster .*backpressure.*\/sink/);
  token.resume();
  await test.advance(100);
  const resumed = test.eventsOf('resumed').find(({ reason }) => reason === 'backpressure');
  assert.is(resumed?.receiver, '/sink');
  assert.ok((resumed?.ms ?? 0) >= 70);
});

pipelines('a turn that ends muted is suspended for back-pressure until capacity, to middleware', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  const results: InvokeResult[] = [];
  const Watched = defineActor('watched', {
    handlers: {
      burst() {
        for (let n = 0; n <= CAPACITY; n += 1) sink.tell.put(n);
      },
    },
    middleware: [{ name: 'results', afterTurn: (_turn, result) => void results.push(result) }],
  });
  test.system.spawn(Watched).tell.burst();
  await test.settle();
  assert.equal(results.at(-1), { kind: 'suspended', reason: 'backpressure', resumeOn: { on: 'capacity' } });
});

pipelines('a failed actor is reported as failed, muted or not', async () => {
  await using test = createTestSystem({ supervise: { backoff: { fromMs: 1_000, toMs: 1_000 } } });
  const { sink } = spawnHeldSink(test);
  const results: InvokeResult[] = [];
  const Fragile = defineActor('fragile', {
    handlers: {
      burst(_ctx, count: number) {
        for (let n = 0; n < count; n += 1) sink.tell.put(n);
        throw new Error('x');
      },
    },
    middleware: [{ name: 'results', afterTurn: (_turn, result) => void results.push(result) }],
  });
  const fragile = test.system.spawn(Fragile, { name: 'fragile' });
  await test.tell(fragile).burst(CAPACITY + 1);
  assert.is(results.at(-1)?.kind, 'failed');
  const { status, activity } = test.system.inspect({ under: fragile });
  assert.ok(status.includes('failed') && status.includes('muted'));
  assert.match(activity, /^failed in burst/);
  assert.match(test.system.tree(), /fragile failed in burst/);
  await test.advance(2_000);
  assert.match(test.system.tree(), /fragile suspended: backpressure until \/sink/);
});

pipelines('an actor that waits for room says at which receiver and since when', async () => {
  await using test = createTestSystem();
  const { sink, token } = spawnHeldSink(test);
  for (let n = 0; n < CAPACITY; n += 1) sink.tell.put(n);
  const { ref } = spawnBurster(test, sink);
  ref.tell.waitForRoom();
  await test.advance(41);
  const text = /waiting for room at \/sink for 40 ms/;
  assert.match(test.system.inspect({ under: ref }).activity, text);
  assert.match(test.system.tree(), text);
  token.resume();
  await test.advance(CAPACITY);
  assert.not.match(test.system.tree(), /waiting for room/);
});

pipelines(
  'a receiver that handles nothing for 30 s lets go of its senders once, with both paths',
  async () => {
    await using test = createTestSystem();
    const { sink, token } = spawnHeldSink(test);
    const { ref, begun } = spawnBurster(test, sink);
    for (let i = 0; i < 3; i += 1) ref.tell.now(CAPACITY + 1);
    await test.advance(29_000);
    assert.is(begun(), 1, 'muted until then');
    await test.advance(10_000);
    assert.is(begun(), 3, 'a stuck receiver mutes no sender');
    await test.advance(100_000);
    const stuck = test.eventsOf('stuck');
    assert.is(stuck.length, 1);
    assert.is(stuck[0]?.path, '/sink');
    assert.equal(stuck[0]?.senders, ['/burster']);
    const warnings = test.host.logged.filter(({ message }) =>
      message.includes('/sink has handled no message'),
    );
    assert.is(warnings.length, 1);
    assert.is(warnings[0]?.level, 'warn');
    assert.match(warnings[0]?.message ?? '', /\/burster/);
    token.resume();
    await test.advance(1);
    ref.tell.now(1);
    ref.tell.now(1);
    await test.settle();
    assert.is(begun(), 4, 'it mutes again after it has handled a message');
  },
);

pipelines('synchronous sends to a stuck receiver meet the hard limit too', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  const { ref } = spawnBurster(test, sink);
  ref.tell.now(CAPACITY + 1);
  ref.tell.now(2 * HARD_LIMIT);
  await test.advance(40_000);
  assert.is(test.system.inspect({ under: sink }).depth, HARD_LIMIT);
  assert.ok(test.eventsOf('dead-letter').every(({ letter }) => letter.reason === 'overloaded'));
});

pipelines('a slow receiver is not stuck: one message in 25 s is enough', async () => {
  await using test = createTestSystem();
  const Slow = defineActor('slow', {
    handlers: { put: (_ctx, _n: number) => elapse(test, 25_000) },
    mailbox: { capacity: CAPACITY },
  });
  const slow = test.system.spawn(Slow);
  const { ref, begun } = spawnBurster(test, slow);
  ref.tell.now(2 * CAPACITY);
  ref.tell.now(1);
  await test.advance(200_000);
  assert.equal(test.eventsOf('stuck'), []);
  assert.is(begun(), 1);
});

pipelines('messages in the stash hold no sender back', async () => {
  await using test = createTestSystem();
  const Stasher = defineActor('stasher', {
    handlers: { put: (ctx, _n: number) => ctx.stash() },
    mailbox: { capacity: CAPACITY },
    stashMax: 10 * CAPACITY,
  });
  const stasher = test.system.spawn(Stasher);
  const { ref, begun } = spawnBurster(test, stasher);
  for (let i = 0; i < 3; i += 1) ref.tell.now(2 * CAPACITY);
  await test.settle();
  assert.is(begun(), 3);
  assert.is(test.system.inspect({ under: stasher }).stashed, 6 * CAPACITY);
});

pipelines('a receiver that stops releases the senders that it mutes', async () => {
  await using test = createTestSystem();
  const { sink } = spawnHeldSink(test);
  const { ref, begun } = spawnBurster(test, sink);
  ref.tell.now(CAPACITY + 1);
  ref.tell.now(1);
  await test.settle();
  assert.is(begun(), 1);
  assert.is(await test.settle(test.system.stop(sink)), 'stopped');
  assert.is(begun(), 2);
});

pipelines.run();
