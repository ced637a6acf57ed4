import { type ActorSystem, createSystem, defineActor } from '@troupe/core';
import { ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const looks = suite('close looks');

/** The manual clock with an event loop: what was put off for later waits until everything for now is done. */
class LoopHost extends ManualHost {
  private put: (() => void)[] = [];

  override later(run: () => void): void {
    this.put.push(run);
  }

  turn(): void {
    do {
      while (this.runCallbacks());
      const due = this.put;
      this.put = [];
      for (const run of due) run();
    } while (this.put.length > 0 || this.runCallbacks());
  }

  warnings(): string[] {
    return this.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }
}

interface World {
  readonly host: LoopHost;
  readonly system: ActorSystem;
  readonly Worker: ReturnType<typeof workerOf>;
}

/** Actors whose handlers take as long as the message says. */
function world(): World {
  const host = new LoopHost();
  const system = createSystem({ name: 'looks', host, slice: { msMin: 1, msMax: 1 }, warn: { turnMs: 100 } });
  return { host, system, Worker: workerOf(host) };
}

function workerOf(host: ManualHost) {
  return defineActor('worker', {
    handlers: {
      work: (_ctx, ms: number) => {
        host.moveTo(host.now() + ms);
      },
    },
  });
}

/** Quick turns and a long one in the middle: too few to be looked at in between. */
function bursts({ host, system, Worker }: World): () => void {
  const quick = Array.from({ length: 10 }, (_, i) => system.spawn(Worker, undefined, { name: `quick-${i}` }));
  const slow = system.spawn(Worker, undefined, { name: 'slow' });
  const last = system.spawn(Worker, undefined, { name: 'last' });
  host.turn();
  return () => {
    for (const ref of quick) ref.tell.work(0);
    slow.tell.work(150);
    last.tell.work(0);
    host.turn();
  };
}

looks('a long run of several turns is reported as such, and the next one names the slow actor', () => {
  const here = world();
  const burst = bursts(here);
  burst();
  assert.is(here.host.warnings().length, 1);
  assert.match(here.host.warnings()[0] ?? '', /^12 turns together, the last of \/last, .*took 150 ms/);
  burst();
  assert.is(here.host.warnings().length, 2);
  assert.match(here.host.warnings()[1] ?? '', /^\/slow: a turn took 150 ms; last message work$/);
});

looks('a single long turn is reported at once with its actor', () => {
  const here = world();
  const burst = bursts(here);
  const alone = here.system.spawn(here.Worker, undefined, { name: 'alone' });
  here.host.turn();
  alone.tell.work(150);
  here.host.turn();
  assert.match(here.host.warnings()[0] ?? '', /^\/alone: a turn took 150 ms/);
  burst();
  assert.match(here.host.warnings()[1] ?? '', /turns together/);
});

looks('timing of single turns ends after some thousand turns', () => {
  const here = world();
  const burst = bursts(here);
  burst();
  const calm = here.system.spawn(here.Worker, undefined, { name: 'calm' });
  for (let i = 0; i < 6_000; i += 1) {
    calm.tell.work(0);
    here.host.turn();
  }
  // Beyond the time in which a warning is not repeated.
  here.host.moveTo(here.host.now() + 20_000);
  burst();
  assert.match(here.host.warnings().at(-1) ?? '', /turns together/);
});

looks.run();
