// timeout: 120s
// Valid frames in illegal orders from a peer without a proof of its key: nothing gets through.
import { SeededRandom } from '@troupe/core/testing';
import { Dialer, FrameType, IdentityStore } from '@troupe/transport';
import { ManualClock, MemoryNetwork } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openRig, PORT } from '../connection-rig.js';
import { hello, RawPeer, rawPeer } from '../raw-peer.js';

const order = suite('illegal orders');
const KEY = '11'.repeat(32);
const ROUNDS = 20_000;

function body(id: number, flags: number, bytes: number): Buffer {
  const payload = Buffer.alloc(5 + bytes);
  payload.writeUInt32LE(id, 0);
  payload[4] = flags;
  return payload;
}

const MOVES: readonly ((peer: RawPeer, random: SeededRandom) => void)[] = [
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
  (peer) => peer.message(1, { msgId: 'x' }, Buffer.from('job')),
  (peer) => peer.message(64, { msgId: 'x' }, Buffer.from('job')),
  (peer, random) => peer.message(64, { bodyId: random.between(1, 5) }),
  (peer, random) => peer.frame(40, body(random.between(0, 6), random.between(0, 1), random.between(0, 100))),
  (peer, random) => peer.frame(41, Buffer.concat([body(random.between(0, 6), 0, 0), Buffer.alloc(3)])),
  (peer, random) => peer.frame(42, Buffer.concat([body(random.between(0, 6), 0, 0), Buffer.alloc(1)])),
  (peer, random) => peer.frame(43, Buffer.concat([body(random.between(0, 6), 0, 0), Buffer.alloc(1)])),
  (peer, random) => peer.frame(random.between(44, 63)),
  (peer) => peer.end(),
];

order('no sequence of frames without a proof of the key reaches the application', () => {
  const random = new SeededRandom(4711);
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const rig = openRig({ auth: { kind: 'hmac', identities } }, { seed: round, chunking: 'random' });
    const peer = rawPeer(rig);
    // A part of them has been challenged.
    if (round % 5 === 0) peer.frame(9, hello());
    for (let i = random.between(1, 12); i > 0; i -= 1) {
      const move = MOVES[random.between(0, MOVES.length - 1)] as (
        peer: RawPeer,
        random: SeededRandom,
      ) => void;
      if (!peer.closed) move(peer, random);
      if (random.next() < 0.5) rig.clock.advance(2);
    }
    rig.clock.advance(5);
    for (const log of rig.accepted) assert.equal(log.frames, [], `round ${round}`);
    refused += peer.errors.length;
    peer.end();
    rig.clock.advance(4_000);
    assert.is(peer.closed, true, `round ${round}`);
    assert.equal(
      rig.listener.usage,
      { connections: 0, unauthenticated: 0, gatheredBytes: 0 },
      `round ${round}`,
    );
  }
  assert.ok(refused > ROUNDS / 10);
});

order('no listener without a proof of the key gets a frame through to a dialer', () => {
  const random = new SeededRandom(99);
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
    for (let i = random.between(1, 8); i > 0; i -= 1) {
      const move = MOVES[random.between(0, MOVES.length - 1)] as (
        peer: RawPeer,
        random: SeededRandom,
      ) => void;
      if (!peer.closed) move(peer, random);
      clock.advance(random.between(0, 3));
    }
    clock.advance(4_000);
    assert.equal(reached, [], `round ${round}`);
    assert.is(network.linkCount, 0, `round ${round}`);
    dialer.close();
  }
});

order.run();
