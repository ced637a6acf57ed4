import { type BodyOutcome, bodyFromBytes, IdentityStore, NO_HEADER } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf, first, openRig } from '../connection-rig.js';
import { hello, rawPeer } from '../raw-peer.js';

const connection = suite('connection');
const EMPTY = Buffer.alloc(0);

connection('frames go both ways after the handshake', () => {
  const rig = openRig();
  const { log } = rig.dial({ name: 'ann' });
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  assert.is(connectionOf(peer).handshake.claimedName, 'ann');
  assert.is(connectionOf(peer).handshake.role, 'client');
  assert.is(connectionOf(log).handshake.identityName, 'local');
  assert.is(connectionOf(log).write(64, { msgId: 'm1' }, Buffer.from('ping')), 'accepted');
  rig.clock.advance(5);
  assert.equal(peer.bodies, ['ping']);
  assert.is(peer.frames[0]?.header.msgId, 'm1');
  connectionOf(peer).write(65, { corrId: 'm1' }, Buffer.from('pong'));
  rig.clock.advance(5);
  assert.equal(log.bodies, ['pong']);
  assert.is(log.frames[0]?.header.corrId, 'm1');
});

for (const chunking of ['whole', 'random', 'byte'] as const) {
  connection(`frames arrive complete and in order with ${chunking} chunking of the bytes`, () => {
    const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: '11'.repeat(32) }] }]);
    const rig = openRig(
      { auth: { kind: 'hmac', identities } },
      { chunking, seed: 9, latencyMs: { from: 0, to: 3 } },
    );
    const { log } = rig.dial({ auth: { kind: 'hmac', keyId: 'k1', key: '11'.repeat(32) } });
    rig.clock.advance(50);
    const sent = Array.from({ length: 200 }, (_, i) => `message ${i} ${'x'.repeat(i)}`);
    for (const text of sent) connectionOf(log).write(64, NO_HEADER, Buffer.from(text));
    rig.clock.advance(100);
    assert.equal(first(rig.accepted).bodies, sent);
  });
}

connection('`write` returns `backpressure`, then `full`; `onWritable` follows when the outbox is low', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const sender = connectionOf(log);
  rig.network.stall('peer', 'leader');
  const body = Buffer.alloc(512 * 1024);
  const answers = Array.from({ length: 20 }, () => sender.write(64, NO_HEADER, body));
  assert.equal([...new Set(answers)], ['accepted', 'backpressure', 'full']);
  const queued = answers.filter((answer) => answer !== 'full').length;
  assert.ok(sender.outboxBytes < 10 * 1024 * 1024);
  assert.is(log.writableCount, 0);
  rig.network.heal('peer', 'leader');
  rig.clock.advance(1000);
  assert.is(first(rig.accepted).frames.length, queued, 'what was refused was not sent, what was taken was');
  assert.is(log.writableCount, 1);
  assert.is(sender.write(64, NO_HEADER, body), 'accepted');
});

connection('`onWritable` follows `backpressure` also where the socket takes all bytes at once', () => {
  const rig = openRig({ limits: { outboxHighBytes: 1_000 } });
  const { log } = rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  const sender = connectionOf(peer);
  const answers = Array.from({ length: 5 }, () => sender.write(64, NO_HEADER, Buffer.alloc(500)));
  assert.equal(answers, ['accepted', 'backpressure', 'backpressure', 'backpressure', 'backpressure']);
  rig.clock.advance(10);
  assert.is(peer.writableCount, 1);
  connectionOf(log).write(64, NO_HEADER, Buffer.from('still delivered'));
  rig.clock.advance(10);
  assert.equal(peer.bodies, ['still delivered']);
});

connection('a listener pauses reading from a peer that does not read', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  peer.onEachFrame = (_, there) => there.write(65, NO_HEADER, Buffer.alloc(64 * 1024));
  rig.network.stall('leader', 'peer');
  for (let i = 0; i < 1000; i += 1) connectionOf(log).write(64, NO_HEADER, Buffer.alloc(1000));
  rig.clock.advance(2000);
  assert.ok(peer.frames.length < 40, `${peer.frames.length} requests were taken`);
  assert.ok(connectionOf(peer).outboxBytes < 3 * 1024 * 1024);
  rig.network.heal('leader', 'peer');
  rig.clock.advance(2000);
  assert.is(log.frames.length, 1000);
});

