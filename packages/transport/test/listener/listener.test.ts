import { FrameType, IdentityStore, Listener, NO_HEADER, nodeClock, nodeNet } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hello, rawPeer } from '../raw-peer.js';
import { connectionOf, first, openWorld } from '../world.js';

const listener = suite('listener');
const KEY = '11'.repeat(32);

function nobody(): never {
  throw new Error('nobody was expected');
}

listener('refuses to bind where strangers could come in', () => {
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
          onConnection: nobody,
          ...options,
        }),
      (error: { code: string; missing: readonly string[] }) => {
        assert.equal(error.missing, missing);
        return error.code === 'ERR_UNSAFE_BIND';
      },
    );
  }
});

listener('binds 127.0.0.1 unless told otherwise', async () => {
  const address = await new Promise((resolve) => {
    const opened = new Listener({
      net: nodeNet,
      clock: nodeClock,
      onListening: (bound) => {
        opened.close();
        resolve(bound);
      },
      onConnection: nobody,
    });
  });
  assert.is((address as { host: string }).host, '127.0.0.1');
});

listener('warns every minute while it is open to strangers on purpose', () => {
  const world = openWorld({ address: { host: '0.0.0.0', port: 7000 }, insecure: true });
  world.clock.advance(125_000);
  assert.is(world.events.filter((event) => event.kind === 'insecure').length, 3);
});

listener('serves the minimal dialect as the page says', () => {
  const world = openWorld();
  const peer = rawPeer(world);
  peer.bytes('050000000a00000000', '09000000040400000001000000');
  world.clock.advance(5);
  const log = first(world.accepted);
  const connection = connectionOf(log);
  assert.is(connection.handshake.dialect, 'minimal');
  assert.is(connection.handshake.role, 'worker');
  assert.equal(
    log.frames.map(({ type, body }) => [type, body.toString('hex')]),
    [[4, '01000000']],
  );
  connection.write(2, { msgId: 'not sent to a minimal peer' }, Buffer.from('hi'));
  world.clock.advance(5);
  assert.equal(peer.frames, [{ type: 2, payload: Buffer.from('hi') }]);
  world.clock.advance(60_000);
  assert.equal(peer.types, [2], 'no Ping for a minimal peer');
});

listener('takes a submit of many megabytes in one frame from a minimal client', () => {
  const world = openWorld();
  const peer = rawPeer(world);
  peer.frame(9);
  peer.frame(1, Buffer.alloc(20_000_000, 7));
  world.clock.advance(1000);
  assert.is(first(world.accepted).frames[0]?.body.length, 20_000_000);
});

listener('says nothing to a minimal peer that does wrong, and ends what must end', () => {
  const world = openWorld();
  const peer = rawPeer(world);
  peer.frame(10);
  peer.frame(50);
  peer.frame(37, Buffer.alloc(3));
  world.clock.advance(100);
  assert.is(peer.closed, false);
  peer.frame(9);
  world.clock.advance(2000);
  assert.equal(peer.frames, []);
  assert.is(peer.closed, true);
});

listener('tells the one too many, and counts again when somebody leaves', () => {
  const world = openWorld({ limits: { connectionsMax: 2 } });
  const one = rawPeer(world, 'a');
  rawPeer(world, 'b');
  assert.throws(() => rawPeer(world, 'c'), /ECONNRESET/);
  assert.equal(world.events.at(-1), { kind: 'refused', remote: 'c', why: 'limits' });
  one.end();
  world.clock.advance(3_000);
  rawPeer(world, 'c');
});

listener('bounds sockets that have not proven themselves, per address and in all', () => {
  const world = openWorld({
    profile: 'public',
    limits: { unauthenticatedMax: 5, unauthenticatedPerAddressMax: 2 },
  });
  rawPeer(world, 'a').frame(9, hello());
  rawPeer(world, 'a').frame(9, hello());
  world.clock.advance(5);
  rawPeer(world, 'a');
  rawPeer(world, 'a');
  assert.throws(() => rawPeer(world, 'a'), /ECONNRESET/);
  rawPeer(world, 'b');
  rawPeer(world, 'c');
  rawPeer(world, 'd');
  assert.throws(() => rawPeer(world, 'e'), /ECONNRESET/);
  world.clock.advance(3_000);
  assert.equal(world.listener.usage, { connections: 2, unauthenticated: 0 });
});

listener('bounds the connections of one identity', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const world = openWorld({ auth: { kind: 'hmac', identities }, limits: { connectionsPerIdentityMax: 2 } });
  const dials = Array.from({ length: 3 }, () =>
    world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } }),
  );
  world.clock.advance(100);
  assert.is(world.listener.connections, 2);
  const lost = dials.flatMap(({ events }) => events.filter((event) => event.kind === 'lost'));
  assert.is(lost.length, 1);
  const [only] = lost;
  assert.match(JSON.stringify(only), /TOO_MANY_CONNECTIONS/);
  assert.ok(only !== undefined && only.retryInMs >= 5_000, 'the dialer waits as long as it was told');
});

