import type { Middleware } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';
import { circuitBreaker } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const breaker = suite('circuit breaker');

function flaky(): { down: boolean; handle: (payload: unknown) => unknown } {
  const service = {
    down: true,
    handle: (payload: unknown): unknown => {
      if (service.down) throw new Error('down');
      return payload;
    },
  };
  return service;
}

breaker('it opens after so many failures, refuses meanwhile, and closes when a probe succeeds', async () => {
  const circuit = circuitBreaker({ failures: 3, withinMs: 1_000, openMs: 500 });
  const service = flaky();
  await using rig = createMiddlewareRig(circuit, service);
  for (let i = 0; i < 5; i += 1) rig.ref.tell.work(i);
  await rig.settle();
  assert.equal(rig.ran, [0, 1, 2]);
  assert.is(circuit.stateOf('', 0), 'open');
  assert.is(circuit.refused, 2);
  assert.equal(
    rig.deadLetters.map(({ payload }) => payload),
    [3, 4],
  );
  await rig.advance(499);
  rig.ref.tell.work('too early');
  await rig.advance(1);
  service.down = false;
  rig.ref.tell.work('probe');
  await rig.settle();
  assert.equal(rig.ran, [0, 1, 2, 'probe']);
  assert.is(circuit.stateOf('', 500), 'closed');
});

breaker('a probe that fails opens it again for the whole time', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100 });
  await using rig = createMiddlewareRig(circuit, flaky());
  rig.ref.tell.work(1);
  await rig.advance(100);
  rig.ref.tell.work('probe');
  await rig.advance(99);
  rig.ref.tell.work('refused');
  await rig.settle();
  assert.equal(rig.ran, [1, 'probe']);
  assert.is(circuit.opened, 2);
});

breaker('half-open lets no more through than its probes, and all of them must succeed', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100, probes: 2 });
  const service = flaky();
  const release: (() => void)[] = [];
  const handle = (payload: unknown): unknown =>
    payload === 'slow' ? new Promise<void>((resolve) => release.push(resolve)) : service.handle(payload);
  await using rig = createMiddlewareRig(circuit, { handle });
  const actors = ['b', 'c', 'd'].map((name) => rig.spawn(name));
  rig.ref.tell.work('breaks it');
  await rig.advance(100);
  service.down = false;
  for (const actor of actors) actor.tell.work('slow');
  await rig.settle();
  assert.is(release.length, 2);
  assert.is(circuit.stateOf('', 100), 'half-open');
  for (const done of release) done();
  await rig.settle();
  assert.is(circuit.stateOf('', 100), 'closed');
});

breaker('a probe that never comes back does not keep it half-open for ever', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100 });
  const service = flaky();
  const handle = (payload: unknown): unknown =>
    payload === 'lost' ? new Promise(() => undefined) : service.handle(payload);
  await using rig = createMiddlewareRig(circuit, { handle });
  const other = rig.spawn('other');
  rig.ref.tell.work('breaks it');
  await rig.advance(100);
  other.tell.work('lost');
  await rig.advance(100);
  assert.is(circuit.stateOf('', 200), 'open');
  assert.is(circuit.opened, 2, 'whoever looks at it counts as well');
  service.down = false;
  rig.ref.tell.work('refused: the lost one has failed');
  await rig.advance(100);
  rig.ref.tell.work('new probe');
  await rig.settle();
  assert.is(rig.ran.at(-1), 'new probe');
  assert.is(circuit.stateOf('', 300), 'closed');
  void rig.system.kill(other);
});

breaker('failures far apart do not add up, and errors that do not count do not open it', async () => {
  const circuit = circuitBreaker({ failures: 2, withinMs: 100, counts: ({ message }) => message !== 'mine' });
  const handle = (payload: unknown): unknown => {
    throw new Error(String(payload));
  };
  await using rig = createMiddlewareRig(circuit, { handle });
  rig.ref.tell.work('theirs');
  await rig.advance(100);
  rig.ref.tell.work('theirs');
  for (let i = 0; i < 5; i += 1) rig.ref.tell.work('mine');
  await rig.settle();
  assert.is(circuit.opened, 0);
  rig.ref.tell.work('theirs');
  await rig.settle();
  assert.is(circuit.opened, 1);
});

breaker('it may hold messages instead, in order', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100, open: 'hold' });
  const service = flaky();
  await using rig = createMiddlewareRig(circuit, service);
  for (const n of [1, 2, 3]) rig.ref.tell.work(n);
  await rig.advance(50);
  service.down = false;
  await rig.advance(50);
  assert.equal(rig.ran, [1, 2, 3]);
  assert.equal(rig.deadLetters, []);
});

// E13: a probe that another middleware held back was not made.
breaker('a probe that is held back is given back', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100 });
  const service = flaky();
  const no: Middleware = {
    name: 'no',
    beforeMessage: ({ payload }) => (payload === 'no' ? { verdict: 'refuse', why: 'no' } : undefined),
  };
  await using rig = createMiddlewareRig([circuit, no], service);
  rig.ref.tell.work('breaks it');
  await rig.advance(100);
  service.down = false;
  rig.ref.tell.work('no');
  rig.ref.tell.work('probe');
  await rig.settle();
  assert.is(circuit.stateOf('', 100), 'closed');
});

breaker('impossible options are refused', () => {
  assert.throws(() => circuitBreaker({ failures: 0 }), /failures/);
  assert.throws(() => circuitBreaker({ openMs: -5 }), /openMs/);
  assert.throws(() => circuitBreaker({ withinMs: Number.NaN }), /withinMs/);
  assert.throws(() => circuitBreaker({ probes: 1.5 }), /probes/);
});

breaker.run();
