import { createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';
import {
  circuitBreaker,
  deadline,
  idempotency,
  NamedLimits,
  rateLimit,
  retry,
  telemetry,
  timeout,
} from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type InMemorySdk, openInMemorySdk, type Point } from './in-memory-sdk.js';

const metrics = suite('metrics');

const Account = defineActor('account', {
  handlers: {
    deposit(_ctx, cents: number) {
      if (cents < 0) throw Object.assign(new Error(`no ${cents} for you`), { code: 'ERR_NEGATIVE' });
      return cents;
    },
    nap: (ctx) => void ctx.suspend({ user: 'tired of 17' }, { on: 'after', ms: 1 }),
    name: (ctx) => ctx.path,
  },
});

function providers({ meterProvider }: InMemorySdk) {
  return { meterProvider };
}

function silentHost(): Host {
  return { ...nodeHost, log: () => undefined };
}

function open(sdk: InMemorySdk, more: Parameters<typeof createSystem>[0] = {}) {
  return createSystem({
    name: 'bank',
    host: silentHost(),
    supervise: { restarts: 100, withinMs: 1_000 },
    middleware: [telemetry(providers(sdk))],
    ...more,
  });
}

function total(points: readonly Point[] | undefined, labels: Readonly<Record<string, unknown>> = {}): number {
  const own = (points ?? []).filter((point) =>
    Object.entries(labels).every(([label, value]) => point.labels[label] === value),
  );
  return own.reduce((sum, { value }) => sum + value, 0);
}

metrics('every metric of messages, turns, the executor and rate limits is exported', async () => {
  const sdk = openInMemorySdk();
  const limit = rateLimit({ name: 'api', perSecond: 1_000, burst: 1 }, new NamedLimits());
  const system = open(sdk, { middleware: [telemetry(providers(sdk)), limit] });
  const ref = system.spawn(Account);
  await Promise.allSettled([ref.ask.deposit(1), ref.ask.deposit(-1)]);
  ref.tell.nap();
  await ref.ask.name();
  const gone = system.spawn(Account);
  await system.stop(gone);
  gone.tell.deposit(1);
  const names = await sdk.metrics();
  for (const name of [
    'messaging.client.sent.messages',
    'messaging.client.consumed.messages',
    'messaging.process.duration',
    'troupe.mailbox.depth',
    'troupe.mailbox.backlog',
    'troupe.ready_queue.depth',
    'troupe.executor.busy_ratio',
    'troupe.executor.busy_time',
    'troupe.scheduler.latency',
    'troupe.turn.duration',
    'troupe.dead_letters',
    'troupe.suspensions',
    'troupe.failures',
    'troupe.restarts',
    'troupe.rate_limit.triggered',
    'troupe.rate_limit.consumed',
  ])
    assert.ok((names.get(name) ?? []).length > 0, `${name} is not in ${[...names.keys()].join(', ')}`);
  await system.shutdown();
});

metrics('messages are counted as sent and consumed, and timed, by actor and message', async () => {
  const sdk = openInMemorySdk();
  const system = open(sdk);
  const ref = system.spawn(Account);
  for (let i = 0; i < 5; i += 1) await ref.ask.deposit(i);
  await ref.ask.deposit(-1).catch(() => undefined);
  const points = await sdk.metrics();
  const labels = { 'messaging.destination.name': 'account', 'troupe.message.name': 'deposit' };
  assert.is(total(points.get('messaging.client.sent.messages'), labels), 6);
  assert.is(total(points.get('messaging.client.consumed.messages'), labels), 6);
  assert.is(total(points.get('troupe.scheduler.latency'), labels), 6);
  const durations = points.get('messaging.process.duration');
  assert.is(total(durations, labels), 6);
  assert.is(total(durations, { ...labels, 'error.type': 'ERR_NEGATIVE' }), 1);
  await system.shutdown();
});

metrics('dead letters, failures, restarts and suspensions are counted by reason', async () => {
  const sdk = openInMemorySdk();
  const system = open(sdk);
  const ref = system.spawn(Account);
  await ref.ask.deposit(-1).catch(() => undefined);
  ref.tell.nap();
  await ref.ask.name();
  await system.stop(ref);
  ref.tell.deposit(1);
  const points = await sdk.metrics();
  assert.is(total(points.get('troupe.dead_letters'), { reason: 'stopped' }), 1);
  assert.is(total(points.get('troupe.failures'), { 'error.type': 'ERR_NEGATIVE', directive: 'restart' }), 1);
  assert.is(total(points.get('troupe.restarts')), 1);
  assert.is(total(points.get('troupe.suspensions'), { reason: 'user' }), 1);
  await system.shutdown();
});

metrics(
  'counts are flushed at the end of a system, also those of a middleware of one definition',
  async () => {
    const sdk = openInMemorySdk();
    const own = telemetry({ ...providers(sdk), name: 'own' });
    const Counted = defineActor('counted', {
      handlers: { deposit: (_ctx, n: number) => n },
      middleware: [own],
    });
    for (const [middleware, definition] of [
      [[telemetry(providers(sdk))], Account],
      [[], Counted],
    ] as const) {
      const system = createSystem({ middleware });
      const ref = system.spawn(definition);
      for (let i = 0; i < 5; i += 1) await ref.ask.deposit(i);
      await system.shutdown();
    }
    const points = await sdk.metrics();
    assert.is(total(points.get('messaging.client.sent.messages')), 10);
    assert.is(total(points.get('messaging.client.consumed.messages')), 10);
  },
);

