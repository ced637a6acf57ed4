import { type ActorRef, defineActor, type RuntimeEvent } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GATED, MUTED, OVERLOADED } from '#src/mailbox/status-word.js';
import { deferred } from '../deferred.js';
import { cellOf, runtimeOf } from '../internals.js';

const pressure = suite('pressure');

const Sink = defineActor('sink', {
  state: () => ({ seen: 0 }),
  handlers: {
    put: (ctx, _n: number) => {
      ctx.state.seen += 1;
    },
    wait: async (_ctx, until: Promise<void>) => until,
  },
  mailbox: { capacity: 4 },
  throughput: 1,
});

const Source = defineActor('source', {
  state: (args: { to: ActorRef<typeof Sink> }) => ({ to: args.to, ran: 0 }),
  handlers: {
    burst(ctx, n: number) {
      ctx.state.ran += 1;
      for (let i = 0; i < n; i += 1) ctx.state.to.tell.put(i);
    },
  },
});

pressure('a muted sender does not run until the receiver has caught up', async () => {
  await using test = createTestSystem();
  const sink = test.system.spawn(Sink);
  const source = test.system.spawn(Source, { args: { to: sink } });
  source.tell.burst(10);
  source.tell.burst(10);
  test.step();
  assert.is((cellOf(source).state as { ran: number }).ran, 1);
  assert.is.not(cellOf(source).status & MUTED, 0);
  assert.is.not(cellOf(sink).status & OVERLOADED, 0);
  while ((cellOf(source).status & MUTED) !== 0) test.step();
  assert.ok(cellOf(sink).queue.length <= 2, 'the receiver has caught up to half of its capacity');
  await test.settle();
  assert.is((cellOf(source).state as { ran: number }).ran, 2);
  assert.is((cellOf(sink).state as { seen: number }).seen, 20);
});

pressure('a muted actor handles signals: it can be stopped', async () => {
  await using test = createTestSystem();
  const sink = test.system.spawn(Sink);
  const source = test.system.spawn(Source, { args: { to: sink } });
  source.tell.burst(1_000);
  test.step();
  assert.is.not(cellOf(source).status & MUTED, 0);
  let reason = '';
  void test.system.stop(source).then((how) => {
    reason = how;
  });
  while (reason === '' && test.step()) await Promise.resolve();
  assert.is(reason, 'stopped');
  assert.ok(cellOf(sink).queue.length > 4);
});

pressure('a receiver that awaits, is suspended or has failed mutes its senders', async () => {
  await using test = createTestSystem();
  const suspended = test.system.spawn(Sink, { name: 'suspended' });
  const first = test.system.spawn(Source, { args: { to: suspended } });
  const token = test.system.suspend(suspended);
  const awaiting = test.system.spawn(Sink, { name: 'awaiting' });
  const second = test.system.spawn(Source, { args: { to: awaiting } });
  const until = deferred();
  await test.tell(awaiting).wait(until.promise);
  for (const source of [first, second]) {
    source.tell.burst(10);
    source.tell.burst(10);
  }
  await test.settle();
  for (const source of [first, second]) {
    assert.is((cellOf(source).state as { ran: number }).ran, 1);
    assert.is.not(cellOf(source).status & MUTED, 0);
  }
  assert.match(test.system.tree(), /suspended: backpressure until \/awaiting has caught up, for 0 ms/);
  until.resolve();
  token.resume();
  await test.settle();
  for (const sink of [suspended, awaiting]) assert.is((cellOf(sink).state as { seen: number }).seen, 20);
});

