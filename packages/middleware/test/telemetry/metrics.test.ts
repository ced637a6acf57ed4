import { createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';
import {
  circuitBreaker,
  createEquippedSystem,
  deadline,
  idempotency,
  RateLimits,
  rateLimit,
  retry,
  telemetry,
  timeout,
} from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openRecorder, type Point, type Recorder } from './recorder.js';

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

function providers({ meterProvider }: Recorder) {
  return { meterProvider };
}

function quiet(): Host {
  return { ...nodeHost, log: () => undefined };
}

function open(recorder: Recorder, more: Parameters<typeof createEquippedSystem>[0] = {}) {
  return createEquippedSystem({
    name: 'bank',
    host: quiet(),
    supervise: { restarts: 100, withinMs: 1_000 },
    middleware: [telemetry(providers(recorder))],
    ...more,
  });
}

function total(points: readonly Point[] | undefined, labels: Readonly<Record<string, unknown>> = {}): number {
  const own = (points ?? []).filter((point) =>
    Object.entries(labels).every(([label, value]) => point.labels[label] === value),
  );
  return own.reduce((sum, { value }) => sum + value, 0);
}

// The list is that of the fourth seed and of the behaviour spec (§5.6).
metrics('every metric that the seed names is there', async () => {
  const recorder = openRecorder();
  const limit = rateLimit({ name: 'api', perSecond: 1_000, burst: 1 }, new RateLimits());
  const system = open(recorder, { middleware: [telemetry(providers(recorder)), limit] });
  const ref = system.spawn(Account);
  await Promise.allSettled([ref.ask.deposit(1), ref.ask.deposit(-1)]);
  ref.tell.nap();
  await ref.ask.name();
  const gone = system.spawn(Account);
  await system.stop(gone);
  gone.tell.deposit(1);
  const names = await recorder.metrics();
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

metrics('messages are counted in and out, and timed, by actor and message', async () => {
  const recorder = openRecorder();
  const system = open(recorder);
  const ref = system.spawn(Account);
  for (let i = 0; i < 5; i += 1) await ref.ask.deposit(i);
  await ref.ask.deposit(-1).catch(() => undefined);
  const points = await recorder.metrics();
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
  const recorder = openRecorder();
  const system = open(recorder);
  const ref = system.spawn(Account);
  await ref.ask.deposit(-1).catch(() => undefined);
  ref.tell.nap();
  await ref.ask.name();
  await system.stop(ref);
  ref.tell.deposit(1);
  const points = await recorder.metrics();
  assert.is(total(points.get('troupe.dead_letters'), { reason: 'stopped' }), 1);
  assert.is(total(points.get('troupe.failures'), { 'error.type': 'ERR_NEGATIVE', directive: 'restart' }), 1);
  assert.is(total(points.get('troupe.restarts')), 1);
  assert.is(total(points.get('troupe.suspensions'), { reason: 'user' }), 1);
  await system.shutdown();
});

// E24: never an error text or an actor instance as a label.
metrics(
  'what was counted is neither lost at the end of a system nor without createEquippedSystem',
  async () => {
    for (const create of [createEquippedSystem, createSystem]) {
      const recorder = openRecorder();
      const system = create({ middleware: [telemetry(providers(recorder))] });
      const ref = system.spawn(Account);
      for (let i = 0; i < 5; i += 1) await ref.ask.deposit(i);
      await system.shutdown();
      const points = await recorder.metrics();
      assert.is(total(points.get('messaging.client.sent.messages')), 5);
      assert.is(total(points.get('messaging.client.consumed.messages')), 5);
    }
  },
);

metrics('a message to an actor without a turn is counted as sent all the same', async () => {
  const recorder = openRecorder();
  const system = open(recorder);
  const ref = system.spawn(Account);
  ref.tell.deposit(1);
  const points = await recorder.metrics();
  assert.is(total(points.get('messaging.client.sent.messages')), 1);
  await system.shutdown();
});

metrics('labels are bounded: no error text, no path, no reason of a user', async () => {
  const recorder = openRecorder();
  const system = open(recorder);
  for (let i = 0; i < 50; i += 1) {
    const ref = system.spawn(Account, undefined, { name: `account-${i}` });
    await ref.ask.deposit(-i).catch(() => undefined);
    ref.tell.nap();
    await ref.ask.name();
  }
  for (const [name, points] of await recorder.metrics()) {
    assert.ok(points.length <= 10, `${name} has ${points.length} label sets`);
    const text = JSON.stringify(points.map(({ labels }) => labels));
    assert.not.match(text, /account-|for you|tired/);
  }
  await system.shutdown();
});

metrics('definitions and error codes without number share one label beyond the bound', async () => {
  const recorder = openRecorder();
  const system = createEquippedSystem({
    host: quiet(),
    supervise: { restarts: 1_000, withinMs: 1, restartsTotal: 100_000 },
    middleware: [telemetry({ ...providers(recorder), labelsMax: 20 })],
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
  for (const [name, points] of await recorder.metrics())
    assert.ok(points.length <= 110, `${name} has ${points.length} label sets`);
  await system.shutdown();
});

// E24: no path without a duration and none with two.
metrics('a turn has one duration, whether it completed, failed or was held', async () => {
  const recorder = openRecorder();
  const limit = rateLimit({ name: 'l', perSecond: 1, burst: 2 }, new RateLimits());
  let began = 0;
  const counter = {
    name: 'counter',
    beforeTurn: () => {
      began += 1;
    },
  };
  await using rig = createMiddlewareRig([counter, telemetry(providers(recorder)), limit], {
    handle: (payload) => {
      if (payload === 'throw') throw new Error('no');
    },
  });
  rig.ref.tell.work('ok');
  await rig.settle();
  rig.ref.tell.work('throw');
  await rig.settle();
  rig.ref.tell.work('held');
  await rig.advance(5_000);
  const turns = (await recorder.metrics()).get('troupe.turn.duration');
  assert.is(total(turns), began);
  for (const result of ['completed', 'failed', 'suspended'])
    assert.ok(total(turns, { 'troupe.turn.result': result }) >= 1, result);
});

metrics('gauges follow the system: mailbox depth, ready queue, busy ratio', async () => {
  const recorder = openRecorder();
  const system = open(recorder);
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
  await recorder.metrics();
  await system.ask(busy, { withinMs: 60_000 }).spin(150);
  const points = await recorder.metrics();
  assert.is(total(points.get('troupe.mailbox.depth')), 7);
  assert.is(total(points.get('troupe.ready_queue.depth')), 0);
  const ratio = total(points.get('troupe.executor.busy_ratio'));
  assert.ok(ratio > 0.1 && ratio <= 1, `busy ratio ${ratio}`);
  assert.ok(total(points.get('troupe.executor.busy_time')) >= 0.15);
  token.resume();
  await system.shutdown();
});

metrics('the figures of every standard middleware are exported', async () => {
  const recorder = openRecorder();
  const all = [
    rateLimit({ name: 'one', perSecond: 1 }, new RateLimits()),
    rateLimit({ name: 'two', perSecond: 1 }, new RateLimits()),
    circuitBreaker(),
    deadline(),
    timeout({ withinMs: 1_000 }),
    retry(),
    idempotency({ key: () => undefined }),
  ];
  const system = open(recorder, { middleware: [telemetry(providers(recorder)), ...all] });
  const points = await recorder.metrics();
  const names = all.flatMap(({ figures }) => figures.map(({ name }) => name));
  for (const name of names) assert.ok(points.has(name), name);
  assert.equal(
    points.get('troupe.rate_limit.consumed')?.map(({ labels }) => labels['troupe.middleware.name']),
    ['one', 'two'],
  );
  await system.shutdown();
});

metrics('a system that has stopped is no longer looked at, and one telemetry serves one system', async () => {
  const recorder = openRecorder();
  const shared = telemetry(providers(recorder));
  const system = createEquippedSystem({ middleware: [shared] });
  assert.throws(() => createEquippedSystem({ name: 'second', middleware: [shared] }), /once per system/);
  await system.shutdown();
  await Promise.resolve();
  const points = await recorder.metrics();
  assert.equal(points.get('troupe.actors') ?? [], []);
});

metrics.run();