listener('counts a wrong key when it is refused, whether or not the guesser closes its socket', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const world = openWorld({ auth: { kind: 'hmac', identities }, limits: { authFailuresPerMinute: 2 } });
  const peers = Array.from({ length: 3 }, () => rawPeer(world, 'guesser'));
  for (const peer of peers) {
    peer.frame(9, hello());
    peer.frame(FrameType.Auth, Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(32)]));
  }
  world.clock.advance(1);
  assert.equal(world.events, [], 'no socket has closed yet');
  assert.throws(() => rawPeer(world, 'guesser'), /ECONNRESET/);
});

listener('drops an address that keeps guessing keys for a minute', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const world = openWorld({ auth: { kind: 'hmac', identities } });
  for (let i = 0; i < 11; i += 1) {
    const peer = rawPeer(world, 'guesser');
    peer.frame(9, hello());
    peer.frame(FrameType.Auth, Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(32, i)]));
    world.clock.advance(10);
    assert.equal(peer.errors, ['AUTH_FAILED']);
  }
  assert.throws(() => rawPeer(world, 'guesser'), /ECONNRESET/);
  assert.equal(world.events.at(-1), { kind: 'refused', remote: 'guesser', why: 'penalty' });
  const { log } = world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } }, 'owner');
  world.clock.advance(10);
  assert.ok(log.connection !== null, 'the owner of the key is not locked out');
  world.clock.advance(61_000);
  rawPeer(world, 'guesser');
});

listener('asks the rules before the application sees a frame', () => {
  const identities = new IdentityStore([
    { name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['invoice.>'], deny: ['invoice.admin.>'] },
  ]);
  const world = openWorld({ auth: { kind: 'hmac', identities }, actions: new Map([[1, 'submit']]) });
  const { log } = world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } });
  world.clock.advance(10);
  const sender = connectionOf(log);
  sender.write(1, { msgId: 'a', subject: 'invoice.print' }, Buffer.from('1'));
  sender.write(1, { msgId: 'b', subject: 'invoice.admin.drop' }, Buffer.from('2'));
  sender.write(1, { msgId: 'c', subject: 'mail.send' }, Buffer.from('3'));
  sender.write(1, { msgId: 'd' }, Buffer.from('4'));
  sender.write(64, { msgId: 'e', subject: 'mail.send' }, Buffer.from('5'));
  world.clock.advance(10);
  assert.equal(first(world.accepted).bodies, ['1', '5']);
  assert.equal(
    log.errors.map(({ name, corrId }) => `${corrId} ${name}`),
    ['b FORBIDDEN', 'c FORBIDDEN', 'd BAD_SUBJECT'],
  );
});

listener('holds an identity to its rate of submits, over all its connections', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const world = openWorld({
    auth: { kind: 'hmac', identities },
    limits: { submitsPerSecond: 10, submitsBurst: 20 },
  });
  const auth = { kind: 'hmac', keyId: 'k1', key: KEY } as const;
  const both = [world.dial({ auth }), world.dial({ auth })];
  world.clock.advance(10);
  for (const { log } of both)
    for (let i = 0; i < 20; i += 1) connectionOf(log).write(1, { msgId: `${i}` }, Buffer.from('x'));
  world.clock.advance(10);
  const taken = () => world.accepted.reduce((sum, log) => sum + log.frames.length, 0);
  assert.is(taken(), 20);
  assert.is(
    both.reduce((sum, { log }) => sum + log.errors.filter(({ name }) => name === 'QUOTA').length, 0),
    20,
  );
  world.clock.advance(1_000);
  for (const { log } of both)
    for (let i = 0; i < 20; i += 1) connectionOf(log).write(1, NO_HEADER, Buffer.from('x'));
  world.clock.advance(10);
  assert.is(taken(), 30);
});

// A6: a peer that is newer than this listener is understood as far as they have things in common.
listener('answers a frame of a type it does not know, skips it, and reads what follows', () => {
  const world = openWorld();
  const peer = rawPeer(world);
  peer.frame(9, hello({ versionMin: 1, versionMax: 9 }));
  peer.frame(50, Buffer.from('from a later version'));
  peer.message(64, { msgId: 'm' }, Buffer.from('known'));
  world.clock.advance(100);
  assert.equal(peer.errors, ['UNKNOWN_TYPE']);
  assert.equal(first(world.accepted).bodies, ['known']);
  assert.is(peer.closed, false);
});

