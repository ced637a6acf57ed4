import { FrameType, IdentityStore, transportLimits } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DialerHandshake } from '#src/handshake/dialer-handshake.js';
import { ListenerHandshake } from '#src/handshake/listener-handshake.js';
import { encodeWelcome } from '#src/handshake/welcome.js';
import { connectionOf, first, openRig } from '../connection-rig.js';
import { hello, rawPeer } from '../raw-peer.js';

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
  return openRig({ auth: { kind: 'hmac', identities } });
}

handshake('a proven key gives the connection the identity of its owner', () => {
  const rig = guarded();
  const { log } = rig.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    role: 'worker',
    name: 'mallory',
  });
  rig.clock.advance(10);
  const { handshake: result } = connectionOf(first(rig.accepted));
  assert.is(result.identityName, 'ann', 'the name is claimed, the identity is proven');
  assert.is(result.claimedName, 'mallory');
  assert.is(result.credential, 'k1');
  assert.is(connectionOf(log).handshake.identityName, 'ann');
});

handshake('every failed proof gets the same Error', () => {
  const errors: string[] = [];
  for (const auth of [
    { kind: 'hmac', keyId: 'k1', key: OTHER },
    { kind: 'hmac', keyId: 'unknown', key: KEY },
  ] as const) {
    const rig = guarded();
    const { log, events } = rig.dial({ auth });
    rig.clock.advance(20);
    assert.is(log.connection, null);
    const lost = events.find((event) => event.kind === 'lost');
    assert.is(lost?.reason.kind, 'peer-error');
    errors.push(JSON.stringify(lost?.reason));
    assert.is(rig.accepted.length, 0);
  }
  assert.is(errors[0], errors[1]);
  assert.match(errors[0] ?? '', /"code":1002,"name":"AUTH_FAILED","message":"authentication failed"/);
});

handshake('a role that the identity may not take is refused', () => {
  const rig = guarded(['client']);
  const { events } = rig.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY }, role: 'worker' });
  rig.clock.advance(20);
  assert.is(rig.accepted.length, 0);
  assert.ok(events.some((event) => event.kind === 'lost'));
});

handshake('a dialer with a key refuses a listener without authentication', () => {
  const rig = openRig({});
  const { log, events } = rig.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } });
  rig.clock.advance(20);
  assert.is(log.connection, null, 'no connection without a proof');
  const lost = events.find((event) => event.kind === 'lost');
  assert.ok(lost !== undefined);
});

handshake('a dialer with a key refuses a Welcome without a valid proof', () => {
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
      secureRandom: (bytes) => Buffer.alloc(bytes, 5),
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

handshake('a proof is valid for one challenge only', () => {
  const rig = guarded();
  const recorded: Buffer[] = [];
  const { log } = rig.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    net: {
      ...rig.network.machine('peer'),
      dial: (options, handler) =>
        rig.network.machine('peer').dial(options, {
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
  rig.clock.advance(20);
  assert.ok(log.connection !== null);
  const replay = rawPeer(rig);
  replay.bytes(recorded[0] ?? '');
  rig.clock.advance(5);
  replay.bytes(recorded[1] ?? '');
  rig.clock.advance(5);
  assert.equal(replay.types, [FrameType.Challenge, FrameType.Error]);
  assert.equal(replay.errors, ['AUTH_FAILED']);
});

handshake('a proof is valid for one TLS channel only', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  const limits = transportLimits('public');
  const secureRandom = (bytes: number) => Buffer.alloc(bytes, 5);
  const meet = (here: string, there: string) => {
    const channel = (binding: string) => ({ binding: Buffer.from(binding), certificate: null });
    const dialer = new DialerHandshake({
      role: 'client',
      name: '',
      auth: { kind: 'hmac', keyId: 'k1', key: KEY },
      limits,
      channel: channel(here),
      secureRandom,
    });
    const listener = new ListenerHandshake({
      auth: { kind: 'hmac', identities },
      limits,
      servesMinimal: false,
      channel: channel(there),
      secureRandom,
      hasRoom: () => true,
      onFailure: () => false,
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

handshake(
  'each violation of the handshake has its documented error, and no frame is delivered before Welcome',
  () => {
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
    for (const [violation, frames, errors, closed] of table) {
      const rig = guarded();
      const peer = rawPeer(rig);
      for (const [type, payload] of frames) peer.frame(type, payload);
      rig.clock.advance(3_500);
      assert.equal(peer.errors, errors, violation);
      assert.is(peer.closed, closed, violation);
      assert.is(rig.accepted.length, 0, violation);
      assert.equal(rig.listener.usage, { connections: 0, unauthenticated: 0, gatheredBytes: 0 }, violation);
    }
  },
);

handshake('the handshake times out after two seconds, also while bytes arrive', () => {
  const rig = guarded();
  const peer = rawPeer(rig);
  const bytes = Buffer.concat([Buffer.from([0x8d, 0, 0, 0, 9, 0x88, 0, 0, 0]), hello()]);
  for (let i = 0; i < 25; i += 1) {
    peer.bytes(bytes.subarray(i, i + 1));
    rig.clock.advance(100);
  }
  assert.is(peer.closed, true);
  assert.equal(peer.errors, []);
});

handshake('a handshake frame after Welcome ends the connection', () => {
  for (const type of [9, 10, 32, 33, 34, 35]) {
    const rig = openRig();
    const peer = rawPeer(rig);
    peer.frame(9, hello());
    rig.clock.advance(5);
    assert.equal(peer.types, [FrameType.Welcome]);
    peer.frame(type, hello());
    rig.clock.advance(2_000);
    assert.equal(peer.errors, ['PROTOCOL'], String(type));
    assert.is(peer.closed, true);
  }
});

handshake('a second key works during a rotation, and a revoked key closes its connections', () => {
  const rig = guarded();
  const old = rig.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: KEY },
    backoff: { fromMs: 1e9, toMs: 1e9 },
  });
  const fresh = rig.dial({ auth: { kind: 'hmac', keyId: 'k2', key: OTHER } });
  rig.clock.advance(20);
  rig.listener.renewIdentities(new IdentityStore([{ name: 'ann', keys: [{ id: 'k2', key: OTHER }] }]));
  rig.clock.advance(1_000);
  assert.is(old.log.closed?.kind, 'peer-error');
  assert.is(fresh.log.closed, null);
});

handshake('changed rights close the connections that had the old ones', () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['a'] }]);
  const rig = openRig({ auth: { kind: 'hmac', identities } });
  const { log } = rig.dial({ auth: { kind: 'hmac', keyId: 'k1', key: KEY } });
  rig.clock.advance(20);
  rig.listener.renewIdentities(
    new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['a'] }]),
  );
  rig.clock.advance(20);
  assert.is(log.closed, null, 'equal rights change nothing');
  rig.listener.renewIdentities(
    new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['b'] }]),
  );
  rig.clock.advance(1_000);
  assert.is(rig.accepted[0]?.closed?.kind, 'refused');
  assert.ok(rig.accepted[1]?.connection?.permits('submit', 'b'), 'the dialer reconnects with the new rights');
});

handshake.run();