pressure('a receiver that waits for a restart with its siblings mutes its senders', async () => {
  await using test = createTestSystem();
  const Bomb = defineActor('bomb', {
    handlers: {
      go: (): never => {
        throw new Error('x');
      },
    },
  });
  const Parent = defineActor('parent', {
    handlers: {},
    started(ctx) {
      ctx.spawn(Sink, { name: 'sink' });
      ctx.spawn(Bomb, { name: 'bomb' });
    },
    supervise: { strategy: 'one-for-all', backoff: { fromMs: 10_000, toMs: 10_000 } },
  });
  test.system.spawn(Parent, { name: 'p' });
  await test.settle();
  const sink = test.system.lookup(Sink, 'p/sink');
  const bomb = test.system.lookup(Bomb, 'p/bomb');
  assert.ok(sink);
  const source = test.system.spawn(Source, { args: { to: sink } });
  bomb?.tell.go();
  source.tell.burst(200);
  await test.settle();
  assert.is.not(cellOf(source).status & MUTED, 0);
  await test.advance(10_000);
  assert.is(cellOf(source).status & MUTED, 0);
});

pressure('a muted actor mutes its own senders: pressure travels up a pipeline', async () => {
  await using test = createTestSystem();
  const sink = test.system.spawn(Sink);
  const Middle = defineActor('middle', {
    handlers: {
      put(_ctx, _n: number) {
        for (let i = 0; i < 10; i += 1) sink.tell.put(i);
      },
      wait: async (_ctx, until: Promise<void>) => until,
    },
    mailbox: { capacity: 4 },
    throughput: 1,
  });
  const middle = test.system.spawn(Middle);
  const source = test.system.spawn(Source, { args: { to: middle } });
  const token = test.system.suspend(sink);
  source.tell.burst(10);
  source.tell.burst(1);
  await test.settle();
  assert.is.not(cellOf(middle).status & MUTED, 0);
  assert.is.not(cellOf(source).status & MUTED, 0);
  assert.is(cellOf(sink).queue.length, 10);
  token.resume();
  await test.settle();
  assert.is((cellOf(sink).state as { seen: number }).seen, 110);
});

pressure(
  'a sender is muted by each receiver that it has overloaded, until the last has caught up',
  async () => {
    await using test = createTestSystem();
    const sinks = [test.system.spawn(Sink), test.system.spawn(Sink)] as const;
    const Fan = defineActor('fan', {
      state: () => ({ ran: 0 }),
      handlers: {
        burst(ctx) {
          ctx.state.ran += 1;
          for (const sink of sinks) for (let i = 0; i < 10; i += 1) sink.tell.put(i);
        },
      },
    });
    const fan = test.system.spawn(Fan);
    const tokens = sinks.map((sink) => test.system.suspend(sink));
    fan.tell.burst();
    fan.tell.burst();
    await test.settle();
    tokens[0]?.resume();
    await test.settle();
    assert.is((cellOf(fan).state as { ran: number }).ran, 1);
    tokens[1]?.resume();
    await test.settle();
    assert.is((cellOf(fan).state as { ran: number }).ran, 2);
  },
);

pressure('a restart of the sender or of the receiver does not end a mute', async () => {
  const Fragile = defineActor('fragile', {
    state: (args: { to: ActorRef<typeof Sink> }) => args,
    handlers: {
      burst(ctx) {
        for (let i = 0; i < 10; i += 1) ctx.state.to.tell.put(i);
        throw new Error('x');
      },
    },
  });
  await using test = createTestSystem();
  const sink = test.system.spawn(Sink);
  const fragile = test.system.spawn(Fragile, { args: { to: sink } });
  const token = test.system.suspend(sink);
  fragile.tell.burst();
  fragile.tell.burst();
  await test.settle();
  assert.is(cellOf(sink).queue.length, 10);
  assert.is.not(cellOf(fragile).status & MUTED, 0);
  token.resume();
  await test.settle();
  assert.is((cellOf(sink).state as { seen: number }).seen, 20);
});

