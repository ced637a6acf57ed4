import { type BodyOutcome, bodyFromBytes, IdentityStore, NO_HEADER } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hello, rawPeer } from '../raw-peer.js';
import { connectionOf, first, openWorld } from '../world.js';

const connection = suite('connection');
const EMPTY = Buffer.alloc(0);

connection('carries messages both ways once the handshake is done', () => {
  const world = openWorld();
  const { log } = world.dial({ name: 'ann' });
  world.clock.advance(10);
  const peer = first(world.accepted);
  assert.is(connectionOf(peer).handshake.claimedName, 'ann');
  assert.is(connectionOf(peer).handshake.role, 'client');
  assert.is(connectionOf(log).handshake.identityName, 'local');
  assert.is(connectionOf(log).write(64, { msgId: 'm1' }, Buffer.from('ping')), 'accepted');
  world.clock.advance(5);
  assert.equal(peer.bodies, ['ping']);
  assert.is(peer.frames[0]?.header.msgId, 'm1');
  connectionOf(peer).write(65, { corrId: 'm1' }, Buffer.from('pong'));
  world.clock.advance(5);
  assert.equal(log.bodies, ['pong']);
  assert.is(log.frames[0]?.header.corrId, 'm1');
});

for (const chunking of ['whole', 'random', 'byte'] as const) {
  connection(`delivers every message in order however the bytes are cut: ${chunking}`, () => {
    const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: '11'.repeat(32) }] }]);
    const world = openWorld(
      { auth: { kind: 'hmac', identities } },
      { chunking, seed: 9, latencyMs: { from: 0, to: 3 } },
    );
    const { log } = world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: '11'.repeat(32) } });
    world.clock.advance(50);
    const sent = Array.from({ length: 200 }, (_, i) => `message ${i} ${'x'.repeat(i)}`);
    for (const text of sent) connectionOf(log).write(64, NO_HEADER, Buffer.from(text));
    world.clock.advance(100);
    assert.equal(first(world.accepted).bodies, sent);
  });
}

connection('says when it is behind, when it is full, and when it has drained', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const sender = connectionOf(log);
  world.network.stall('peer', 'leader');
  const body = Buffer.alloc(512 * 1024);
  const answers = Array.from({ length: 20 }, () => sender.write(64, NO_HEADER, body));
  assert.equal([...new Set(answers)], ['accepted', 'backpressure', 'full']);
  const queued = answers.filter((answer) => answer !== 'full').length;
  assert.ok(sender.outboxBytes < 10 * 1024 * 1024);
  assert.is(log.drains, 0);
  world.network.heal('peer', 'leader');
  world.clock.advance(1000);
  assert.is(first(world.accepted).frames.length, queued, 'what was refused was not sent, what was taken was');
  assert.is(log.drains, 1);
  assert.is(sender.write(64, NO_HEADER, body), 'accepted');
});

connection('drains also where the socket takes everything at once', () => {
  const world = openWorld({ limits: { outboxHighBytes: 1_000 } });
  const { log } = world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  const sender = connectionOf(peer);
  const answers = Array.from({ length: 5 }, () => sender.write(64, NO_HEADER, Buffer.alloc(500)));
  assert.equal(answers, ['accepted', 'backpressure', 'backpressure', 'backpressure', 'backpressure']);
  world.clock.advance(10);
  assert.is(peer.drains, 1);
  connectionOf(log).write(64, NO_HEADER, Buffer.from('still heard'));
  world.clock.advance(10);
  assert.equal(peer.bodies, ['still heard']);
});

connection('a listener stops reading a peer that does not read (A37)', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  peer.each = (_, there) => there.write(65, NO_HEADER, Buffer.alloc(64 * 1024));
  world.network.stall('leader', 'peer');
  for (let i = 0; i < 1000; i += 1) connectionOf(log).write(64, NO_HEADER, Buffer.alloc(1000));
  world.clock.advance(2000);
  assert.ok(peer.frames.length < 40, `${peer.frames.length} requests were taken`);
  assert.ok(connectionOf(peer).outboxBytes < 3 * 1024 * 1024);
  world.network.heal('leader', 'peer');
  world.clock.advance(2000);
  assert.is(log.frames.length, 1000);
});

