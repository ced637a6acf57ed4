import type { Middleware } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';
import { circuitBreaker } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const breaker = suite('circuit breaker');

function unreliableService(): { down: boolean; handle: (payload: unknown) => unknown } {
  const service = {
    down: true,
    handle: (payload: unknown): unknown => {
      if (service.down) throw new Error('down');
      return payload;
    },
  };
  return service;
}

breaker(
  'a circuit opens after its failures, refuses messages, and closes when a probe succeeds',
  async () => {
    const circuit = circuitBreaker({ failures: 3, withinMs: 1_000, openMs: 500 });
    const service = unreliableService();
    await using rig = createMiddlewareRig(circuit, { handle: service.handle });
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
    await rig.tell(rig.ref).work('probe');
    assert.equal(rig.ran, [0, 1, 2, 'probe']);
    assert.is(circuit.stateOf('', 500), 'closed');
  },
);

breaker('a failed probe opens the circuit again for the full time', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100 });
  await using rig = createMiddlewareRig(circuit, { handle: unreliableService().handle });
  rig.ref.tell.work(1);
  await rig.advance(100);
  rig.ref.tell.work('probe');
  await rig.advance(99);
  await rig.tell(rig.ref).work('refused');
  assert.equal(rig.ran, [1, 'probe']);
  assert.is(circuit.opened, 2);
});

breaker('a half-open circuit passes only its probes, and all of them must succeed', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100, probes: 2 });
  const service = unreliableService();
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

breaker('a probe without a result counts as failed after `openMs`', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100 });
  const service = unreliableService();
  const handle = (payload: unknown): unknown =>
    payload === 'lost' ? new Promise(() => undefined) : service.handle(payload);
  await using rig = createMiddlewareRig(circuit, { handle });
  const other = rig.spawn('other');
  rig.ref.tell.work('breaks it');
  await rig.advance(100);
  other.tell.work('lost');
  await rig.advance(100);
  assert.is(circuit.stateOf('', 200), 'open');
  assert.is(circuit.opened, 2, 'reading the state counts the second opening');
  service.down = false;
  rig.ref.tell.work('refused: the lost one has failed');
  await rig.advance(100);
  await rig.tell(rig.ref).work('new probe');
  assert.is(rig.ran.at(-1), 'new probe');
  assert.is(circuit.stateOf('', 300), 'closed');
  void rig.system.kill(other);
});

breaker('failures outside the window and errors that do not count do not open the circuit', async () => {
  const circuit = circuitBreaker({
    failures: 2,
    withinMs: 100,
    countsAsFailure: ({ message }) => message !== 'mine',
  });
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
  await rig.tell(rig.ref).work('theirs');
  assert.is(circuit.opened, 1);
});

breaker('`open: "hold"` holds messages in order', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100, open: 'hold' });
  const service = unreliableService();
  await using rig = createMiddlewareRig(circuit, { handle: service.handle });
  for (const n of [1, 2, 3]) rig.ref.tell.work(n);
  await rig.advance(50);
  service.down = false;
  await rig.advance(50);
  assert.equal(rig.ran, [1, 2, 3]);
  assert.equal(rig.deadLetters, []);
});

breaker('a probe that another middleware refuses does not count', async () => {
  const circuit = circuitBreaker({ failures: 1, openMs: 100 });
  const service = unreliableService();
  const refuseNo: Middleware = {
    name: 'no',
    beforeMessage: ({ payload }) => (payload === 'no' ? { verdict: 'refuse', why: 'no' } : undefined),
  };
  await using rig = createMiddlewareRig([circuit, refuseNo], { handle: service.handle });
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