metrics('a message is counted as sent before its actor has had a turn', async () => {
  const sdk = openInMemorySdk();
  const system = open(sdk);
  const ref = system.spawn(Account);
  ref.tell.deposit(1);
  const points = await sdk.metrics();
  assert.is(total(points.get('messaging.client.sent.messages')), 1);
  await system.shutdown();
});

metrics('error texts, actor paths and reasons of users are never labels', async () => {
  const sdk = openInMemorySdk();
  const system = open(sdk);
  for (let i = 0; i < 50; i += 1) {
    const ref = system.spawn(Account, { name: `account-${i}` });
    await ref.ask.deposit(-i).catch(() => undefined);
    ref.tell.nap();
    await ref.ask.name();
  }
  for (const [name, points] of await sdk.metrics()) {
    assert.ok(points.length <= 10, `${name} has ${points.length} label sets`);
    const text = JSON.stringify(points.map(({ labels }) => labels));
    assert.not.match(text, /account-|for you|tired/);
  }
  await system.shutdown();
});

metrics('definitions and error codes beyond the bound share one label', async () => {
  const sdk = openInMemorySdk();
  const system = createSystem({
    host: silentHost(),
    supervise: { restarts: 1_000, withinMs: 1, restartsTotal: 100_000 },
    middleware: [telemetry({ ...providers(sdk), labelsMax: 20 })],
  });
  for (let i = 0; i < 200; i += 1) {
    const One = defineActor(`kind-${i}`, {
      handlers: {
        fail() {
          throw Object.assign(new Error('no'), { code: i % 2 === 0 ? `ERR_${i}` : `not a code ${i}` });
        },
      },
    });
    const ref = system.spawn(One);
    ref.tell.fail();
    await system.stop(ref);
  }
  for (const [name, points] of await sdk.metrics())
    assert.ok(points.length <= 110, `${name} has ${points.length} label sets`);
  await system.shutdown();
});

metrics('every turn records one duration, whether it completed, failed or was suspended', async () => {
  const sdk = openInMemorySdk();
  const limit = rateLimit({ name: 'l', perSecond: 1, burst: 2 }, new NamedLimits());
  let began = 0;
  const counter = {
    name: 'counter',
    beforeTurn: () => {
      began += 1;
    },
  };
  await using rig = createMiddlewareRig([counter, telemetry(providers(sdk)), limit], {
    handle: (payload) => {
      if (payload === 'throw') throw new Error('no');
    },
  });
  await rig.tell(rig.ref).work('ok');
  rig.ref.tell.work('throw');
  await rig.settle();
  rig.ref.tell.work('held');
  await rig.advance(5_000);
  const turns = (await sdk.metrics()).get('troupe.turn.duration');
  assert.is(total(turns), began);
  for (const result of ['completed', 'failed', 'suspended'])
    assert.ok(total(turns, { 'troupe.turn.result': result }) >= 1, result);
});

metrics('gauges show the mailbox depth, the ready queue and the busy ratio', async () => {
  const sdk = openInMemorySdk();
  const system = open(sdk);
  const Busy = defineActor('busy', {
    handlers: {
      spin(_ctx, ms: number) {
        for (const until = performance.now() + ms; performance.now() < until; );
        return true;
      },
    },
  });
  const busy = system.spawn(Busy);
  const waiting = system.spawn(Account);
  const token = system.suspend(waiting);
  for (let i = 0; i < 7; i += 1) waiting.tell.deposit(i);
  await sdk.metrics();
  await system.ask(busy, { withinMs: 60_000 }).spin(150);
  const points = await sdk.metrics();
  assert.is(total(points.get('troupe.mailbox.depth')), 7);
  assert.is(total(points.get('troupe.ready_queue.depth')), 0);
  const ratio = total(points.get('troupe.executor.busy_ratio'));
  assert.ok(ratio > 0.1 && ratio <= 1, `busy ratio ${ratio}`);
  assert.ok(total(points.get('troupe.executor.busy_time')) >= 0.15);
  token.resume();
  await system.shutdown();
});

metrics('the metrics of every standard middleware are exported', async () => {
  const sdk = openInMemorySdk();
  const all = [
    rateLimit({ name: 'one', perSecond: 1 }, new NamedLimits()),
    rateLimit({ name: 'two', perSecond: 1 }, new NamedLimits()),
    circuitBreaker(),
    deadline(),
    timeout({ withinMs: 1_000 }),
    retry(),
    idempotency({ key: () => undefined }),
  ];
  const system = open(sdk, { middleware: [telemetry(providers(sdk)), ...all] });
  const points = await sdk.metrics();
  const names = all.flatMap(({ metrics }) => metrics.map(({ name }) => name));
  for (const name of names) assert.ok(points.has(name), name);
  assert.equal(
    points.get('troupe.rate_limit.consumed')?.map(({ labels }) => labels['troupe.middleware.name']),
    ['one', 'two'],
  );
  await system.shutdown();
});

metrics('a stopped system is no longer observed, and one telemetry serves one system', async () => {
  const sdk = openInMemorySdk();
  const shared = telemetry(providers(sdk));
  const system = createSystem({ middleware: [shared] });
  assert.throws(() => createSystem({ name: 'second', middleware: [shared] }), /once per system/);
  await system.shutdown();
  await Promise.resolve();
  const points = await sdk.metrics();
  assert.equal(points.get('troupe.actors') ?? [], []);
});

metrics.run();
