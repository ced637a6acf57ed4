import { type Address, type DialerEvent, Listener, NO_HEADER } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { redialBackoff, redialDelayMs } from '#src/dialer/redial-backoff.js';
import { connectionOf, openRig, PORT } from '../connection-rig.js';

const dialer = suite('dialer');

dialer('delays grow with each failure, up to their maximum', () => {
  for (const random of [0, 0.5, 0.999]) {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 50, 5_000].map((failures) =>
      redialDelayMs(redialBackoff(), failures, random),
    );
    for (const [i, ms] of waits.entries())
      assert.ok(ms >= (waits[i - 1] ?? 0) && ms >= 400 && ms <= 36_000, `${ms}`);
  }
  assert.is(redialDelayMs(redialBackoff(), 1, 0.5), 500);
  assert.is(redialDelayMs(redialBackoff(), 4, 0.5), 4_000);
  assert.is(redialDelayMs(redialBackoff(), 1_000_000, 0.5), 30_000);
});

dialer('a dialer dials until there is a listener', () => {
  const rig = openRig({ address: { port: 1 } });
  const { log, events } = rig.dial();
  rig.clock.advance(20_000);
  assert.ok(events.filter((event) => event.kind === 'unreachable').length >= 4);
  assert.is(log.connection, null);
  new Listener({
    net: rig.network.machine('leader'),
    clock: rig.clock,
    address: { port: PORT },
    onConnection: () => ({ onFrame: () => undefined, onClose: () => undefined }),
  });
  rig.clock.advance(36_000);
  assert.ok(log.connection !== null);
});

dialer('a dialer redials after a loss, soon after a stable connection', () => {
  const rig = openRig();
  const { log, events } = rig.dial();
  rig.clock.advance(15_000);
  rig.network.reset('peer');
  rig.clock.advance(700);
  assert.ok(log.connection !== null);
  assert.is(rig.accepted.length, 2);
  assert.is(events.filter((event) => event.kind === 'lost').length, 1);
});

dialer('a listener that closes at once is not dialed in a tight loop', () => {
  const rig = openRig({
    onConnection: (connection) => ({ onFrame: () => connection.destroy(), onClose: () => undefined }),
  });
  const { events } = rig.dial({
    onConnection: (connection) => {
      connection.write(64, NO_HEADER, Buffer.from('x'));
      return { onFrame: () => undefined, onClose: () => undefined };
    },
  });
  rig.clock.advance(120_000);
  const lost = events.filter((event) => event.kind === 'lost').length;
  assert.ok(lost >= 5 && lost <= 10, `${lost} times in two minutes`);
});

dialer('an address that a standby names is dialed next, but not one that the named one names', () => {
  const rig = openRig({
    onConnection: (connection) => {
      connection.writeError('NOT_LEADER', { otherAddress: 'leader:9' });
      return { onFrame: () => undefined, onClose: () => undefined };
    },
  });
  new Listener({
    net: rig.network.machine('leader'),
    clock: rig.clock,
    address: { port: 9 },
    onConnection: (connection) => {
      connection.writeError('NOT_LEADER', { otherAddress: `leader:${PORT}` });
      return { onFrame: () => undefined, onClose: () => undefined };
    },
  });
  const { events } = rig.dial();
  rig.clock.advance(400);
  assert.equal(dialedPorts(events), [PORT, 9], 'the third is dialed after a delay');
  const lost = events.find((event) => event.kind === 'lost');
  assert.ok(lost?.kind === 'lost' && lost.reason.kind === 'peer-error');
  assert.is(lost.reason.error.message, 'not the leader, try leader:9');
});

dialer('ends in order are no failures, however soon they follow each other', () => {
  const rig = openRig();
  const { log, events } = rig.dial();
  let { listener } = rig;
  for (let round = 0; round < 8; round += 1) {
    rig.clock.advance(1_000);
    assert.ok(log.connection !== null, `round ${round}`);
    listener.drain(10, () => undefined);
    rig.clock.advance(20);
    listener = new Listener({
      net: rig.network.machine('leader'),
      clock: rig.clock,
      address: { port: PORT },
      onConnection: () => ({ onFrame: () => undefined, onClose: () => undefined }),
    });
  }
  const waits = events.flatMap((event) => (event.kind === 'lost' ? [event.retryInMs] : []));
  assert.is(waits.length, 8);
  assert.ok(Math.max(...waits) <= 600, waits.map(Math.round).join(', '));
});

dialer('after an announced end the next of several addresses is dialed at once', () => {
  const rig = openRig();
  const { events } = rig.dial({ address: [leaderAt(PORT), leaderAt(9)] });
  rig.clock.advance(100);
  rig.listener.drain(10, () => undefined);
  rig.clock.advance(20);
  assert.equal(dialedPorts(events), [PORT, 9]);
});

dialer('after an announced end of a named address the one that has named it is dialed at once', () => {
  const rig = openRig();
  new Listener({
    net: rig.network.machine('leader'),
    clock: rig.clock,
    address: { port: 9 },
    onConnection: (connection) => {
      connection.writeError('NOT_LEADER', { otherAddress: `leader:${PORT}` });
      return { onFrame: () => undefined, onClose: () => undefined };
    },
  });
  const { events } = rig.dial({ address: [leaderAt(9), leaderAt(8)] });
  rig.clock.advance(100);
  rig.listener.drain(10, () => undefined);
  rig.clock.advance(20);
  assert.equal(dialedPorts(events).slice(0, 3), [9, PORT, 9]);
});

dialer('jitter spreads the dialers of a lost listener', () => {
  const rig = openRig();
  const dials = Array.from({ length: 200 }, () => rig.dial());
  rig.clock.advance(100);
  rig.network.reset();
  rig.clock.advance(1);
  const waits = dials.map(({ events }) => {
    const lost = events.find((event) => event.kind === 'lost');
    return lost === undefined ? 0 : Math.round(lost.retryInMs);
  });
  assert.ok(new Set(waits).size > 60, `${new Set(waits).size} different waits`);
  assert.ok(Math.min(...waits) >= 400 && Math.max(...waits) <= 600);
});

dialer('`close` ends a dialer in every state', () => {
  const rig = openRig();
  const ready = rig.dial();
  rig.clock.advance(10);
  ready.dialer.close();
  const waiting = rig.dial({ address: { host: 'nowhere', port: 1 } });
  rig.clock.advance(10);
  waiting.dialer.close();
  const dialling = rig.dial();
  dialling.dialer.close();
  rig.clock.advance(100_000);
  assert.is(rig.network.linkCount, 0);
  assert.is(rig.listener.connections, 0);
  assert.is(dialling.log.connection, null);
  assert.equal(ready.log.closed, { kind: 'local' });
  assert.is(rig.clock.pending, 0, 'no timer is left');
});

dialer('a dial without an answer times out', () => {
  const rig = openRig();
  rig.network.partition('peer', 'leader');
  const { log, events } = rig.dial({ connectMs: 2_000 });
  rig.clock.advance(2_100);
  assert.is(events.at(-1)?.kind, 'unreachable');
  rig.network.heal('peer', 'leader');
  rig.clock.advance(1_000);
  assert.ok(log.connection !== null);
  assert.is(connectionOf(log).state, 'ready');
});

function leaderAt(port: number): Address {
  return { host: 'leader', port };
}

function dialedPorts(events: readonly DialerEvent[]): number[] {
  const dialed = events.flatMap((event) => (event.kind === 'dialing' ? [event.address] : []));
  return dialed.map((address) => ('port' in address ? address.port : 0));
}

dialer.run();
