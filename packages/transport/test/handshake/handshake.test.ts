import { FrameType, IdentityStore, transportLimits } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DialerHandshake } from '#src/handshake/dialer-handshake.js';
import { ListenerHandshake } from '#src/handshake/listener-handshake.js';
import { encodeWelcome } from '#src/handshake/welcome.js';
import { hello, rawPeer } from '../raw-peer.js';
import { connectionOf, first, openWorld } from '../world.js';

const handshake = suite('handshake');
const KEY = '11'.repeat(32);
const OTHER = '22'.repeat(32);

function guarded(roles?: readonly ('client' | 'worker' | 'peer')[]) {
  const identities = new IdentityStore([
    {
      name: 'ann',
      keys: [
        { id: 'k1', key: KEY },
        { id: 'k2', key: OTHER },
      ],
      ...(roles === undefined ? {} : { roles }),
    },
  ]);
  return openWorld({ auth: { kind: 'hmac', identities } });
}

handshake('lets in who proves a key, and knows who it is (A13)', () => {
  const world = guarded();
  const { log } = world.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    role: 'worker',
    name: 'mallory',
  });
  world.clock.advance(10);
  const { handshake: session } = connectionOf(first(world.accepted));
  assert.is(session.identityName, 'ann', 'the name is a claim, the subject is proven');
  assert.is(session.claimedName, 'mallory');
  assert.is(session.credential, 'k1');
  assert.is(connectionOf(log).handshake.identityName, 'ann');
});

handshake('gives one and the same answer to every failed proof', () => {
  const answers: string[] = [];
  for (const auth of [
    { kind: 'hmac', keyId: 'k1', key: OTHER },
    { kind: 'hmac', keyId: 'nobody', key: KEY },
  ] as const) {
    const world = guarded();
    const { log, events } = world.dial({ auth });
    world.clock.advance(20);
    assert.is(log.connection, null);
    const lost = events.find((event) => event.kind === 'lost');
    assert.is(lost?.reason.kind, 'peer-error');
    answers.push(JSON.stringify(lost?.reason));
    assert.is(world.accepted.length, 0);
  }
  assert.is(answers[0], answers[1]);
  assert.match(answers[0] ?? '', /"code":1002,"name":"AUTH_FAILED","message":"authentication failed"/);
});

handshake('refuses a role the identity may not have', () => {
  const world = guarded(['client']);
  const { events } = world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY }, role: 'worker' });
  world.clock.advance(20);
  assert.is(world.accepted.length, 0);
  assert.ok(events.some((event) => event.kind === 'lost'));
});

handshake('a dialer with a key trusts no listener that cannot prove it', () => {
  const world = openWorld({});
  const { log, events } = world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } });
  world.clock.advance(20);
  assert.is(log.connection, null, 'a listener without authentication is not what it asked for');
  const lost = events.find((event) => event.kind === 'lost');
  assert.ok(lost !== undefined);
});

handshake('a dialer with a key takes no Welcome that does not prove it back', () => {
  const welcome = (method: 'none' | 'hmac', proof: Buffer) =>
    Buffer.concat([
      encodeWelcome({
        version: 1,
        authMethod: method,
        connectionId: 'cc'.repeat(16),
        capacity: { payloadBytesMax: 1e6, bodyBytesMax: 0, windowBytes: 0, chunkBytesMax: 0 },
        pingMs: 1,
        deadMs: 1,
        inFlightMax: 1,
        creditMax: 1,
        identityName: 'ann',
      }),
      proof,
    ]);
  const begin = (challenged: boolean) => {
    const dialer = new DialerHandshake({
      role: 'client',
      name: '',
      auth: { kind: 'hmac', keyId: 'k1', key: KEY },
      limits: transportLimits('public'),
      channel: { binding: new Uint8Array(0), certificate: null },
      entropy: (bytes) => Buffer.alloc(bytes, 5),
    });
    if (challenged)
      assert.is(
        dialer.receive(FrameType.Challenge, Buffer.concat([Buffer.from([1, 1]), Buffer.alloc(32)])).kind,
        'reply',
      );
    return dialer;
  };
  for (const challenged of [true, false]) {
    for (const payload of [welcome('none', Buffer.alloc(0)), welcome('hmac', Buffer.alloc(32))]) {
      const step = begin(challenged).receive(FrameType.Welcome, payload);
      assert.is(step.kind === 'refuse' && step.errorName, 'AUTH_FAILED');
    }
  }
  assert.is(
    begin(true).receive(FrameType.Challenge, Buffer.concat([Buffer.from([1, 1]), Buffer.alloc(32)])).kind,
    'refuse',
  );
});