pressure('an actor is not muted by a receiver that has asked it', async () => {
  const Asker = defineActor('asker', {
    state: () => ({ got: 0, answer: '' }),
    handlers: {
      async go(ctx, to: { readonly ask: { readonly question: () => Promise<string> } }) {
        ctx.state.answer = await to.ask.question();
      },
      put: (ctx, _n: number) => {
        ctx.state.got += 1;
      },
    },
    mailbox: { capacity: 2 },
  });
  await using test = createTestSystem();
  const asker = test.system.spawn(Asker);
  const Talker = defineActor('talker', {
    handlers: {
      burst() {
        for (let i = 0; i < 10; i += 1) asker.tell.put(i);
      },
      question: () => 'answer',
    },
  });
  const talker = test.system.spawn(Talker);
  asker.tell.go(talker);
  test.step();
  const { ready } = runtimeOf(test.system);
  talker.tell.burst();
  ready.promote(ready.depth - 1);
  await test.settle();
  assert.is((cellOf(asker).state as { answer: string }).answer, 'answer');
  assert.is((cellOf(asker).state as { got: number }).got, 10);
});

pressure('an ask ends the mute that its target has from the asker', async () => {
  await using test = createTestSystem();
  const held = deferred();
  const Asker = defineActor('asker', {
    state: () => ({ got: 0, answer: '' }),
    handlers: {
      async go(ctx, to: { readonly path: string }) {
        await held.promise;
        ctx.state.answer = await ctx.ask(to as ActorRef<typeof Talker>).question();
      },
      put: (ctx, _n: number) => {
        ctx.state.got += 1;
      },
    },
    mailbox: { capacity: 2 },
  });
  const asker = test.system.spawn(Asker);
  const Talker = defineActor('talker', {
    handlers: {
      burst() {
        for (let i = 0; i < 10; i += 1) asker.tell.put(i);
      },
      question: () => 'answer',
    },
  });
  const talker = test.system.spawn(Talker);
  await test.tell(asker).go(talker);
  await test.tell(talker).burst();
  assert.is.not(cellOf(talker).status & MUTED, 0);
  held.resolve();
  await test.settle();
  assert.is((cellOf(asker).state as { answer: string }).answer, 'answer');
  assert.is((cellOf(asker).state as { got: number }).got, 10);
});

pressure('a worker of a pull pool is not muted by an actor that waits for the pool', async () => {
  await using test = createTestSystem();
  const Asker = defineActor('asker', {
    state: () => ({ got: 0, answers: 0 }),
    handlers: {
      async go(ctx, pool: { readonly ask: { readonly work: () => Promise<void> } }) {
        await Promise.all([pool.ask.work(), pool.ask.work()]);
        ctx.state.answers += 2;
      },
      put: (ctx, _n: number) => {
        ctx.state.got += 1;
      },
    },
    mailbox: { capacity: 2 },
  });
  const asker = test.system.spawn(Asker);
  const Worker = defineActor('worker', {
    handlers: {
      work() {
        for (let i = 0; i < 10; i += 1) asker.tell.put(i);
      },
    },
  });
  const pool = test.system.spawnPool(Worker, { size: 1, routing: { pull: { window: 2 } } });
  await test.tell(asker).go(pool);
  assert.is((cellOf(asker).state as { answers: number }).answers, 2);
  assert.is((cellOf(asker).state as { got: number }).got, 20);
});

pressure(
  'work that a pull pool gives to a muted worker ends the mute, if the pool is waited for',
  async () => {
    await using test = createTestSystem({ askWithinMs: 100_000 });
    const held = deferred();
    const Asker = defineActor('asker', {
      state: () => ({ answers: 0 }),
      handlers: {
        async go(ctx, pool: unknown) {
          await held.promise;
          await ctx.ask(pool as ActorRef<typeof Worker>).work(0);
          ctx.state.answers += 1;
        },
        put: (_ctx, _n: number) => undefined,
      },
      mailbox: { capacity: 2 },
    });
    const asker = test.system.spawn(Asker);
    const Worker = defineActor('worker', {
      handlers: {
        work(_ctx, messages: number) {
          for (let i = 0; i < messages; i += 1) asker.tell.put(i);
        },
      },
    });
    const pool = test.system.spawnPool(Worker, { size: 1, routing: { pull: {} } });
    await test.tell(asker).go(pool);
    await test.tell(pool).work(10);
    assert.is.not(cellOf(pool.routees[0] as ActorRef<typeof Worker>).status & MUTED, 0);
    held.resolve();
    await test.settle();
    assert.is((cellOf(asker).state as { answers: number }).answers, 1);
  },
);