connection(
  'a peer that asks for Pongs and reads none of them costs a bounded outbox, then its connection',
  () => {
    const world = openWorld();
    const peer = rawPeer(world);
    peer.frame(9, hello());
    world.clock.advance(5);
    world.network.stall('leader', 'stranger');
    const pings = Buffer.concat(
      Array.from({ length: 10_000 }, () => Buffer.from('0d00000025080000000000000000000000', 'hex')),
    );
    for (let i = 0; i < 100; i += 1) {
      peer.bytes(pings);
      world.clock.advance(50);
    }
    assert.ok(connectionOf(first(world.accepted)).outboxBytes < 2 * 1024 * 1024);
    world.clock.advance(10_000);
    assert.equal(first(world.accepted).closed, { kind: 'slow-reader' });
  },
);

connection('ends a peer that takes nothing for the write deadline', () => {
  const world = openWorld();
  world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  world.network.stall('leader', 'peer');
  for (let i = 0; i < 8; i += 1) connectionOf(peer).write(64, NO_HEADER, Buffer.alloc(256 * 1024));
  world.clock.advance(9_900);
  assert.is(peer.closed, null);
  world.clock.advance(200);
  assert.equal(peer.closed, { kind: 'slow-reader' });
});

connection('delivers nothing while paused, and all of it in order afterwards', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  peer.each = (_, there) => there.pause();
  for (const text of ['a', 'b', 'c']) connectionOf(log).write(64, NO_HEADER, Buffer.from(text));
  world.clock.advance(100);
  assert.equal(peer.bodies, ['a']);
  connectionOf(peer).resume();
  world.clock.advance(100);
  assert.equal(peer.bodies, ['a', 'b']);
  peer.each = null;
  connectionOf(peer).resume();
  world.clock.advance(100);
  assert.equal(peer.bodies, ['a', 'b', 'c']);
});

connection('stops reading at the limit of requests in flight', () => {
  const world = openWorld({ limits: { inFlightMax: 3 } });
  const { log } = world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  peer.each = (frame, there) => there.requestStarted(frame.body.length);
  for (let i = 0; i < 10; i += 1) connectionOf(log).write(64, NO_HEADER, Buffer.from([i]));
  world.clock.advance(100);
  assert.is(peer.frames.length, 3);
  connectionOf(peer).requestEnded(1);
  assert.is(peer.frames.length, 4);
  for (let i = 0; i < 9; i += 1) connectionOf(peer).requestEnded(1);
  assert.is(peer.frames.length, 10);
});

connection('pings a silent peer and ends one that is dead (A10)', () => {
  const world = openWorld();
  const { log, events } = world.dial();
  world.clock.advance(100_000);
  assert.is(log.closed, null, 'two silent but living peers stay connected');
  world.network.partition('peer', 'leader');
  world.clock.advance(19_000);
  assert.is(first(world.accepted).closed, null);
  world.clock.advance(12_000);
  assert.is(first(world.accepted).closed?.kind, 'refused');
  assert.ok(events.some((event) => event.kind === 'lost'));
});

connection('does not count the time it does not read against the peer', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  connectionOf(peer).pause();
  world.clock.advance(120_000);
  assert.is(peer.closed, null);
  assert.is(log.closed, null, 'the paused side still shows that it lives');
  connectionOf(peer).resume();
  world.clock.advance(5_000);
  assert.is(peer.closed, null);
});

connection('gives a peer a fresh start after it did not read', () => {
  const world = openWorld();
  world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  connectionOf(peer).pause();
  world.network.stall('peer', 'leader');
  world.clock.advance(50_000);
  connectionOf(peer).resume();
  world.clock.advance(29_000);
  assert.is(peer.closed, null);
  world.clock.advance(2_500);
  assert.is(peer.closed?.kind === 'refused' && peer.closed.errorName, 'STALE');
});

connection('keeps little of many bodies in its outbox, so that a message waits behind little', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  world.network.stall('peer', 'leader');
  for (let i = 0; i < 20; i += 1)
    connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(Buffer.alloc(1_000_000)));
  world.clock.advance(100);
  assert.ok(connectionOf(log).outboxBytes < 600_000, `${connectionOf(log).outboxBytes} bytes wait`);
});

connection('writes what is queued before it closes', () => {
  const world = openWorld();
  const { log } = world.dial({ backoff: { fromMs: 1e9 } });
  world.clock.advance(10);
  for (let i = 0; i < 100; i += 1) connectionOf(log).write(64, NO_HEADER, Buffer.alloc(5000));
  connectionOf(log).close();
  assert.is(log.closed, null);
  world.clock.advance(500);
  assert.is(first(world.accepted).frames.length, 100);
  assert.equal(first(world.accepted).closed, { kind: 'peer-closed', midFrame: false });
  assert.equal(log.closed, { kind: 'local' });
  assert.is(world.network.linkCount, 0);
});