handshake('a proof is good for one challenge only', () => {
  const world = guarded();
  const recorded: Buffer[] = [];
  const { log } = world.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    net: {
      ...world.network.machine('peer'),
      dial: (options, handler) =>
        world.network.machine('peer').dial(options, {
          ...handler,
          onOpen: (socket) => {
            const write = socket.write.bind(socket);
            socket.write = (pieces) => {
              recorded.push(Buffer.concat(pieces));
              return write(pieces);
            };
            handler.onOpen(socket);
          },
        }),
    },
  });
  world.clock.advance(20);
  assert.ok(log.connection !== null);
  const replay = rawPeer(world);
  replay.bytes(recorded[0] ?? '');
  world.clock.advance(5);
  replay.bytes(recorded[1] ?? '');
  world.clock.advance(5);
  assert.equal(replay.types, [FrameType.Challenge, FrameType.Error]);
  assert.equal(replay.errors, ['AUTH_FAILED']);
});

handshake('a proof is good for one TLS channel only', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const limits = transportLimits('public');
  const entropy = (bytes: number) => Buffer.alloc(bytes, 5);
  const meet = (here: string, there: string) => {
    const channel = (binding: string) => ({ binding: Buffer.from(binding), certificate: null });
    const dialer = new DialerHandshake({
      role: 'client',
      name: '',
      auth: { kind: 'hmac', keyId: 'k1', key: KEY },
      limits,
      channel: channel(here),
      entropy,
    });
    const listener = new ListenerHandshake({
      auth: { kind: 'hmac', identities },
      limits,
      minimal: false,
      channel: channel(there),
      entropy,
      hasRoom: () => true,
      onFailure: () => undefined,
    });
    const challenge = listener.receive(dialer.helloType, dialer.hello);
    assert.is(challenge.kind, 'reply');
    const auth =
      challenge.kind === 'reply' ? dialer.receive(challenge.type, Buffer.from(challenge.payload)) : challenge;
    return auth.kind === 'reply' ? listener.receive(auth.type, Buffer.from(auth.payload)).kind : auth.kind;
  };
  assert.is(meet('one channel', 'one channel'), 'ready');
  assert.is(meet('one channel', 'another channel'), 'refuse');
});