pressure(
  'a suspension until a mailbox has room ends when the receiver waits for the suspended actor',
  async () => {
    await using test = createTestSystem({ askWithinMs: 100_000 });
    const held = deferred();
    const Sender = defineActor('sender', {
      handlers: {
        go(ctx) {
          for (let i = 0; i < 4; i += 1) receiver.tell.put();
          ctx.suspend('backpressure', { on: 'capacity', of: receiver });
        },
        question: () => 'answer',
      },
    });
    const sender = test.system.spawn(Sender);
    const Receiver = defineActor('receiver', {
      state: () => ({ answer: '' }),
      handlers: {
        async wait(ctx) {
          await held.promise;
          ctx.state.answer = await ctx.ask(sender).question();
        },
        put: () => undefined,
      },
      mailbox: { capacity: 2, overflow: 'grow' },
    });
    const receiver = test.system.spawn(Receiver);
    await test.tell(receiver).wait();
    await test.tell(sender).go();
    assert.is(test.system.inspect({ under: sender }).status[0], 'suspended');
    held.resolve();
    await test.settle();
    assert.is((cellOf(receiver).state as { answer: string }).answer, 'answer');
  },
);

pressure(
  'a receiver that handles nothing for `stuckAfterMs` releases its senders and reports it once',
  async () => {
    await using test = createTestSystem({ stuckAfterMs: 1_000 });
    const events: RuntimeEvent[] = [];
    test.system.subscribe((event) => void events.push(event));
    const sink = test.system.spawn(Sink, { name: 'sink' });
    const source = test.system.spawn(Source, { args: { to: sink }, name: 'source' });
    const token = test.system.suspend(sink);
    source.tell.burst(10);
    source.tell.burst(300);
    await test.advance(900);
    assert.is((cellOf(source).state as { ran: number }).ran, 1);
    await test.advance(5_000);
    assert.is((cellOf(source).state as { ran: number }).ran, 2);
    const stuck = events.filter((event) => event.kind === 'stuck');
    assert.equal(stuck, [{ kind: 'stuck', path: '/sink', senders: ['/source'], ms: 1_000 }]);
    const lines = test.host.logged.map(({ message }) => message);
    assert.is(lines.filter((line) => line.includes('/sink has handled no message for 1000 ms')).length, 1);
    assert.is(cellOf(sink).queue.length, 256, 'every sender to a stuck receiver meets the hard limit');
    token.resume();
    await test.settle();
    assert.is((cellOf(sink).state as { seen: number }).seen, 256);
    source.tell.burst(10);
    test.step();
    assert.is.not(cellOf(source).status & MUTED, 0, 'it mutes again after it has handled a message');
  },
);

pressure('a send of an actor to itself that would wait for ever is refused with its path', async () => {
  await using test = createTestSystem();
  const Full = defineActor('full', {
    handlers: {
      async go(ctx): Promise<void> {
        ctx.tell(Full.self(ctx)).put();
        ctx.tell(Full.self(ctx)).put();
        await Full.self(ctx).send.put();
      },
      put: () => undefined,
    },
    mailbox: { capacity: 1 },
  });
  const self = test.system.spawn(Full, { name: 'self' });
  const refused = await test
    .ask(self)
    .go()
    .catch((error: Error) => error.message);
  assert.match(String(refused), /send refused, it would wait for itself: \/self → \/self/);
});

