// Whole systems on the real executor.
import { createSystem, defineActor, nodeHost, type RefOf } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const system = suite('system');
const host = { ...nodeHost, log: () => undefined };

const Counter = defineActor('counter', {
  state: () => ({ n: 0 }),
  handlers: {
    add: (ctx, by: number) => {
      ctx.state.n += by;
    },
    get: (ctx) => ctx.state.n,
  },
});

system('100 actors handle 1,000 messages each, in order', async () => {
  await using world = createSystem({ host });
  const Ordered = defineActor('ordered', {
    state: () => ({ next: 0, wrong: 0 }),
    handlers: {
      put(ctx, n: number) {
        if (n !== ctx.state.next) ctx.state.wrong += 1;
        ctx.state.next += 1;
      },
      report: (ctx) => [ctx.state.next, ctx.state.wrong],
    },
  });
  const refs = Array.from({ length: 100 }, () => world.spawn(Ordered));
  for (let n = 0; n < 1_000; n += 1) for (const ref of refs) ref.tell.put(n);
  const reports = await Promise.all(refs.map((ref) => ref.ask.report()));
  assert.ok(reports.every(([next, wrong]) => next === 1_000 && wrong === 0));
  assert.is(world.stats().handled, 100_100);
  assert.is(world.stats().deadLetters, 0);
});

system('1,000 actors are spawned, sent to and stopped at once', async () => {
  await using world = createSystem({ host });
  const refs = Array.from({ length: 1_000 }, (_, i) => world.spawn(Counter, { name: `c${i}` }));
  for (const ref of refs) for (let i = 0; i < 10; i += 1) ref.tell.add(1);
  const counts = await Promise.all(refs.map((ref) => ref.ask.get()));
  assert.ok(counts.every((n) => n === 10));
  const reasons = await Promise.all(refs.map((ref) => world.stop(ref)));
  assert.ok(reasons.every((reason) => reason === 'stopped'));
  assert.is(world.stats().actors, 1);
});

system('an actor that sends to itself for ever does not starve 999 others', async () => {
  const world = createSystem({ host });
  const SelfSender = defineActor('self-sender', {
    handlers: { go: (ctx): void => SelfSender.self(ctx).tell.go() },
  });
  world.spawn(SelfSender).tell.go();
  const others = Array.from({ length: 999 }, () => world.spawn(Counter));
  for (let round = 0; round < 20; round += 1) {
    for (const ref of others) ref.tell.add(1);
    await Promise.all(others.map((ref) => ref.ask.get()));
  }
  const counts = await Promise.all(others.map((ref) => ref.ask.get()));
  assert.ok(counts.every((n) => n === 20));
  await world.shutdown();
});

system('an actor that sends to itself handles one message per round of the others', async () => {
  const test = createTestSystem();
  let selfSends = 0;
  const SelfSender = defineActor('self-sender', {
    handlers: {
      go(ctx) {
        selfSends += 1;
        SelfSender.self(ctx).tell.go();
      },
    },
  });
  const selfSender = test.system.spawn(SelfSender);
  selfSender.tell.go();
  const others = Array.from({ length: 999 }, () => test.system.spawn(Counter));
  for (let i = 0; i < 600; i += 1) for (const ref of others) ref.tell.add(1);
  while (test.system.stats().queued > 1) test.step();
  assert.ok(selfSends <= 6, `the self-sender ran ${selfSends} times until the others were done`);
  void test.system.kill(selfSender);
  await test[Symbol.asyncDispose]();
});

system('a deep backlog of one actor does not starve the others', async () => {
  await using world = createSystem({ host });
  const busy = world.spawn(
    defineActor('busy', { handlers: { work: () => undefined }, mailbox: { overflow: 'grow' } }),
  );
  for (let i = 0; i < 500_000; i += 1) busy.tell.work();
  const other = world.spawn(Counter);
  other.tell.add(1);
  assert.is(await other.ask.get(), 1);
  assert.ok(world.stats().queued > 400_000, 'it was answered long before the backlog was done');
});

system('an actor that fails repeatedly is restarted each time, and others are not affected', async () => {
  await using world = createSystem({ host, supervise: { restarts: 1_000 } });
  const Failing = defineActor('failing', {
    state: () => ({ n: 0 }),
    handlers: {
      put(ctx, n: number) {
        if (n % 10 === 0) throw new Error('ten');
        ctx.state.n += 1;
      },
      get: (ctx) => ctx.state.n,
    },
  });
  const other = world.spawn(Counter);
  const ref = world.spawn(Failing);
  for (let n = 1; n <= 1_000; n += 1) {
    ref.tell.put(n);
    other.tell.add(1);
  }
  assert.is(await ref.ask.get(), 0);
  assert.is(await other.ask.get(), 1_000);
  assert.is(world.stats().handled, 2_002);
});

