import { type ActorSystem, createSystem, defineActor } from '@troupe/core';
import { ManualHost } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const observer = suite('turn observer');

/** A manual host with an event loop: callbacks of `later` run after those of `soon`. */
class LoopHost extends ManualHost {
  private deferredCalls: (() => void)[] = [];

  override later(run: () => void): void {
    this.deferredCalls.push(run);
  }

  turn(): void {
    do {
      while (this.runCallbacks());
      const due = this.deferredCalls;
      this.deferredCalls = [];
      for (const run of due) run();
    } while (this.deferredCalls.length > 0 || this.runCallbacks());
  }

  warnings(): string[] {
    return this.logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }
}

interface SlowTurns {
  readonly host: LoopHost;
  readonly system: ActorSystem;
  readonly Worker: ReturnType<typeof workerOf>;
}

/** A system whose handlers take the time given in the message. */
function slowTurns(): SlowTurns {
  const host = new LoopHost();
  const system = createSystem({ name: 'turns', host, slice: { msMin: 1, msMax: 1 }, warn: { turnMs: 100 } });
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

/** Quick turns around a long one, too few for the executor to read the clock in between. */
function bursts({ host, system, Worker }: SlowTurns): () => void {
  const quick = Array.from({ length: 10 }, (_, i) => system.spawn(Worker, { name: `quick-${i}` }));
  const slow = system.spawn(Worker, { name: 'slow' });
  const last = system.spawn(Worker, { name: 'last' });
  host.turn();
  return () => {
    for (const ref of quick) ref.tell.work(0);
    slow.tell.work(150);
    last.tell.work(0);
    host.turn();
  };
}

observer('a long run of several turns is reported as such, and the next one names the slow actor', () => {
  const fixture = slowTurns();
  const burst = bursts(fixture);
  burst();
  assert.is(fixture.host.warnings().length, 1);
  assert.is(
    fixture.host.warnings()[0],
    '12 turns held the event loop for 150 ms in all, the last of /last (message work): a slow actor or a busy machine. ' +
      'The next turns are timed one by one: a slow actor will be named',
  );
  burst();
  assert.is(fixture.host.warnings().length, 2);
  assert.match(
    fixture.host.warnings()[1] ?? '',
    /^\/slow: a message in one turn held the event loop for 150 ms; last message work$/,
  );
});

observer('a single long turn is reported at once with its actor', () => {
  const fixture = slowTurns();
  const burst = bursts(fixture);
  const alone = fixture.system.spawn(fixture.Worker, { name: 'alone' });
  fixture.host.turn();
  alone.tell.work(150);
  fixture.host.turn();
  assert.match(
    fixture.host.warnings()[0] ?? '',
    /^\/alone: a message in one turn held the event loop for 150 ms/,
  );
  burst();
  assert.match(fixture.host.warnings()[1] ?? '', /turns held/);
});

observer('timing of single turns ends after some thousand turns', () => {
  const fixture = slowTurns();
  const burst = bursts(fixture);
  burst();
  const quick = fixture.system.spawn(fixture.Worker, { name: 'idle' });
  for (let i = 0; i < 6_000; i += 1) {
    quick.tell.work(0);
    fixture.host.turn();
  }
  // Beyond the interval in which a warning is not repeated.
  fixture.host.moveTo(fixture.host.now() + 20_000);
  burst();
  assert.match(fixture.host.warnings().at(-1) ?? '', /turns held/);
});

observer.run();
