import { Listener, NO_HEADER, REDIAL_BACKOFF } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { redialDelayMs } from '#src/dialer/redial-backoff.js';
import { connectionOf, openWorld, PORT } from '../world.js';

const dialer = suite('dialer');

dialer('waits longer each time, within its bounds, and never for ever', () => {
  for (const random of [0, 0.5, 0.999]) {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 50, 5_000].map((failures) =>
      redialDelayMs(REDIAL_BACKOFF, failures, random),
    );
    for (const [i, ms] of waits.entries())
      assert.ok(ms >= (waits[i - 1] ?? 0) && ms >= 400 && ms <= 36_000, `${ms}`);
  }
  assert.is(redialDelayMs(REDIAL_BACKOFF, 1, 0.5), 500);
  assert.is(redialDelayMs(REDIAL_BACKOFF, 4, 0.5), 4_000);
  assert.is(redialDelayMs(REDIAL_BACKOFF, 1_000_000, 0.5), 30_000);
});

dialer('keeps trying until there is a listener', () => {
  const world = openWorld({ address: { port: 1 } });
  const { log, events } = world.dial();
  world.clock.advance(20_000);
  assert.ok(events.filter((event) => event.kind === 'unreachable').length >= 4);
  assert.is(log.connection, null);
  new Listener({
    net: world.network.machine('leader'),
    clock: world.clock,
    address: { port: PORT },
    onConnection: () => ({ onFrame: () => undefined, onClose: () => undefined }),
  });
  world.clock.advance(36_000);
  assert.ok(log.connection !== null);
});

dialer('comes back after a loss, soon if it had been well', () => {
  const world = openWorld();
  const { log, events } = world.dial();
  world.clock.advance(15_000);
  world.network.reset('peer');
  world.clock.advance(700);
  assert.ok(log.connection !== null);
  assert.is(world.accepted.length, 2);
  assert.is(events.filter((event) => event.kind === 'lost').length, 1);
});

dialer('does not hammer a listener that throws it out at once', () => {
  const world = openWorld({
    onConnection: (connection) => ({ onFrame: () => connection.destroy(), onClose: () => undefined }),
  });
  const { events } = world.dial({
    onConnection: (connection) => {
      connection.write(64, NO_HEADER, Buffer.from('x'));
      return { onFrame: () => undefined, onClose: () => undefined };
    },
  });
  world.clock.advance(120_000);
  const lost = events.filter((event) => event.kind === 'lost').length;
  assert.ok(lost >= 5 && lost <= 10, `${lost} times in two minutes`);
});

dialer('spreads a crowd that lost its listener', () => {
  const world = openWorld();
  const crowd = Array.from({ length: 200 }, () => world.dial());
  world.clock.advance(100);
  world.network.reset();
  world.clock.advance(1);
  const waits = crowd.map(({ events }) => {
    const lost = events.find((event) => event.kind === 'lost');
    return lost === undefined ? 0 : Math.round(lost.retryInMs);
  });
  assert.ok(new Set(waits).size > 60, `${new Set(waits).size} different waits`);
  assert.ok(Math.min(...waits) >= 400 && Math.max(...waits) <= 600);
});

dialer('stops for good when closed, whatever it was doing', () => {
  const world = openWorld();
  const ready = world.dial();
  world.clock.advance(10);
  ready.dialer.close();
  const waiting = world.dial({ address: { host: 'nowhere', port: 1 } });
  world.clock.advance(10);
  waiting.dialer.close();
  const dialling = world.dial();
  dialling.dialer.close();
  world.clock.advance(100_000);
  assert.is(world.network.linkCount, 0);
  assert.is(world.listener.connections, 0);
  assert.is(dialling.log.connection, null);
  assert.equal(ready.log.closed, { kind: 'local' });
  assert.is(world.clock.pending, 0, 'no timer is left');
});

dialer('gives up an attempt that gets no answer', () => {
  const world = openWorld();
  world.network.partition('peer', 'leader');
  const { log, events } = world.dial({ connectMs: 2_000 });
  world.clock.advance(2_100);
  assert.is(events.at(-1)?.kind, 'unreachable');
  world.network.heal('peer', 'leader');
  world.clock.advance(1_000);
  assert.ok(log.connection !== null);
  assert.is(connectionOf(log).state, 'ready');
});

dialer.run();