system('a ring of actors passes a token around', async () => {
  await using world = createSystem({ host });
  type Node = RefOf<{ readonly pass: (ctx: never, left: number) => void }>;
  const Ring = defineActor('ring', {
    state: (args: { done: () => void }) => ({ ...args, next: undefined as Node | undefined }),
    handlers: {
      join: (ctx, next: Node) => {
        ctx.state.next = next;
      },
      pass(ctx, left: number): void {
        if (left === 0) ctx.state.done();
        else ctx.state.next?.tell.pass(left - 1);
      },
    },
  });
  let done!: () => void;
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  const nodes = Array.from({ length: 100 }, () => world.spawn(Ring, { args: { done } }));
  nodes.forEach((node, i) => {
    node.tell.join(nodes[(i + 1) % 100] as Node);
  });
  nodes[0]?.tell.pass(100_000);
  await finished;
  assert.is(world.stats().handled, 100 + 100_001);
});

system('events report the lifecycle in order', async () => {
  const events: string[] = [];
  const world = createSystem({ host });
  const end = world.subscribe((event) => events.push(event.kind));
  const ref = world.spawn(Counter);
  await world.stop(ref);
  ref.tell.add(1);
  await world.shutdown();
  end();
  assert.equal(
    events.filter((kind) => kind !== 'system-stopping'),
    ['spawned', 'stopped', 'dead-letter', 'stopped'],
  );
  assert.ok(events.includes('system-stopping'));
});

system('unsubscribing ends only its own subscription, even of the same function', async () => {
  const world = createSystem({ host });
  let received = 0;
  const listener = (): void => {
    received += 1;
  };
  const endFirst = world.subscribe(listener);
  world.subscribe(listener);
  endFirst();
  endFirst();
  world.spawn(Counter);
  assert.is(received, 1);
  const names: (string | undefined)[] = [];
  const endWatch = world.watchName(Counter, 'n', () => undefined);
  endWatch();
  world.watchName(Counter, 'n', (ref) => names.push(ref?.path));
  endWatch();
  world.spawn(Counter, { name: 'n' });
  assert.equal(names, [undefined, '/n']);
  await world.shutdown();
});

system('shutdown ends every actor once and returns a report', async () => {
  const world = createSystem({ name: 'bank', host });
  for (let i = 0; i < 10; i += 1) world.spawn(Counter).tell.add(1);
  const reports = await Promise.all([world.shutdown(), world.shutdown(), world.whenStopped]);
  assert.ok(reports.every((report) => report === reports[0]));
  assert.is(reports[0]?.system, 'bank');
  assert.is(reports[0]?.cause, undefined);
  assert.is((reports[0]?.handled ?? 0) + (reports[0]?.deadLetters ?? 0), 10);
});

system('several systems run in one process', async () => {
  await using one = createSystem({ name: 'one' });
  await using two = createSystem({ name: 'two' });
  const relay = two.spawn(Counter, { name: 'same' });
  const Sender = defineActor('sender', { handlers: { go: () => relay.tell.add(5), ping: () => 1 } });
  const sender = one.spawn(Sender, { name: 'same' });
  sender.tell.go();
  await sender.ask.ping();
  assert.is(await relay.ask.get(), 5);
  assert.is(one.lookup(Counter, 'unknown'), undefined);
});

system('handlers can have the names of Object methods', async () => {
  await using world = createSystem({ host });
  const Odd = defineActor('odd', {
    handlers: {
      constructor: () => 'constructor',
      toString: () => 'toString',
      hasOwnProperty: () => 'hasOwnProperty',
      path: () => 'path',
      ref: () => 'ref',
      terms: () => 'terms',
    },
  });
  const ref = world.spawn(Odd);
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'path', 'ref', 'terms'] as const) {
    assert.is(await ref.ask[name](), name);
    assert.is(await world.ask(ref, { withinMs: 100 })[name](), name);
  }
});

system('`on` calls back for one kind of event until it is disposed of', async () => {
  const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });
  await using test = createTestSystem();
  const letters: string[] = [];
  {
    using _letters = test.system.on('dead-letter', ({ letter }) => letters.push(letter.message));
    const ref = test.system.spawn(Actor);
    await test.settle(test.system.stop(ref));
    ref.tell.ping();
    assert.equal(letters, ['ping']);
    void _letters;
  }
  const ref = test.system.spawn(Actor);
  await test.settle(test.system.stop(ref));
  ref.tell.ping();
  assert.equal(letters, ['ping'], 'none after its end');
  const on = test.system.on.bind(test.system) as (kind: string, listener: unknown) => Disposable;
  assert.throws(() => on('dead-leter', () => undefined), /on\.kind: needed one of .*dead-letter/);
  assert.throws(() => on('dead-letter', undefined), /on\.listener: needed a function/);
});

system.run();