connection(
  'a peer that sends Pings and reads no Pong has a bounded outbox and is closed as a slow reader',
  () => {
    const rig = openRig();
    const peer = rawPeer(rig);
    peer.frame(9, hello());
    rig.clock.advance(5);
    rig.network.stall('leader', 'raw');
    const pings = Buffer.concat(
      Array.from({ length: 10_000 }, () => Buffer.from('0d00000025080000000000000000000000', 'hex')),
    );
    for (let i = 0; i < 100; i += 1) {
      peer.bytes(pings);
      rig.clock.advance(50);
    }
    assert.ok(connectionOf(first(rig.accepted)).outboxBytes < 2 * 1024 * 1024);
    rig.clock.advance(10_000);
    assert.equal(first(rig.accepted).closed, { kind: 'slow-reader' });
  },
);

connection('a peer that reads nothing until the write deadline is closed as a slow reader', () => {
  const rig = openRig();
  rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  rig.network.stall('leader', 'peer');
  for (let i = 0; i < 8; i += 1) connectionOf(peer).write(64, NO_HEADER, Buffer.alloc(256 * 1024));
  rig.clock.advance(9_900);
  assert.is(peer.closed, null);
  rig.clock.advance(200);
  assert.equal(peer.closed, { kind: 'slow-reader' });
});

connection('a paused connection delivers nothing; after `resume` all frames arrive in order', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  peer.onEachFrame = (_, there) => there.pause();
  for (const text of ['a', 'b', 'c']) connectionOf(log).write(64, NO_HEADER, Buffer.from(text));
  rig.clock.advance(100);
  assert.equal(peer.bodies, ['a']);
  connectionOf(peer).resume();
  rig.clock.advance(100);
  assert.equal(peer.bodies, ['a', 'b']);
  peer.onEachFrame = null;
  connectionOf(peer).resume();
  rig.clock.advance(100);
  assert.equal(peer.bodies, ['a', 'b', 'c']);
});

connection('reading pauses at the limit of requests in flight', () => {
  const rig = openRig({ limits: { inFlightMax: 3 } });
  const { log } = rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  peer.onEachFrame = (frame, there) => there.requestStarted(frame.body.length);
  for (let i = 0; i < 10; i += 1) connectionOf(log).write(64, NO_HEADER, Buffer.from([i]));
  rig.clock.advance(100);
  assert.is(peer.frames.length, 3);
  connectionOf(peer).requestEnded(1);
  assert.is(peer.frames.length, 4);
  for (let i = 0; i < 9; i += 1) connectionOf(peer).requestEnded(1);
  assert.is(peer.frames.length, 10);
});

connection('silent peers are kept alive by Pings; a peer without a sign of life is closed', () => {
  const rig = openRig();
  const { log, events } = rig.dial();
  rig.clock.advance(100_000);
  assert.is(log.closed, null, 'two silent but living peers stay connected');
  rig.network.partition('peer', 'leader');
  rig.clock.advance(19_000);
  assert.is(first(rig.accepted).closed, null);
  rig.clock.advance(12_000);
  assert.is(first(rig.accepted).closed?.kind, 'refused');
  assert.ok(events.some((event) => event.kind === 'lost'));
});

connection('time during which reading is paused does not count as silence of the peer', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  connectionOf(peer).pause();
  rig.clock.advance(120_000);
  assert.is(peer.closed, null);
  assert.is(log.closed, null, 'the paused side still shows that it lives');
  connectionOf(peer).resume();
  rig.clock.advance(5_000);
  assert.is(peer.closed, null);
});

connection('after `resume` the deadline for silence starts again', () => {
  const rig = openRig();
  rig.dial();
  rig.clock.advance(10);
  const peer = first(rig.accepted);
  connectionOf(peer).pause();
  rig.network.stall('peer', 'leader');
  rig.clock.advance(50_000);
  connectionOf(peer).resume();
  rig.clock.advance(29_000);
  assert.is(peer.closed, null);
  rig.clock.advance(2_500);
  assert.is(peer.closed?.kind === 'refused' && peer.closed.errorName, 'STALE');
});

connection('chunks of many bodies fill only a small part of the outbox', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  rig.network.stall('peer', 'leader');
  for (let i = 0; i < 20; i += 1)
    connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(Buffer.alloc(1_000_000)));
  rig.clock.advance(100);
  assert.ok(connectionOf(log).outboxBytes < 600_000, `${connectionOf(log).outboxBytes} bytes wait`);
});

