import { createSystem, defineActor, type LogEntry, nodeHost, type RuntimeEvent } from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const warnings = suite('turn warnings');

const slowOn = (host: ManualHost) =>
  defineActor('slow', {
    handlers: {
      work(_ctx, ms: number) {
        host.moveTo(host.now() + ms);
      },
      ask: (_ctx, ms: number) => {
        host.moveTo(host.now() + ms);
        return ms;
      },
    },
  });

function open(warn: { turnMs?: number; queueMs?: number } | false) {
  const host = new ManualHost();
  const world = createTestSystem({ host, warn });
  const events: RuntimeEvent[] = [];
  world.system.subscribe((event) => {
    if (event.kind === 'long-turn' || event.kind === 'queue-delay') events.push(event);
  });
  return { world, host, events, slow: world.system.spawn(slowOn(host), { name: 'slow' }) };
}

warnings('a long turn is reported with its actor and message', async () => {
  const { world, host, events, slow } = open({ turnMs: 50 });
  await using _ = world;
  await world.tell(slow).work(49);
  assert.equal(events, []);
  await world.tell(slow).work(51);
  assert.equal(events, [{ kind: 'long-turn', path: '/slow', message: 'work', turns: 1, handled: 1, ms: 51 }]);
  assert.ok(
    host.logged.some(
      ({ level, message }) =>
        level === 'warn' && message.includes('/slow: a message in one turn held the event loop for 51 ms'),
    ),
  );
  assert.equal(world.system.inspect({ under: slow }).slowest, { message: 'work', ms: 51 });
});

warnings('a long turn of an ask is reported with its message', async () => {
  const { world, events, slow } = open({ turnMs: 50 });
  await using _ = world;
  void slow.ask.ask(60);
  await world.settle();
  assert.is(events[0]?.kind === 'long-turn' && events[0].message, 'ask');
});

warnings('an actor is not reported repeatedly', async () => {
  const { world, events, slow } = open({ turnMs: 50 });
  await using _ = world;
  for (let i = 0; i < 3; i += 1) {
    await world.tell(slow).work(60);
  }
  assert.is(events.length, 1);
  await world.advance(10_000);
  await world.tell(slow).work(60);
  assert.is(events.length, 2);
});

warnings('a message that waited long is reported with its waiting time', async () => {
  const { world, events, slow } = open({ turnMs: 10_000, queueMs: 500 });
  await using _ = world;
  for (let i = 0; i < 1 + 300 + 300; i += 1) slow.tell.work(2);
  await world.settle();
  assert.is(events.length, 1);
  const [event] = events;
  assert.is(event?.kind, 'queue-delay');
  if (event?.kind !== 'queue-delay') return;
  assert.is(event.path, '/slow');
  assert.is(event.message, 'work');
  assert.ok(event.ms >= 500 && event.ms <= 1_202);
});

warnings('a deep queue that is handled in time is not reported', async () => {
  const { world, events, slow } = open({ turnMs: 10_000, queueMs: 500 });
  await using _ = world;
  slow.tell.work(490);
  for (let i = 0; i < 5_000; i += 1) slow.tell.work(0);
  await world.settle();
  assert.equal(events, []);
});

warnings('warnings can be switched off', async () => {
  const { world, events, slow } = open(false);
  await using _ = world;
  await world.tell(slow).work(1_000);
  assert.equal(events, []);
});

warnings(
  'the executor reports a single long turn although it does not read the clock during it',
  async () => {
    let now = 0;
    const logged: LogEntry[] = [];
    const host = { ...nodeHost, now: () => now, log: (entry: LogEntry) => void logged.push(entry) };
    await using system = createSystem({ host, warn: { turnMs: 50 } });
    const Slow = defineActor('slow', {
      handlers: {
        work: (_ctx, ms: number) => {
          now += ms;
          return ms;
        },
      },
    });
    const slow = system.spawn(Slow, { name: 'slow' });
    await slow.ask.work(80);
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    assert.ok(
      logged.some(({ message }) =>
        message.startsWith('/slow: a message in one turn held the event loop for 80 ms; last message work'),
      ),
      JSON.stringify(logged),
    );
  },
);

warnings.run();
