import { FrameType, IdentityStore, Listener, nodeClock, nodeNet } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ConnectionRig, connectionOf, first, openRig } from '../connection-rig.js';
import { hello, rawPeer } from '../raw-peer.js';

const listener = suite('listener');
const KEY = '11'.repeat(32);

function unexpected(): never {
  throw new Error('no connection was expected');
}

listener('a public address without TLS and authentication is refused', () => {
  const identities = new IdentityStore([]);
  const hmac = { kind: 'hmac', identities } as const;
  const tls = { key: 'k', cert: 'c' };
  const table = [
    [{ host: '0.0.0.0' }, ['TLS', 'authentication']],
    [{ host: '::' }, ['TLS', 'authentication']],
    [{ host: '192.0.2.7', auth: hmac }, ['TLS']],
    [{ host: 'example.org', tls }, ['authentication']],
    [{ host: '10.0.0.1', tls, auth: hmac, profile: 'trusted' }, ["profile 'public'"]],
  ] as const;
  for (const [{ host, ...options }, missing] of table) {
    assert.throws(
      () =>
        new Listener({
          net: nodeNet,
          clock: nodeClock,
          address: { host, port: 0 },
          onConnection: unexpected,
          ...options,
        }),
      (error: { code: string; missing: readonly string[] }) => {
        assert.equal(error.missing, missing);
        return error.code === 'ERR_UNSAFE_BIND';
      },
    );
  }
});

listener('127.0.0.1 is the default address', async () => {
  const address = await new Promise((resolve) => {
    const opened = new Listener({
      net: nodeNet,
      clock: nodeClock,
      onListening: (bound) => {
        opened.close();
        resolve(bound);
      },
      onConnection: unexpected,
    });
  });
  assert.is((address as { host: string }).host, '127.0.0.1');
});

listener('an insecure listener warns every minute', () => {
  const rig = openRig({ address: { host: '0.0.0.0', port: 7000 }, insecure: true });
  rig.clock.advance(125_000);
  assert.is(rig.events.filter((event) => event.kind === 'insecure').length, 3);
});

listener('the minimal dialect works as documented', () => {
  const rig = openRig();
  const peer = rawPeer(rig);
  peer.bytes('050000000a00000000', '09000000040400000001000000');
  rig.clock.advance(5);
  const log = first(rig.accepted);
  const connection = connectionOf(log);
  assert.is(connection.handshake.dialect, 'minimal');
  assert.is(connection.handshake.role, 'worker');
  assert.equal(
    log.frames.map(({ type, body }) => [type, body.toString('hex')]),
    [[4, '01000000']],
  );
  connection.write(2, { msgId: 'not sent to a minimal peer' }, Buffer.from('hi'));
  rig.clock.advance(5);
  assert.equal(peer.frames, [{ type: 2, payload: Buffer.from('hi') }]);
  rig.clock.advance(60_000);
  assert.equal(peer.types, [2], 'no Ping for a minimal peer');
});

listener('a minimal client submits many megabytes in one frame', () => {
  const rig = openRig();
  const peer = rawPeer(rig);
  peer.frame(9);
  peer.frame(1, Buffer.alloc(20_000_000, 7));
  rig.clock.advance(1000);
  assert.is(first(rig.accepted).frames[0]?.body.length, 20_000_000);
});

listener('a minimal peer gets no Error; a handshake frame after its Hello closes the connection', () => {
  const rig = openRig();
  const peer = rawPeer(rig);
  peer.frame(10);
  peer.frame(50);
  peer.frame(37, Buffer.alloc(3));
  rig.clock.advance(100);
  assert.is(peer.closed, false);
  peer.frame(9);
  rig.clock.advance(2000);
  assert.equal(peer.frames, []);
  assert.is(peer.closed, true);
});

listener('a connection over the limit is refused until another one is closed', () => {
  const rig = openRig({ limits: { connectionsMax: 2 } });
  const one = rawPeer(rig, 'a');
  rawPeer(rig, 'b');
  assert.throws(() => rawPeer(rig, 'c'), /ECONNRESET/);
  assert.equal(rig.events.at(-1), { kind: 'refused', remote: 'c', cause: 'limits' });
  one.end();
  rig.clock.advance(3_000);
  rawPeer(rig, 'c');
});