connection('knows a cut frame from a clean end (A8)', () => {
  const world = openWorld();
  const { log } = world.dial({ backoff: { fromMs: 1e9 } });
  world.clock.advance(10);
  connectionOf(log).write(64, NO_HEADER, Buffer.alloc(600_000));
  world.clock.advance(0);
  world.clock.advance(1);
  connectionOf(log).destroy();
  world.clock.advance(100);
  assert.equal(first(world.accepted).closed, { kind: 'peer-closed', midFrame: true });
  assert.is(first(world.accepted).frames.length, 0);
});

connection('carries a large body in pieces while small messages pass it', async () => {
  const world = openWorld({}, { chunking: 'random', seed: 3 });
  const { log } = world.dial();
  world.clock.advance(10);
  const bytes = Buffer.alloc(20 * 1024 * 1024);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = i * 7;
  const outcomes: BodyOutcome[] = [];
  connectionOf(log).writeBody(64, { msgId: 'big' }, bodyFromBytes(bytes), {
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const peer = first(world.accepted);
  const got: Buffer[] = [];
  let smallSeenAt = -1;
  let total = 0;
  peer.each = (frame) => {
    if (frame.incoming === null) {
      smallSeenAt = total;
      return;
    }
    const body = frame.incoming;
    assert.is(body.length, bytes.length);
    body.read({
      onChunk: (chunk) => {
        got.push(Buffer.from(chunk));
        total += chunk.length;
        body.consumed(chunk.length);
      },
      onEnd: () => undefined,
      onFail: (error) => {
        throw error;
      },
    });
  };
  world.clock.advance(5);
  connectionOf(log).write(64, { msgId: 'small' }, Buffer.from('quick'));
  world.clock.advance(5_000);
  assert.ok(Buffer.concat(got).equals(bytes));
  assert.ok(
    smallSeenAt >= 0 && smallSeenAt < bytes.length / 2,
    `the small message came after ${smallSeenAt} bytes`,
  );
  assert.equal(outcomes, [{ kind: 'sent', bytes: bytes.length }]);
  assert.equal(connectionOf(peer).bodyCounts, { incoming: 0, outgoing: 0 });
});

connection('a body that takes longer than a frame may is no slow frame', () => {
  const world = openWorld({}, { latencyMs: { from: 200, to: 300 } });
  const { log } = world.dial();
  world.clock.advance(1_900);
  connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(Buffer.alloc(30 * 1024 * 1024)));
  const peer = first(world.accepted);
  let ended = false;
  peer.each = (frame) =>
    frame.incoming?.read({
      onChunk: (chunk) => frame.incoming?.consumed(chunk.length),
      onEnd: () => {
        ended = true;
      },
      onFail: (error) => {
        throw error;
      },
    });
  world.clock.advance(20_000);
  assert.is(ended, false, 'slow enough to matter');
  world.clock.advance(120_000);
  assert.is(ended, true);
});

connection('sends no further than the window while nobody reads the body', () => {
  const world = openWorld({ limits: { windowBytes: 100_000 } });
  const { log } = world.dial();
  world.clock.advance(10);
  let pulled = 0;
  connectionOf(log).writeBody(64, NO_HEADER, {
    read(bytesMax, done) {
      pulled += bytesMax;
      done(null, Buffer.alloc(bytesMax));
    },
    close: () => undefined,
  });
  world.clock.advance(60_000);
  assert.is(pulled, 100_000);
  const incoming = first(world.accepted).frames[0]?.incoming;
  assert.is(incoming?.receivedBytes, 100_000);
  incoming?.consumed(60_000);
  world.clock.advance(10);
  assert.is(pulled, 160_000);
});

connection('chunks come back to their source in order, when they have left and not before', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  world.network.stall('peer', 'leader');
  const given: Uint8Array[] = [];
  const back: Uint8Array[] = [];
  connectionOf(log).writeBody(64, NO_HEADER, {
    read: (bytesMax, done) => {
      const chunk = Buffer.alloc(bytesMax);
      given.push(chunk);
      done(null, chunk);
    },
    release: (chunk) => back.push(chunk),
    close: () => undefined,
  });
  world.clock.advance(100);
  assert.ok(given.length > 0);
  assert.is(back.length, 0, 'they wait in a socket that is full');
  world.network.heal('peer', 'leader');
  world.clock.advance(100);
  assert.ok(back.length > 2);
  assert.ok(back.every((chunk, i) => chunk === given[i]));
});

