import { SeededRandom } from '@troupe/core/testing';
import { NO_HEADER } from '@troupe/transport';
import type { MemoryNetworkOptions } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf, first, openRig } from '../connection-rig.js';

const network = suite('memory network');

/** The events of a minute under loss, partitions and stalls, as text. */
function history(seed: number, options: Partial<MemoryNetworkOptions> = {}): string {
  const rig = openRig(
    {},
    { seed, chunking: 'random', latencyMs: { from: 1, to: 20 }, lossPerArrival: 0.002, ...options },
  );
  const random = new SeededRandom(seed + 1);
  const peers = Array.from({ length: 3 }, (_, i) => rig.dial({}, `p${i}`));
  for (let second = 0; second < 60; second += 1) {
    for (const { log } of peers)
      log.connection?.write(64, { msgId: `s${second}` }, Buffer.alloc(random.between(1, 3_000)));
    const machine = `p${random.between(0, 2)}`;
    const fault = random.next();
    if (fault < 0.2) rig.network.partition(machine, 'leader');
    else if (fault < 0.4) rig.network.stall('leader', machine);
    else rig.network.heal(machine, 'leader');
    rig.clock.advance(1_000);
  }
  const seen = rig.accepted.map(
    (log) =>
      `${log.frames.map(({ header, body }) => `${header.msgId}/${body.length}`).join(',')} ${JSON.stringify(log.closed)}`,
  );
  return [...seen, ...peers.flatMap(({ events }) => events.map((event) => JSON.stringify(event)))].join('\n');
}

network('equal seeds give equal runs, other seeds other runs', () => {
  const once = history(7);
  assert.is(history(7), once);
  assert.is.not(history(8), once);
  assert.ok(once.split('\n').length > 5);
});

network('bytes in flight during a partition arrive after it', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  rig.network.partition('peer', 'leader');
  connectionOf(log).write(64, NO_HEADER, Buffer.from('through'));
  rig.clock.advance(5_000);
  assert.equal(first(rig.accepted).bodies, []);
  rig.network.heal('peer', 'leader');
  rig.clock.advance(10);
  assert.equal(first(rig.accepted).bodies, ['through']);
});

network('`stall` blocks one direction only', () => {
  const rig = openRig();
  const { log } = rig.dial();
  rig.clock.advance(10);
  rig.network.stall('leader', 'peer');
  connectionOf(log).write(64, NO_HEADER, Buffer.from('there'));
  connectionOf(first(rig.accepted)).write(64, NO_HEADER, Buffer.from('back'));
  rig.clock.advance(100);
  assert.equal(first(rig.accepted).bodies, ['there']);
  assert.equal(log.bodies, []);
});

network('a close is not seen across a partition', () => {
  const rig = openRig();
  const { log } = rig.dial({ backoff: { fromMs: 1e9, toMs: 1e9 } });
  rig.clock.advance(10);
  rig.network.partition('peer', 'leader');
  connectionOf(first(rig.accepted)).destroy();
  rig.clock.advance(1_000);
  assert.is(first(rig.accepted).closed?.kind, 'local');
  assert.is(log.closed, null);
  rig.network.heal('peer', 'leader');
  rig.clock.advance(10);
  assert.equal(log.closed, { kind: 'peer-closed', midFrame: false });
});

network('a crashed machine resets its connections and refuses new ones', () => {
  const rig = openRig();
  const { log, events } = rig.dial();
  rig.clock.advance(10);
  rig.network.crash('leader');
  rig.clock.advance(1_000);
  assert.is(log.closed?.kind, 'socket-error');
  assert.is(events.at(-1)?.kind, 'unreachable');
});

network.run();
