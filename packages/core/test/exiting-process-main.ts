// A process with a system that fails or is ended by a signal; the first argument says how.
import { setTimeout as sleep } from 'node:timers/promises';
import { createSystem, defineActor, exitOn } from '@troupe/core';

const Failing = defineActor('failing', {
  handlers: {
    fail: (): void => {
      throw new Error('out of paper');
    },
  },
});

function failed(name = 'printer') {
  const system = createSystem({ name, supervise: { restarts: 0 } });
  system.spawn(Failing, { name: 'failing' }).tell.fail();
  return system;
}

/** Something that the system knows nothing of keeps the process alive. */
function stayAlive(): void {
  setInterval(() => undefined, 1_000);
}

const modes: Readonly<Record<string, () => unknown>> = {
  'not seen': () => void failed(),
  'not seen, alive'() {
    stayAlive();
    failed();
  },
  async disposed() {
    await using system = failed();
    await sleep(20);
    void system.name;
  },
  'seen before': () => void failed().whenStopped.then(({ cause }) => console.log(`cause: ${cause?.message}`)),
  async 'seen later'() {
    const system = failed();
    await sleep(100);
    console.log(`cause: ${(await system.whenStopped).cause?.message}`);
  },
  async 'one of two seen later'() {
    const [first] = [failed('first'), failed('second')];
    await sleep(100);
    await first?.shutdown();
  },
  'own exit code'() {
    process.exitCode = 3;
    failed();
  },
  'signal, alive'() {
    const system = createSystem();
    system.onShutdown('resources', 'log', () => console.log('closed'));
    exitOn(system, ['SIGTERM', 'SIGINT']);
    stayAlive();
  },
  'signal, two systems'() {
    for (const ms of [0, 1_500]) {
      const system = createSystem();
      system.onShutdown('drain', 'work', () => sleep(ms).then(() => console.log(`closed ${ms}`)));
      exitOn(system, ['SIGTERM']);
    }
    stayAlive();
  },
  'signal, hangs'() {
    const system = createSystem();
    system.onShutdown('drain', 'work', () => console.log('drains') ?? new Promise(() => undefined));
    exitOn(system, ['SIGTERM', 'SIGINT'], { withinMs: 60_000 });
    stayAlive();
  },
  'signal, unfinished'() {
    const system = createSystem({ name: 'slow' });
    system.onShutdown('drain', 'work', () => new Promise(() => undefined));
    exitOn(system, ['SIGTERM'], { withinMs: 50 });
    stayAlive();
  },
  'signal, failed before'() {
    exitOn(failed(), ['SIGTERM']);
    stayAlive();
  },
  'signal, disposed'() {
    exitOn(createSystem(), ['SIGTERM'])[Symbol.dispose]();
    stayAlive();
  },
};

await modes[process.argv[2] ?? '']?.();
if (process.argv[2]?.startsWith('signal')) console.log('ready');