pressure('an actor that sends to itself is not muted', async () => {
  const Own = defineActor('own', {
    state: () => ({ seen: 0 }),
    handlers: {
      burst(ctx) {
        for (let i = 0; i < 50; i += 1) Own.self(ctx).tell.put();
      },
      put: (ctx) => {
        ctx.state.seen += 1;
      },
    },
    mailbox: { capacity: 2 },
  });
  await using test = createTestSystem();
  const own = test.system.spawn(Own);
  await test.tell(own).burst();
  assert.is((cellOf(own).state as { seen: number }).seen, 50);
});

pressure('an actor that waits for room is resumed when there is room', async () => {
  await using test = createTestSystem();
  const sink = test.system.spawn(Sink);
  const Sender = defineActor('sender', {
    state: () => ({ went: 0 }),
    handlers: {
      go(ctx) {
        ctx.state.went += 1;
        ctx.suspend('backpressure', { on: 'capacity', of: sink });
      },
    },
  });
  const sender = test.system.spawn(Sender);
  const token = test.system.suspend(sink);
  for (let i = 0; i < 4; i += 1) sink.tell.put(i);
  sender.tell.go();
  sender.tell.go();
  await test.settle();
  assert.is((cellOf(sender).state as { went: number }).went, 1);
  token.resume();
  await test.settle();
  assert.is((cellOf(sender).state as { went: number }).went, 2);
});

interface Plan {
  readonly seed: number;
  readonly capacities: readonly number[];
  readonly throughput: number;
  /** Edges of the graph: sender, receiver and messages at a time. */
  readonly edges: readonly (readonly [from: number, to: number, burst: number])[];
  readonly starts: readonly number[];
  readonly hops: number;
  readonly slow: readonly boolean[];
}

const plans: fc.Arbitrary<Plan> = fc.integer({ min: 2, max: 6 }).chain((n) =>
  fc.record({
    seed: fc.integer({ min: 1, max: 1_000 }),
    capacities: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: n, maxLength: n }),
    throughput: fc.integer({ min: 1, max: 5 }),
    edges: fc.array(fc.tuple(fc.nat(n - 1), fc.nat(n - 1), fc.integer({ min: 1, max: 6 })), {
      minLength: 1,
      maxLength: 10,
    }),
    starts: fc.array(fc.nat(n - 1), { minLength: 1, maxLength: 8 }),
    hops: fc.integer({ min: 1, max: 4 }),
    slow: fc.array(fc.boolean(), { minLength: n, maxLength: n }),
  }),
);

pressure('muting cannot deadlock: in any graph of senders every message is handled', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const test = createTestSystem({ seed: plan.seed });
      let sent = 0;
      let handled = 0;
      const SENT_MAX = 3_000;
      type Node = { readonly tell: { readonly hop: (left: number) => void } };
      const nodes: Node[] = [];
      plan.capacities.forEach((capacity, i) => {
        const out = plan.edges.filter(([from]) => from === i);
        const forward = (left: number): void => {
          handled += 1;
          if (left === 0) return;
          for (const [, to, burst] of out) {
            for (let k = 0; k < burst && sent < SENT_MAX; k += 1) {
              sent += 1;
              nodes[to]?.tell.hop(left - 1);
            }
          }
        };
        const Hop = defineActor('hop', {
          handlers: {
            hop: (_ctx, left: number): unknown => {
              forward(left);
              return plan.slow[i] === true && left % 2 === 1 ? Promise.resolve() : undefined;
            },
          },
          mailbox: { capacity },
          throughput: plan.throughput,
        });
        nodes.push(test.system.spawn(Hop));
      });
      for (const start of plan.starts) {
        sent += 1;
        nodes[start]?.tell.hop(plan.hops);
      }
      await test.settle();
      assert.is(handled, sent);
      for (const node of nodes) assert.is(cellOf(node as never).status & (GATED | OVERLOADED), 0);
      await test[Symbol.asyncDispose]();
    }),
    { seed: 3, numRuns: 300 },
  );
});

pressure.run();
