import { createSystem, defineActor, type Installation, type Middleware } from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const installs = suite('installation of middleware');

/** A middleware that writes down its installation and its end. */
function recording(name: string, log: string[], onDispose: () => void = () => undefined): Middleware {
  return {
    name,
    install({ system, middleware }: Installation) {
      log.push(`${name} in ${system.name} of ${middleware.map((one) => one.name).join(' ')}`);
      const unsubscribe = system.subscribe(({ kind }) => log.push(`${name}: ${kind}`));
      return {
        [Symbol.dispose]() {
          unsubscribe();
          log.push(`${name} ends with ${system.stats().actors} actors`);
          onDispose();
        },
      };
    },
  };
}

installs(
  'middleware of a system is installed once, sees its events, and ends with it, the last one first',
  async () => {
    const log: string[] = [];
    {
      await using world = createTestSystem({
        name: 'shop',
        middleware: [recording('a', log), { name: 'plain' }, recording('b', log)],
      });
      world.system.spawn(defineActor('x', { handlers: {} }));
      await world.settle();
      assert.equal(log.splice(0), [
        'a in shop of a plain b',
        'b in shop of a plain b',
        'a: spawned',
        'b: spawned',
      ]);
    }
    assert.equal(
      log.filter((line) => line.includes('ends')),
      ['b ends with 0 actors', 'a ends with 0 actors'],
    );
  },
);

installs(
  'the host is wrapped before the system begins: the first middleware wraps the host itself',
  async () => {
    const lines: string[] = [];
    const logging = (name: string): Middleware => ({
      name,
      wrapHost: (host) => ({
        now: () => host.now(),
        wallNow: () => host.wallNow(),
        random: () => host.random(),
        setTimer: (ms, run) => host.setTimer(ms, run),
        soon: (run) => host.soon(run),
        later: (run) => host.later(run),
        log(entry) {
          lines.push(`${name}: ${entry.message}`);
          host.log(entry);
        },
      }),
    });
    await using world = createTestSystem({ middleware: [logging('inner'), logging('outer')] });
    const Noisy = defineActor('noisy', { handlers: { go: (ctx) => ctx.log.info('hello') } });
    await world.ask(world.system.spawn(Noisy)).go();
    assert.is(world.host.logged.length, 1);
    assert.equal(
      lines.map((line) => line.split(':')[0]),
      ['outer', 'inner'],
    );
  },
);

installs('an installation that throws is refused, and ends those before it and the system', async () => {
  const log: string[] = [];
  const broken: Middleware = {
    name: 'broken',
    install: () => {
      throw new Error('no port');
    },
  };
  const host = new ManualHost();
  assert.throws(
    () => createSystem({ host, middleware: [recording('a', log), broken] }),
    (error: Error) => error.message === 'no port',
  );
  assert.equal(log.at(-1), 'a ends with 1 actors');
});

installs('an end that throws is a log line, and the others end', async () => {
  const log: string[] = [];
  const host = new ManualHost();
  {
    const broken = recording('b', log, () => {
      throw new Error('broken end');
    });
    await using world = createTestSystem({ host, middleware: [recording('a', log), broken] });
    await world.settle();
  }
  assert.is(log.at(-1), 'a ends with 0 actors');
  assert.ok(host.logged.some(({ message }) => message.includes('broken end')));
});

installs('an `install` that is no function is refused', () => {
  const wrong = { name: 'wrong', install: true } as unknown as Middleware;
  assert.throws(() => createSystem({ middleware: [wrong] }), /wrong\.install/);
});

installs.run();