// A6: there is nobody to answer in the minimal dialect. Frames of the transport mean nothing there and are skipped, and a peer may be silent for ever.
listener(
  'a minimal peer stays connected however long it is silent, and whatever frames of the transport it sends',
  () => {
    const world = openWorld();
    const peer = rawPeer(world);
    peer.frame(10);
    for (let i = 0; i < 100; i += 1) {
      peer.frame(FrameType.Ping, Buffer.alloc(8));
      world.clock.advance(60_000);
    }
    peer.frame(4);
    world.clock.advance(10);
    assert.equal(peer.frames, []);
    assert.is(peer.closed, false);
    assert.is(first(world.accepted).frames.length, 1);
  },
);

listener('keeps a connection through a few wrong frames and ends it at too many', () => {
  const table: readonly (readonly [string, number, (i: number) => readonly [number, Buffer]])[] = [
    ['UNKNOWN_TYPE', 10, () => [50, Buffer.alloc(0)]],
    ['MALFORMED', 10, () => [64, Buffer.from('ffff', 'hex')]],
  ];
  for (const [name, allowed, make] of table) {
    const world = openWorld();
    const peer = rawPeer(world);
    peer.frame(9, hello());
    for (let i = 0; i < allowed; i += 1) peer.frame(...make(i));
    world.clock.advance(100);
    assert.equal(
      peer.errors,
      Array.from({ length: allowed }, () => name),
    );
    assert.is(peer.closed, false);
    peer.frame(...make(allowed));
    world.clock.advance(2_000);
    assert.is(peer.errors.length, allowed + 1);
    assert.is(peer.closed, true);
  }
});

listener('FORBIDDEN is allowed a hundred times a minute', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const world = openWorld({ auth: { kind: 'hmac', identities }, actions: new Map([[1, 'submit']]) });
  const { log } = world.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    backoff: { fromMs: 1e9, toMs: 1e9 },
  });
  world.clock.advance(10);
  const sender = connectionOf(log);
  for (let i = 0; i < 100; i += 1) sender.write(1, { subject: 'a' }, Buffer.alloc(0));
  world.clock.advance(10);
  assert.is(log.errors.length, 100);
  assert.is(log.closed, null);
  sender.write(1, { subject: 'a' }, Buffer.alloc(0));
  world.clock.advance(2_000);
  assert.is(log.closed?.kind, 'peer-error');
});

listener('answers a frame over the limit, or with a reserved bit, by ending', () => {
  for (const payload of [Buffer.alloc(1_114_113), Buffer.from('0400' + '01000080', 'hex')]) {
    const world = openWorld();
    const peer = rawPeer(world);
    peer.frame(9, hello());
    peer.frame(64, payload);
    world.clock.advance(2_000);
    assert.equal(peer.errors, ['FRAME']);
    assert.is(peer.closed, true);
  }
});

listener('ends a peer that begins a frame and does not finish it, byte after byte', () => {
  const world = openWorld();
  const peer = rawPeer(world);
  peer.frame(9, hello());
  world.clock.advance(5);
  peer.bytes('69000000406400000000');
  for (let i = 0; i < 98; i += 1) {
    world.clock.advance(100);
    peer.bytes('00');
  }
  assert.is(peer.closed, false);
  world.clock.advance(1_500);
  assert.equal(peer.errors, ['SLOW_FRAME']);
  assert.is(peer.closed, true);
});

listener('keeps the books of bodies: credit, ids, lengths', () => {
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
  const world = openWorld({ limits: { windowBytes: 1000, chunkBytesMax: 2000, bodiesMax: 2 } });
  const peer = rawPeer(world);
  peer.frame(9, hello());
  peer.message(64, open(1));
  peer.frame(40, chunk(1, 0, 1001));
  world.clock.advance(5);
  assert.equal(peer.errors, ['CREDIT']);
  peer.frame(40, chunk(1, 0, 10));
  world.clock.advance(5);
  assert.is(peer.errors.length, 1, 'what was on the way after a BodyStop is ignored');
  peer.message(64, open(1));
  peer.frame(40, chunk(9, 0, 1));
  peer.message(64, open(2, 5));
  peer.frame(40, chunk(2, 1, 4));
  peer.message(64, open(3, 5));
  peer.frame(40, chunk(3, 0, 6));
  peer.message(64, open(4));
  peer.frame(40, chunk(4, 0, 0));
  world.clock.advance(5);
  assert.equal(peer.errors.slice(1), ['MALFORMED', 'MALFORMED', 'MALFORMED', 'MALFORMED', 'MALFORMED']);
  peer.message(64, open(5));
  peer.message(64, open(6));
  peer.message(64, open(7));
  world.clock.advance(5);
  assert.is(peer.errors.at(-1), 'BUSY');
  assert.equal(connectionOf(first(world.accepted)).bodyCounts, { incoming: 2, outgoing: 0 });
  peer.end();
  world.clock.advance(2_000);
  let broken = 0;
  for (const { incoming } of first(world.accepted).frames) {
    incoming?.read({
      onChunk: () => undefined,
      onEnd: () => assert.unreachable(),
      onFail: () => (broken += 1),
    });
  }
  assert.is(broken, 6);
});

listener.run();