handshake('answers by the table, and lets nothing through before Welcome', () => {
  const auth = Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(32)]);
  const table: readonly (readonly [
    string,
    readonly (readonly [number, Buffer])[],
    readonly string[],
    boolean,
  ])[] = [
    ['a submit first', [[1, Buffer.from('job')]], [], true],
    ['an Auth first', [[FrameType.Auth, auth]], [], true],
    ['garbage in the Hello', [[9, Buffer.from('GARBAGE!')]], [], true],
    ['a Hello cut short', [[9, hello().subarray(0, 50)]], [], true],
    ['a Hello too long by one', [[9, Buffer.concat([hello(), Buffer.from([0])])]], [], true],
    ['a reserved bit in the Hello', [[9, Buffer.from(hello()).fill(1, 7, 8)]], [], true],
    ['a name with a space', [[9, hello({ name: 'a b' })]], [], true],
    ['the minimal dialect here', [[9, Buffer.alloc(0)]], [], true],
    ['no common version', [[9, hello({ versionMin: 2, versionMax: 9 })]], ['VERSION'], true],
    ['no method in common', [[9, hello({ methods: ['none'] })]], ['AUTH_FAILED'], true],
    [
      'a submit instead of Auth',
      [
        [9, hello()],
        [1, Buffer.from('job')],
      ],
      ['PROTOCOL'],
      true,
    ],
    [
      'a second Hello',
      [
        [9, hello()],
        [9, hello()],
      ],
      ['PROTOCOL'],
      true,
    ],
    [
      'a wrong proof',
      [
        [9, hello()],
        [FrameType.Auth, auth],
      ],
      ['AUTH_FAILED'],
      true,
    ],
    [
      'an Auth of no length',
      [
        [9, hello()],
        [FrameType.Auth, Buffer.alloc(0)],
      ],
      ['AUTH_FAILED'],
      true,
    ],
    [
      '4,097 bytes',
      [
        [9, hello()],
        [FrameType.Auth, Buffer.alloc(4097)],
      ],
      ['PROTOCOL'],
      true,
    ],
    ['a Hello, then silence', [[9, hello()]], ['AUTH_TIMEOUT'], true],
    ['silence', [], [], true],
  ];
  for (const [what, frames, errors, closed] of table) {
    const world = guarded();
    const peer = rawPeer(world);
    for (const [type, payload] of frames) peer.frame(type, payload);
    world.clock.advance(3_500);
    assert.equal(peer.errors, errors, what);
    assert.is(peer.closed, closed, what);
    assert.is(world.accepted.length, 0, what);
    assert.equal(world.listener.usage, { connections: 0, unauthenticated: 0 }, what);
  }
});

handshake('ends after two seconds, whatever trickles in', () => {
  const world = guarded();
  const peer = rawPeer(world);
  const bytes = Buffer.concat([Buffer.from([0x8d, 0, 0, 0, 9, 0x88, 0, 0, 0]), hello()]);
  for (let i = 0; i < 25; i += 1) {
    peer.bytes(bytes.subarray(i, i + 1));
    world.clock.advance(100);
  }
  assert.is(peer.closed, true);
  assert.equal(peer.errors, []);
});

handshake('a handshake frame after Welcome ends the connection', () => {
  for (const type of [9, 10, 32, 33, 34, 35]) {
    const world = openWorld();
    const peer = rawPeer(world);
    peer.frame(9, hello());
    world.clock.advance(5);
    assert.equal(peer.types, [FrameType.Welcome]);
    peer.frame(type, hello());
    world.clock.advance(2_000);
    assert.equal(peer.errors, ['PROTOCOL'], String(type));
    assert.is(peer.closed, true);
  }
});

handshake('a second key works while the first is being replaced, and a revoked one ends its sessions', () => {
  const world = guarded();
  const old = world.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    backoff: { fromMs: 1e9, toMs: 1e9 },
  });
  const fresh = world.dial({ auth: { kind: 'hmac', keyId: 'k2', key: OTHER } });
  world.clock.advance(20);
  world.listener.renewIdentities(new IdentityStore([{ name: 'ann', keys: [{ id: 'k2', key: OTHER }] }]));
  world.clock.advance(1_000);
  assert.is(old.log.closed?.kind, 'peer-error');
  assert.is(fresh.log.closed, null);
});

handshake('a change of rights ends the sessions that had the old ones', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['a'] }]);
  const world = openWorld({ auth: { kind: 'hmac', identities } });
  const { log } = world.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } });
  world.clock.advance(20);
  world.listener.renewIdentities(
    new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['a'] }]),
  );
  world.clock.advance(20);
  assert.is(log.closed, null, 'the same rights, read again, change nothing');
  world.listener.renewIdentities(
    new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['b'] }]),
  );
  world.clock.advance(1_000);
  assert.is(world.accepted[0]?.closed?.kind, 'refused');
  assert.ok(world.accepted[1]?.connection?.permits('submit', 'b'), 'it comes back with the new ones');
});

handshake.run();
