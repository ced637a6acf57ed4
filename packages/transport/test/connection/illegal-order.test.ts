// timeout: 120s
// Valid frames in illegal orders, a part of them from an authenticated but unprivileged peer: nothing gets through that should not.
import { Dialer, FrameType, IdentityStore, Secret } from '@troupe/transport';
import { Chance, ManualClock, MemoryNetwork } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dialerProof } from '#src/handshake/hmac-proof.js';
import { hello, RawPeer, rawPeer } from '../raw-peer.js';
import { openWorld, PORT } from '../world.js';

const order = suite('illegal orders');
const KEY = '11'.repeat(32);
const ROUNDS = 20_000;

function body(id: number, flags: number, bytes: number): Buffer {
  const payload = Buffer.alloc(5 + bytes);
  payload.writeUInt32LE(id, 0);
  payload[4] = flags;
  return payload;
}

const MOVES: readonly ((peer: RawPeer, chance: Chance) => void)[] = [
  (peer) => peer.frame(9, hello()),
  (peer) => peer.frame(10),
  (peer) => peer.frame(32, hello({ name: '' })),
  (peer) => peer.frame(FrameType.Challenge, Buffer.alloc(34, 1)),
  (peer) =>
    peer.frame(FrameType.Auth, Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(32)])),
  (peer) => peer.frame(FrameType.Welcome, Buffer.alloc(51)),
  (peer) => peer.frame(FrameType.Error, Buffer.alloc(11)),
  (peer) => peer.frame(FrameType.Ping, Buffer.alloc(8)),
  (peer) => peer.frame(FrameType.Pong, Buffer.alloc(8)),
  (peer) => peer.frame(FrameType.Drain, Buffer.alloc(6)),
  (peer) => peer.message(1, { msgId: 'x', subject: 'secret.job' }, Buffer.from('job')),
  (peer) => peer.message(64, { msgId: 'x', subject: 'secret.job' }, Buffer.from('job')),
  (peer, chance) => peer.message(64, { subject: 'secret.job', bodyId: chance.between(1, 5) }),
  (peer, chance) => peer.frame(40, body(chance.between(0, 6), chance.between(0, 1), chance.between(0, 100))),
  (peer, chance) => peer.frame(41, Buffer.concat([body(chance.between(0, 6), 0, 0), Buffer.alloc(3)])),
  (peer, chance) => peer.frame(42, Buffer.concat([body(chance.between(0, 6), 0, 0), Buffer.alloc(1)])),
  (peer, chance) => peer.frame(43, Buffer.concat([body(chance.between(0, 6), 0, 0), Buffer.alloc(1)])),
  (peer, chance) => peer.frame(chance.between(44, 63)),
  (peer) => peer.end(),
];

/** Proves the key by hand, so that what follows comes from somebody with a name and no rights. */
function authenticate(peer: RawPeer, advance: () => void): void {
  const said = hello();
  peer.frame(9, said);
  advance();
  const challenge = peer.frames.at(-1)?.payload ?? Buffer.alloc(0);
  const authWithoutProof = Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1')]);
  const proof = dialerProof(new Secret(KEY), {
    helloType: 9,
    hello: said,
    challenge,
    authWithoutProof,
    binding: new Uint8Array(0),
  });
  peer.frame(FrameType.Auth, Buffer.concat([authWithoutProof, proof]));
  advance();
  assert.is(peer.types.at(-1), FrameType.Welcome);
}

order('no sequence of frames reaches the application without the right to', () => {
  const chance = new Chance(4711);
  const identities = new IdentityStore([{ name: 'nobody', keys: [{ id: 'k1', key: KEY }], deny: ['>'] }]);
  const actions = new Map([1, 64].map((type) => [type, 'submit'] as const));
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const world = openWorld(
      { auth: { kind: 'hmac', identities }, actions },
      { seed: round, chunking: 'random' },
    );
    const peer = rawPeer(world);
    if (round % 5 === 0) authenticate(peer, () => world.clock.advance(3));
    for (let i = chance.between(1, 12); i > 0; i -= 1) {
      const move = MOVES[chance.between(0, MOVES.length - 1)] as (peer: RawPeer, chance: Chance) => void;
      if (!peer.closed) move(peer, chance);
      if (chance.next() < 0.5) world.clock.advance(2);
    }
    world.clock.advance(5);
    for (const log of world.accepted) assert.equal(log.frames, [], `round ${round}`);
    refused += peer.errors.length;
    peer.end();
    world.clock.advance(4_000);
    assert.is(peer.closed, true, `round ${round}`);
    assert.equal(world.listener.usage, { connections: 0, unauthenticated: 0 }, `round ${round}`);
  }
  assert.ok(refused > ROUNDS / 10);
});

order('no listener gets a frame to a dialer with a key without proving it', () => {
  const chance = new Chance(99);
  for (let round = 0; round < ROUNDS / 5; round += 1) {
    const clock = new ManualClock(round);
    const network = new MemoryNetwork({ clock, seed: round, chunking: 'random' });
    const peers: RawPeer[] = [];
    network.machine('leader').listen(
      { address: { port: PORT }, tlsHandshakeMs: 1 },
      {
        refusal: Buffer.alloc(0),
        admit: () => 'accept',
        onListening: () => undefined,
        onTlsFailed: () => undefined,
        onError: () => undefined,
        onSocket: (socket) => peers.push(new RawPeer(socket)),
      },
    );
    clock.advance(1);
    const reached: string[] = [];
    const dialer = new Dialer({
      net: network.machine('peer'),
      clock,
      address: { host: 'leader', port: PORT },
      role: 'client',
      auth: { kind: 'hmac', keyId: 'k1', key: KEY },
      backoff: { fromMs: 1e9, toMs: 1e9 },
      onConnection: () => {
        reached.push('ready');
        return { onFrame: () => reached.push('frame'), onClose: () => undefined };
      },
    });
    clock.advance(5);
    const [peer] = peers as [RawPeer];
    for (let i = chance.between(1, 8); i > 0; i -= 1) {
      const move = MOVES[chance.between(0, MOVES.length - 1)] as (peer: RawPeer, chance: Chance) => void;
      if (!peer.closed) move(peer, chance);
      clock.advance(chance.between(0, 3));
    }
    clock.advance(4_000);
    assert.equal(reached, [], `round ${round}`);
    assert.is(network.linkCount, 0, `round ${round}`);
    dialer.close();
  }
});

order.run();