listener('unauthenticated sockets are limited per address and in total', () => {
  const rig = openRig({
    profile: 'public',
    limits: { unauthenticatedMax: 5, unauthenticatedPerAddressMax: 2 },
  });
  rawPeer(rig, 'a').frame(9, hello());
  rawPeer(rig, 'a').frame(9, hello());
  rig.clock.advance(5);
  rawPeer(rig, 'a');
  rawPeer(rig, 'a');
  assert.throws(() => rawPeer(rig, 'a'), /ECONNRESET/);
  rawPeer(rig, 'b');
  rawPeer(rig, 'c');
  rawPeer(rig, 'd');
  assert.throws(() => rawPeer(rig, 'e'), /ECONNRESET/);
  rig.clock.advance(3_000);
  assert.equal(rig.listener.usage, { connections: 2, unauthenticated: 0, gatheredBytes: 0 });
});

listener('the connections of one identity are limited', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const rig = openRig({ auth: { kind: 'hmac', identities }, limits: { connectionsPerIdentityMax: 2 } });
  const dials = Array.from({ length: 3 }, () => rig.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } }));
  rig.clock.advance(100);
  assert.is(rig.listener.connections, 2);
  const lost = dials.flatMap(({ events }) => events.filter((event) => event.kind === 'lost'));
  assert.is(lost.length, 1);
  const [only] = lost;
  assert.match(JSON.stringify(only), /TOO_MANY_CONNECTIONS/);
  assert.ok(only !== undefined && only.retryInMs >= 5_000, 'the dialer waits for the delay of the Error');
});

/** A peer that guesses a key. */
function guesser(rig: ConnectionRig, byte: number): ReturnType<typeof rawPeer> {
  const peer = rawPeer(rig, 'attacker');
  peer.frame(9, hello());
  const guess = Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(32, byte)]);
  peer.frame(FrameType.Auth, guess);
  return peer;
}

listener(
  'wrong keys of an address that guesses too often are answered late; a valid key of it is not',
  () => {
    const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
    const rig = openRig({ auth: { kind: 'hmac', identities }, limits: { authFailuresPerMinuteMax: 2 } });
    for (let i = 0; i < 2; i += 1) {
      const peer = guesser(rig, i);
      rig.clock.advance(10);
      assert.equal(peer.errors, ['AUTH_FAILED']);
    }
    const late = guesser(rig, 3);
    rig.clock.advance(1_000);
    assert.equal(late.errors, []);
    const { log } = rig.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } }, 'attacker');
    rig.clock.advance(10);
    assert.ok(log.connection !== null, 'the owner of the key is not locked out');
    rig.clock.advance(1_000);
    assert.equal(late.errors, ['AUTH_FAILED']);
    rig.clock.advance(61_000);
    const afterwards = guesser(rig, 4);
    rig.clock.advance(10);
    assert.equal(afterwards.errors, ['AUTH_FAILED'], 'the delay has ended');
  },
);

listener('a hello without a key is refused, and is not a guess', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const rig = openRig({ auth: { kind: 'hmac', identities }, limits: { authFailuresPerMinuteMax: 2 } });
  for (let i = 0; i < 12; i += 1) rawPeer(rig, 'attacker').frame(9, hello({ methods: ['none'] }));
  rig.clock.advance(10);
  const first = guesser(rig, 1);
  rig.clock.advance(10);
  assert.equal(first.errors, ['AUTH_FAILED']);
});

// A peer of a later version is served as far as both versions have frames in common.
listener('a frame of an unknown type gets an Error and is skipped', () => {
  const rig = openRig();
  const peer = rawPeer(rig);
  peer.frame(9, hello({ versionMin: 1, versionMax: 9 }));
  peer.frame(50, Buffer.from('from a later version'));
  peer.message(64, { msgId: 'm' }, Buffer.from('known'));
  rig.clock.advance(100);
  assert.equal(peer.errors, ['UNKNOWN_TYPE']);
  assert.equal(first(rig.accepted).bodies, ['known']);
  assert.is(peer.closed, false);
});

listener('a minimal peer stays connected in silence, and its transport frames are skipped', () => {
  const rig = openRig();
  const peer = rawPeer(rig);
  peer.frame(10);
  for (let i = 0; i < 100; i += 1) {
    peer.frame(FrameType.Ping, Buffer.alloc(8));
    rig.clock.advance(60_000);
  }
  peer.frame(4);
  rig.clock.advance(10);
  assert.equal(peer.frames, []);
  assert.is(peer.closed, false);
  assert.is(first(rig.accepted).frames.length, 1);
});

