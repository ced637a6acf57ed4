import { NO_HEADER } from '@troupe/transport';
import { Chance, type MemoryNetworkOptions } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf, first, openWorld } from '../world.js';

const network = suite('memory network');

/** A busy minute under loss, partitions and stalls; what happened, as text. */
function history(seed: number, options: Partial<MemoryNetworkOptions> = {}): string {
  const world = openWorld(
    {},
    { seed, chunking: 'random', latencyMs: { from: 1, to: 20 }, lossPerArrival: 0.002, ...options },
  );
  const chance = new Chance(seed + 1);
  const peers = Array.from({ length: 3 }, (_, i) => world.dial({}, `p${i}`));
  for (let second = 0; second < 60; second += 1) {
    for (const { log } of peers)
      log.connection?.write(64, { msgId: `s${second}` }, Buffer.alloc(chance.between(1, 3_000)));
    const who = `p${chance.between(0, 2)}`;
    const what = chance.next();
    if (what < 0.2) world.network.partition(who, 'leader');
    else if (what < 0.4) world.network.stall('leader', who);
    else world.network.heal(who, 'leader');
    world.clock.advance(1_000);
  }
  const seen = world.accepted.map(
    (log) =>
      `${log.frames.map(({ header, body }) => `${header.msgId}/${body.length}`).join(',')} ${JSON.stringify(log.closed)}`,
  );
  return [...seen, ...peers.flatMap(({ events }) => events.map((event) => JSON.stringify(event)))].join('\n');
}

network('does the same for the same seed and something else for another', () => {
  const once = history(7);
  assert.is(history(7), once);
  assert.is.not(history(8), once);
  assert.ok(once.split('\n').length > 5);
});

network('holds back what is on the way during a partition and delivers it after', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  world.network.partition('peer', 'leader');
  connectionOf(log).write(64, NO_HEADER, Buffer.from('through'));
  world.clock.advance(5_000);
  assert.equal(first(world.accepted).bodies, []);
  world.network.heal('peer', 'leader');
  world.clock.advance(10);
  assert.equal(first(world.accepted).bodies, ['through']);
});

network('stalls one way only', () => {
  const world = openWorld();
  const { log } = world.dial();
  world.clock.advance(10);
  world.network.stall('leader', 'peer');
  connectionOf(log).write(64, NO_HEADER, Buffer.from('there'));
  connectionOf(first(world.accepted)).write(64, NO_HEADER, Buffer.from('back'));
  world.clock.advance(100);
  assert.equal(first(world.accepted).bodies, ['there']);
  assert.equal(log.bodies, []);
});

network('keeps the end of a connection from the other side of a partition', () => {
  const world = openWorld();
  const { log } = world.dial({ backoff: { fromMs: 1e9, toMs: 1e9 } });
  world.clock.advance(10);
  world.network.partition('peer', 'leader');
  connectionOf(first(world.accepted)).destroy();
  world.clock.advance(1_000);
  assert.is(first(world.accepted).closed?.kind, 'local');
  assert.is(log.closed, null);
  world.network.heal('peer', 'leader');
  world.clock.advance(10);
  assert.equal(log.closed, { kind: 'peer-closed', midFrame: false });
});

network('a crashed machine answers nobody', () => {
  const world = openWorld();
  const { log, events } = world.dial();
  world.clock.advance(10);
  world.network.crash('leader');
  world.clock.advance(1_000);
  assert.is(log.closed?.kind, 'socket-error');
  assert.is(events.at(-1)?.kind, 'unreachable');
});

network.run();