connection('`close` writes the outbox first', () => {
  const rig = openRig();
  const { log } = rig.dial({ backoff: { fromMs: 1e9 } });
  rig.clock.advance(10);
  for (let i = 0; i < 100; i += 1) connectionOf(log).write(64, NO_HEADER, Buffer.alloc(5000));
  connectionOf(log).close();
  assert.is(log.closed, null);
  rig.clock.advance(500);
  assert.is(first(rig.accepted).frames.length, 100);
  assert.equal(first(rig.accepted).closed, { kind: 'peer-closed', midFrame: false });
  assert.equal(log.closed, { kind: 'local' });
  assert.is(rig.network.linkCount, 0);
});

connection('a stream that ends inside a frame is reported as `midFrame`', () => {
  const rig = openRig();
  const { log } = rig.dial({ backoff: { fromMs: 1e9 } });
  rig.clock.advance(10);
  connectionOf(log).write(64, NO_HEADER, Buffer.alloc(600_000));
  rig.clock.advance(0);
  rig.clock.advance(1);
  connectionOf(log).destroy();
  rig.clock.advance(100);
  assert.equal(first(rig.accepted).closed, { kind: 'peer-closed', midFrame: true });
  assert.is(first(rig.accepted).frames.length, 0);
});

connection('small frames pass a large streamed body', async () => {
  const rig = openRig({}, { chunking: 'random', seed: 3 });
  const { log } = rig.dial();
  rig.clock.advance(10);
  const bytes = Buffer.alloc(20 * 1024 * 1024);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = i * 7;
  const outcomes: BodyOutcome[] = [];
  connectionOf(log).writeBody(64, { msgId: 'big' }, bodyFromBytes(bytes), {
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const peer = first(rig.accepted);
  const got: Buffer[] = [];
  let smallSeenAt = -1;
  let total = 0;
  peer.onEachFrame = (frame) => {
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
  rig.clock.advance(5);
  connectionOf(log).write(64, { msgId: 'small' }, Buffer.from('quick'));
  rig.clock.advance(5_000);
  assert.ok(Buffer.concat(got).equals(bytes));
  assert.ok(
    smallSeenAt >= 0 && smallSeenAt < bytes.length / 2,
    `the small message came after ${smallSeenAt} bytes`,
  );
  assert.equal(outcomes, [{ kind: 'written', bytes: bytes.length }]);
  assert.equal(connectionOf(peer).bodyCounts, { incoming: 0, outgoing: 0 });
});

connection('the deadline of a frame does not apply to a streamed body', () => {
  const rig = openRig({}, { latencyMs: { from: 200, to: 300 } });
  const { log } = rig.dial();
  rig.clock.advance(1_900);
  connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(Buffer.alloc(30 * 1024 * 1024)));
  const peer = first(rig.accepted);
  let ended = false;
  peer.onEachFrame = (frame) =>
    frame.incoming?.read({
      onChunk: (chunk) => frame.incoming?.consumed(chunk.length),
      onEnd: () => {
        ended = true;
      },
      onFail: (error) => {
        throw error;
      },
    });
  rig.clock.advance(20_000);
  assert.is(ended, false, 'slow enough to matter');
  rig.clock.advance(120_000);
  assert.is(ended, true);
});

connection('a sender stops at the window while the body has no reader', () => {
  const rig = openRig({ limits: { windowBytes: 100_000 } });
  const { log } = rig.dial();
  rig.clock.advance(10);
  let pulled = 0;
  connectionOf(log).writeBody(64, NO_HEADER, {
    read(bytesMax, done) {
      pulled += bytesMax;
      done(null, Buffer.alloc(bytesMax));
    },
    close: () => undefined,
  });
  rig.clock.advance(60_000);
  assert.is(pulled, 100_000);
  const incoming = first(rig.accepted).frames[0]?.incoming;
  assert.is(incoming?.receivedBytes, 100_000);
  incoming?.consumed(60_000);
  rig.clock.advance(10);
  assert.is(pulled, 160_000);
});

connection('chunks are released to their source in order, after they have left the process', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  rig.network.stall('peer', 'leader');
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
  rig.clock.advance(100);
  assert.ok(given.length > 0);
  assert.is(back.length, 0, 'they wait in a socket that is full');
  rig.network.heal('peer', 'leader');
  rig.clock.advance(100);
  assert.ok(back.length > 2);
  assert.ok(back.every((chunk, i) => chunk === given[i]));
});

connection('a body ends at the stop of its reader and at the failure of its source', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const outcomes: BodyOutcome[] = [];
  const endless = {
    read: (bytesMax: number, done: (e: null, c: Uint8Array) => void) => done(null, new Uint8Array(bytesMax)),
    close: () => undefined,
  };
  connectionOf(log).writeBody(64, NO_HEADER, endless, { onOutcome: (outcome) => outcomes.push(outcome) });
  rig.clock.advance(100);
  const peer = first(rig.accepted);
  peer.frames[0]?.incoming?.stop(1204);
  rig.clock.advance(100);
  assert.equal(outcomes, [{ kind: 'stopped', code: 1204 }]);
  const broken = {
    read: (_: number, done: (e: Error, c: null) => void) => done(new Error('disk'), null),
    close: () => undefined,
  };
  connectionOf(log).writeBody(64, NO_HEADER, broken, { onOutcome: (outcome) => outcomes.push(outcome) });
  rig.clock.advance(100);
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

connection('a body over the limit is refused and the connection stays open', () => {
  const rig = openRig({ limits: { bodyBytesMax: 1000 } });
  const { log } = rig.dial();
  rig.clock.advance(10);
  assert.is(connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(Buffer.alloc(1001))), 'too-large');
  const outcomes: BodyOutcome[] = [];
  const unknown = bodyFromBytes(Buffer.alloc(5000));
  connectionOf(log).writeBody(
    64,
    NO_HEADER,
    { ...unknown, length: undefined },
    { onOutcome: (outcome) => outcomes.push(outcome) },
  );
  rig.clock.advance(100);
  assert.equal(
    log.errors.map((error) => error.name),
    ['PAYLOAD_TOO_LARGE'],
  );
  assert.is(log.closed, null);
});

connection('`write` returns `too-large` for a frame above the limit of the peer', () => {
  const rig = openRig({ limits: { payloadBytesMax: 10_000 } });
  const { log } = rig.dial();
  rig.clock.advance(10);
  assert.is(connectionOf(log).write(64, NO_HEADER, Buffer.alloc(9_998)), 'accepted');
  assert.is(connectionOf(log).write(64, NO_HEADER, Buffer.alloc(9_999)), 'too-large');
  assert.is(connectionOf(log).write(64, { msgId: 'm' }, Buffer.alloc(9_998)), 'too-large');
});

connection('`cancel` ends an outgoing body on both sides', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const outcomes: BodyOutcome[] = [];
  const silent = { read: () => undefined, close: () => undefined };
  const body = connectionOf(log).writeBody(64, NO_HEADER, silent, {
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  rig.clock.advance(10);
  if (typeof body === 'object') body.cancel();
  rig.clock.advance(10);
  assert.is(outcomes[0]?.kind, 'failed');
  assert.is(first(rig.accepted).frames[0]?.incoming?.isOpen, false);
});

connection('`compress` compresses chunk by chunk', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  const bytes = Buffer.from(Array.from({ length: 40_000 }, (_, i) => `line ${i * 7919}`).join('\n'));
  connectionOf(log).writeBody(64, NO_HEADER, bodyFromBytes(bytes), { compress: 'gzip' });
  const peer = first(rig.accepted);
  const got: Buffer[] = [];
  peer.onEachFrame = (frame) =>
    frame.incoming?.read({
      onChunk: (chunk) => got.push(Buffer.from(chunk)),
      onEnd: () => undefined,
      onFail: (error) => {
        throw error;
      },
    });
  rig.clock.advance(1000);
  assert.ok(Buffer.concat(got).equals(bytes));
});

connection(
  'a draining listener notifies its peers, refuses new submits with DRAINING and writes pending results',
  () => {
    const rig = openRig();
    const { log } = rig.dial();
    rig.clock.advance(10);
    const peer = first(rig.accepted);
    let drained = false;
    rig.listener.drain(5_000, () => {
      drained = true;
    });
    rig.clock.advance(10);
    assert.equal(log.peerDrains, [5_000]);
    connectionOf(log).write(1, { msgId: 'late' }, EMPTY);
    rig.clock.advance(10);
    assert.equal(
      log.errors.map(({ name, corrId, retryable }) => ({ name, corrId, retryable })),
      [{ name: 'DRAINING', corrId: 'late', retryable: true }],
    );
    connectionOf(peer).write(5, NO_HEADER, Buffer.from('result'));
    rig.clock.advance(10);
    assert.equal(log.bodies, ['result']);
    assert.is(drained, false);
    rig.clock.advance(6_000);
    assert.is(drained, true);
    assert.is(log.closed?.kind, 'peer-closed');
  },
);

connection.run();