connection('a reader can stop a body, and a source can fail', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const outcomes: BodyOutcome[] = [];
  const endless = {
    read: (bytesMax: number, done: (e: null, c: Uint8Array) => void) => done(null, new Uint8Array(bytesMax)),
    close: () => undefined,
  };
  connectionOf(log).writeBody(64, NO_HEADER, endless, { onOutcome: (outcome) => outcomes.push(outcome) });
  world.clock.advance(100);
  const peer = first(world.accepted);
  peer.frames[0]?.incoming?.stop(1204);
  world.clock.advance(100);
  assert.equal(outcomes, [{ kind: 'stopped', code: 1204 }]);
  const broken = {
    read: (_: number, done: (e: Error, c: null) => void) => done(new Error('disk'), null),
    close: () => undefined,
  };
  connectionOf(log).writeBody(64, NO_HEADER, broken, { onOutcome: (outcome) => outcomes.push(outcome) });
  world.clock.advance(100);
  assert.is(outcomes[1]?.kind, 'failed');
  let failed = '';
  peer.frames[1]?.incoming?.read({
    onChunk: () => undefined,
    onEnd: () => undefined,
    onFail: (error) => {
      failed = error.code;
    },
  });
  assert.is(failed, 'ERR_BODY_BROKEN');
});

connection('refuses a body over the limit and keeps the connection', () => {
  const world = openWorld({ limits: { bodyBytesMax: 1000 } });
  const { log } = world.dial();
  world.clock.advance(10);
  assert.is(connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(Buffer.alloc(1001))), 'too-large');
  const outcomes: BodyOutcome[] = [];
  const unknown = bodyFromBytes(Buffer.alloc(5000));
  connectionOf(log).writeBody(
    64,
    NO_HEADER,
    { ...unknown, length: undefined },
    { onOutcome: (outcome) => outcomes.push(outcome) },
  );
  world.clock.advance(100);
  assert.equal(
    log.errors.map((error) => error.name),
    ['PAYLOAD_TOO_LARGE'],
  );
  assert.is(log.closed, null);
});

connection('refuses to send a frame the peer would not take', () => {
  const world = openWorld({ limits: { payloadBytesMax: 10_000 } });
  const { log } = world.dial();
  world.clock.advance(10);
  assert.is(connectionOf(log).write(64, NO_HEADER, Buffer.alloc(9_998)), 'accepted');
  assert.is(connectionOf(log).write(64, NO_HEADER, Buffer.alloc(9_999)), 'too-large');
  assert.is(connectionOf(log).write(64, { msgId: 'm' }, Buffer.alloc(9_998)), 'too-large');
});

connection('a sender can give a body up', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const outcomes: BodyOutcome[] = [];
  const silent = { read: () => undefined, close: () => undefined };
  const body = connectionOf(log).writeBody(64, NO_HEADER, silent, {
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  world.clock.advance(10);
  if (typeof body === 'object') body.cancel();
  world.clock.advance(10);
  assert.is(outcomes[0]?.kind, 'failed');
  assert.is(first(world.accepted).frames[0]?.incoming?.isOpen, false);
});

connection('compresses chunks one by one where asked to', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const bytes = Buffer.from(Array.from({ length: 40_000 }, (_, i) => `line ${i * 7919}`).join('\n'));
  connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(bytes), { compress: 'gzip' });
  const peer = first(world.accepted);
  const got: Buffer[] = [];
  peer.each = (frame) =>
    frame.incoming?.read({
      onChunk: (chunk) => got.push(Buffer.from(chunk)),
      onEnd: () => undefined,
      onFail: (error) => {
        throw error;
      },
    });
  world.clock.advance(1000);
  assert.ok(Buffer.concat(got).equals(bytes));
});

connection('says Goodbye, refuses new submits with DRAINING and lets answers out', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  const peer = first(world.accepted);
  let drained = false;
  world.listener.drain(5_000, () => {
    drained = true;
  });
  world.clock.advance(10);
  assert.equal(log.goodbyes, [5_000]);
  connectionOf(log).write(1, { msgId: 'late' }, EMPTY);
  world.clock.advance(10);
  assert.equal(
    log.errors.map(({ name, corrId, retryable }) => ({ name, corrId, retryable })),
    [{ name: 'DRAINING', corrId: 'late', retryable: true }],
  );
  connectionOf(peer).write(5, NO_HEADER, Buffer.from('result'));
  world.clock.advance(10);
  assert.equal(log.bodies, ['result']);
  assert.is(drained, false);
  world.clock.advance(6_000);
  assert.is(drained, true);
  assert.is(log.closed?.kind, 'peer-closed');
});

connection.run();