listener('a connection survives ten errors of a kind in a minute, not eleven', () => {
  const table: readonly (readonly [string, number, (i: number) => readonly [number, Buffer]])[] = [
    ['UNKNOWN_TYPE', 10, () => [50, Buffer.alloc(0)]],
    ['MALFORMED', 10, () => [64, Buffer.from('ffff', 'hex')]],
  ];
  for (const [name, allowed, make] of table) {
    const rig = openRig();
    const peer = rawPeer(rig);
    peer.frame(9, hello());
    for (let i = 0; i < allowed; i += 1) peer.frame(...make(i));
    rig.clock.advance(100);
    assert.equal(
      peer.errors,
      Array.from({ length: allowed }, () => name),
    );
    assert.is(peer.closed, false);
    peer.frame(...make(allowed));
    rig.clock.advance(2_000);
    assert.is(peer.errors.length, allowed + 1);
    assert.is(peer.closed, true);
  }
});

listener('a connection survives FORBIDDEN a hundred times in a minute, not more', () => {
  const rig = openRig();
  const { log } = rig.dial({ backoff: { fromMs: 1e9, toMs: 1e9 } });
  rig.clock.advance(10);
  const { connection } = first(rig.accepted);
  for (let i = 0; i < 100; i += 1) connection?.writeError('FORBIDDEN', { corrId: `m${i}` });
  rig.clock.advance(10);
  assert.is(log.errors.length, 100);
  assert.is(log.errors[7]?.corrId, 'm7');
  assert.is(log.closed, null);
  connection?.writeError('FORBIDDEN');
  rig.clock.advance(2_000);
  assert.is(log.closed?.kind, 'peer-error');
});

listener('a frame over the limit or with a reserved bit closes the connection', () => {
  for (const payload of [Buffer.alloc(1_114_113), Buffer.from('0400' + '01000080', 'hex')]) {
    const rig = openRig();
    const peer = rawPeer(rig);
    peer.frame(9, hello());
    peer.frame(64, payload);
    rig.clock.advance(2_000);
    assert.equal(peer.errors, ['FRAME']);
    assert.is(peer.closed, true);
  }
});

listener('a peer that writes a frame too slowly, byte by byte, is closed', () => {
  const rig = openRig();
  const peer = rawPeer(rig);
  peer.frame(9, hello());
  rig.clock.advance(5);
  peer.bytes('69000000406400000000');
  for (let i = 0; i < 98; i += 1) {
    rig.clock.advance(100);
    peer.bytes('00');
  }
  assert.is(peer.closed, false);
  rig.clock.advance(1_500);
  assert.equal(peer.errors, ['SLOW_FRAME']);
  assert.is(peer.closed, true);
});

listener('violations of credit, ids and lengths of bodies get their errors', () => {
  const open = (id: number, length?: number) => ({
    bodyId: id,
    ...(length === undefined ? {} : { bodyLength: length }),
  });
  const chunk = (id: number, flags: number, bytes: number) => {
    const payload = Buffer.alloc(5 + bytes);
    payload.writeUInt32LE(id, 0);
    payload[4] = flags;
    return payload;
  };
  const rig = openRig({ limits: { windowBytes: 1000, chunkBytesMax: 2000, bodiesMax: 2 } });
  const peer = rawPeer(rig);
  peer.frame(9, hello());
  peer.message(64, open(1));
  peer.frame(40, chunk(1, 0, 1001));
  rig.clock.advance(5);
  assert.equal(peer.errors, ['CREDIT']);
  peer.frame(40, chunk(1, 0, 10));
  rig.clock.advance(5);
  assert.is(peer.errors.length, 1, 'chunks in flight after a BodyStop are ignored');
  peer.message(64, open(1));
  peer.frame(40, chunk(9, 0, 1));
  peer.message(64, open(2, 5));
  peer.frame(40, chunk(2, 1, 4));
  peer.message(64, open(3, 5));
  peer.frame(40, chunk(3, 0, 6));
  peer.message(64, open(4));
  peer.frame(40, chunk(4, 0, 0));
  rig.clock.advance(5);
  assert.equal(peer.errors.slice(1), ['MALFORMED', 'MALFORMED', 'MALFORMED', 'MALFORMED', 'MALFORMED']);
  peer.message(64, open(5));
  peer.message(64, open(6));
  peer.message(64, open(7));
  rig.clock.advance(5);
  assert.is(peer.errors.at(-1), 'BUSY');
  assert.equal(connectionOf(first(rig.accepted)).bodyCounts, { incoming: 2, outgoing: 0 });
  peer.end();
  rig.clock.advance(2_000);
  let broken = 0;
  for (const { incoming } of first(rig.accepted).frames) {
    incoming?.read({
      onChunk: () => undefined,
      onEnd: () => assert.unreachable(),
      onFail: () => (broken += 1),
    });
  }
  assert.is(broken, 6);
});

listener.run();
