import { BodyBudget, BodyShare, type Connection, NO_HEADER, transportLimits } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf, first, openRig } from '../connection-rig.js';

const budgets = suite('body budget');

const KIB = 1024;

budgets('a body gets its bytes at once or waits; released bytes go to the first that waits', () => {
  const budget = new BodyBudget(100);
  const share = new BodyShare(1_000);
  const granted: string[] = [];
  const reserve = (name: string, bytes: number) =>
    budget.reserve(share, bytes, 10, () => void granted.push(name));
  const oldest = reserve('a', 70);
  const waits = reserve('b', 50);
  reserve('c', 10);
  assert.equal([granted, budget.usedBytes, budget.waitingBytes], [['a'], 70, 20]);
  oldest?.release();
  oldest?.release();
  assert.equal([granted, budget.usedBytes, budget.waitingBytes], [['a', 'b', 'c'], 60, 0]);
  waits?.release();
  assert.is(budget.usedBytes, 10);
});

budgets('a body larger than the budget is alone in it, and none waits for ever', () => {
  const budget = new BodyBudget(100);
  const share = new BodyShare(100);
  const granted: string[] = [];
  const small = budget.reserve(share, 10, 10, () => void granted.push('small'));
  const large = budget.reserve(share, 500, 10, () => void granted.push('large'));
  budget.reserve(share, 10, 10, () => void granted.push('next'));
  small?.release();
  assert.equal(granted, ['small', 'large']);
  large?.release();
  assert.equal(granted, ['small', 'large', 'next']);
});

budgets('a connection at its own bound holds up no other connection of its identity', () => {
  const budget = new BodyBudget(100);
  const [one, other] = [new BodyShare(20), new BodyShare(20)];
  const granted: string[] = [];
  const held = budget.reserve(one, 20, 10, () => void granted.push('one'));
  budget.reserve(one, 20, 10, () => void granted.push('one again'));
  const last = budget.reserve(other, 20, 10, () => void granted.push('other'));
  assert.ok(last !== undefined);
  budget.reserve(other, 1, 1, () => undefined)?.release();
  assert.equal(granted, ['one', 'other']);
  held?.release();
  assert.equal(granted, ['one', 'other', 'one again']);
});

budgets('the windows of waiting bodies are bounded; a body beyond that is refused', () => {
  const budget = new BodyBudget(100);
  const share = new BodyShare(1_000);
  budget.reserve(share, 100, 40, () => undefined);
  assert.ok(budget.reserve(share, 90, 40, () => undefined) !== undefined);
  assert.ok(budget.reserve(share, 90, 40, () => undefined) !== undefined);
  assert.is(
    budget.reserve(share, 90, 40, () => undefined),
    undefined,
  );
});

/** A listener that puts every body together, with small bounds. */
function gatheringRig() {
  const bodies: number[] = [];
  const refusals: string[] = [];
  const rig = openRig({
    limits: {
      windowBytes: 64 * KIB,
      chunkBytesMax: 16 * KIB,
      bodyBytesMax: 512 * KIB,
      gatheredBytesMax: 512 * KIB,
      gatheredBytesPerIdentityMax: 1024 * KIB,
    },
    onConnection: (connection) => ({
      onFrame: ({ incoming }) => {
        if (incoming === null) return;
        connection.gather(incoming, 512 * KIB, {
          onWhole: (bytes) => void bodies.push(bytes.length),
          onRefused: (errorName) => void refusals.push(errorName),
          onFail: () => undefined,
        });
      },
      onClose: () => undefined,
    }),
  });
  return { rig, bodies, refusals };
}

/** A body that stops before its last byte, so that its memory stays in use. */
function unfinished(connection: Connection, bytes: number): void {
  let isFirst = true;
  connection.writeBody(64, NO_HEADER, {
    length: bytes,
    read: (_bytesMax, done) => {
      if (!isFirst) return;
      isFirst = false;
      done(null, Buffer.alloc(16 * KIB));
    },
    close: () => undefined,
  });
}

budgets('unfinished bodies of many connections never hold more than the budget of their identity', () => {
  const { rig, refusals } = gatheringRig();
  for (let i = 0; i < 8; i += 1) {
    const peer = rig.dial();
    rig.clock.advance(100);
    for (let body = 0; body < 16; body += 1) unfinished(connectionOf(peer.log), 512 * KIB);
    rig.clock.advance(100);
  }
  const { gatheredBytesPerIdentityMax } = rig.listener.limits;
  assert.ok(rig.listener.usage.gatheredBytes <= 2 * gatheredBytesPerIdentityMax);
  assert.ok(refusals.length > 0 && refusals.every((one) => one === 'BUSY'));
});

budgets('a body that had to wait arrives whole when an earlier one has gone', () => {
  const { rig, bodies } = gatheringRig();
  const [slow, patient] = [rig.dial(), rig.dial()];
  const late = rig.dial();
  rig.clock.advance(100);
  for (const peer of [slow, patient]) unfinished(connectionOf(peer.log), 512 * KIB);
  rig.clock.advance(100);
  const source = Buffer.alloc(300 * KIB, 'x');
  let at = 0;
  connectionOf(late.log).writeBody(64, NO_HEADER, {
    length: source.length,
    read: (bytesMax, done) => {
      const chunk = source.subarray(at, at + bytesMax);
      at += chunk.length;
      done(null, chunk.length === 0 ? null : chunk);
    },
    close: () => undefined,
  });
  rig.clock.advance(1_000);
  assert.equal(bodies, []);
  connectionOf(slow.log).close();
  rig.clock.advance(1_000);
  assert.equal(bodies, [source.length]);
  assert.is(rig.listener.usage.gatheredBytes, 512 * KIB, 'the bytes of the body that is still open');
});

budgets('a body longer than its reader takes is stopped before its bytes', () => {
  const { rig, refusals } = gatheringRig();
  const peer = rig.dial();
  rig.clock.advance(100);
  assert.is(
    connectionOf(peer.log).writeBody(64, NO_HEADER, {
      length: 600 * KIB,
      read: () => undefined,
      close: () => undefined,
    }),
    'too-large',
  );
  assert.equal(refusals, []);
});

budgets('a frame that declares more expanded bytes than allowed is not expanded', () => {
  const rig = openRig();
  const peer = rig.dial();
  rig.clock.advance(100);
  const { expandedBytesMax } = transportLimits('trusted');
  const body = Buffer.alloc(100 * KIB);
  const write = (rawLen: number): unknown =>
    connectionOf(peer.log).write(64, { compression: 'gzip', rawLen }, body);
  write(expandedBytesMax);
  write(expandedBytesMax + 1);
  rig.clock.advance(100);
  assert.is(first(rig.accepted).frames.length, 1);
  assert.equal(first(rig.accepted).closed, {
    kind: 'refused',
    errorName: 'PAYLOAD_TOO_LARGE',
    cause: 'rawLen',
  });
});

budgets.run();
