import { type AnyRef, createSystem, defineActor, type Host, nodeHost } from '@troupe/core';
import { SeededRandom } from '@troupe/core/testing';
import { ThreadBlockedError, ThreadPoolExecutor, threads } from '@troupe/threads';
import * as assert from 'uvu/assert';
import type * as PoolTasks from '../pool/pool-tasks.js';
import { BEGUN, ChaosActor, FIRST_PAIR, OVERTAKEN, SENT } from './chaos-actor.js';

const ACTORS = 6;
const limits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 8 };
const ASK_MS = 120_000;

/** Messages, asks and tasks of a run, by their ends. */
export interface ChaosReport {
  readonly sent: number;
  readonly begun: number;
  readonly dead: number;
  /** Threads that were ended as blocked although no actor was made to hang: the machine had no time for them. */
  readonly cutShort: number;
  readonly asks: Readonly<Record<string, number>>;
  readonly tasks: Readonly<Record<string, number>>;
}

/** The ends of promises, by code. */
class Ends {
  readonly counts: Record<string, number> = {};
  private readonly open = new Set<Promise<void>>();
  started = 0;

  add(promise: Promise<unknown>): void {
    this.started += 1;
    const note = (end: string): void => {
      this.counts[end] = (this.counts[end] ?? 0) + 1;
    };
    const ended = promise.then(
      () => note('ok'),
      (error: { readonly code?: string }) => note(error.code ?? String(error)),
    );
    this.open.add(ended);
    void ended.then(() => this.open.delete(ended));
  }

  get openCount(): number {
    return this.open.size;
  }

  async all(): Promise<void> {
    while (this.open.size > 0) await Promise.all(this.open);
  }
}

/** Counts the ends of what it watches. */
const Watcher = defineActor('watcher', {
  state: (ends: Map<string, number>) => ends,
  handlers: { watch: (ctx, ref: AnyRef) => ctx.watch(ref) },
  terminated(ctx, { ref }) {
    ctx.state.set(ref.id, (ctx.state.get(ref.id) ?? 0) + 1);
  },
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Tasks of a pool and actors on threads that throw, hang, exit and allocate without bound, in random order, for
 * so long. Every task and ask has one end; every message was begun or is a dead letter; messages of one pair
 * keep their order; a watcher gets one end for each actor. Of a thread that is cut short one message may be
 * begun and not counted by its handler.
 */
export async function runThreadChaos(seconds: number, seed: number): Promise<ChaosReport> {
  const random = new SeededRandom(seed);
  const counts = new Int32Array(new SharedArrayBuffer(4 * (FIRST_PAIR + (ACTORS + 1) * ACTORS)));
  const cutShort = new Set<unknown>();
  const host: Host = {
    ...nodeHost,
    log({ fields }) {
      const error = fields['error'];
      if (error instanceof ThreadBlockedError && !error.message.includes('.hang ')) cutShort.add(error);
    },
  };
  const system = createSystem({
    host,
    threads: threads({ count: 2, resourceLimits: limits, blockedKillMs: 500 }),
    supervise: { restarts: 100_000 },
    askWithinMs: ASK_MS,
  });
  const pool = new ThreadPoolExecutor({
    maxThreads: 2,
    maxQueue: 10_000,
    resourceLimits: limits,
    onEvent: () => undefined,
  });
  const tasks = pool.tasks<typeof PoolTasks>(new URL('../pool/pool-tasks.js', import.meta.url));
  const terminated = new Map<string, number>();
  const watcher = system.spawn(Watcher, { args: terminated });
  const refs = Array.from({ length: ACTORS }, (_, self) =>
    system.spawn(ChaosActor, { args: { self, actors: ACTORS, counts }, on: 'any-thread' }),
  );
  for (const ref of refs) watcher.tell.watch(ref);
  const [asks, ends] = [new Ends(), new Ends()];
  const sent = (): number => Atomics.add(counts, SENT, 1);
  const numbers = new Array<number>(ACTORS).fill(0);
  const handledBefore = system.stats().deadLetters;

  const actorStep = (): void => {
    const at = random.below(ACTORS);
    const ref = refs[at] as (typeof refs)[number];
    const choice = random.next();
    sent();
    if (choice < 0.5) {
      numbers[at] = (numbers[at] as number) + 1;
      ref.tell.take({ from: ACTORS, n: numbers[at] as number });
    } else if (choice < 0.7) ref.tell.pass({ to: refs[random.below(ACTORS)] as never, n: 1 });
    else if (choice < 0.97) asks.add(ref.ask.echo({ at, list: [1, 2, 3] }));
    else if (choice < 0.99) asks.add(ref.ask.crash());
    else if (choice < 0.995) asks.add(ref.ask.exit());
    else if (choice < 0.998) asks.add(ref.ask.hang());
    else asks.add(ref.ask.allocate());
  };
  const taskStep = (): void => {
    const choice = random.next();
    if (choice < 0.8) ends.add(tasks.echo(choice));
    else if (choice < 0.9) ends.add(tasks.fail('chaos'));
    else if (choice < 0.96)
      ends.add(tasks.with({ signal: AbortSignal.timeout(random.below(20)) }).echoLater(1, 30));
    else if (choice < 0.98) ends.add(tasks.exit(4));
    else if (choice < 0.995) ends.add(tasks.with({ withinMs: 50 }).loopForEver());
    else ends.add(tasks.allocate() as Promise<unknown>);
  };

  const until = performance.now() + 1_000 * seconds;
  while (performance.now() < until) {
    for (let n = random.below(30); n > 0; n -= 1) actorStep();
    for (let n = random.below(6); n > 0; n -= 1) taskStep();
    // Not more than the threads get done: each end of a thread costs tens of milliseconds.
    do await pause(random.below(10));
    while (asks.openCount + ends.openCount > 200);
  }
  await Promise.all([asks.all(), ends.all()]);
  const balance = (): number => {
    const dead = system.stats().deadLetters - handledBefore;
    return Atomics.load(counts, SENT) - Atomics.load(counts, BEGUN) - dead;
  };
  for (const deadline = performance.now() + 20_000; balance() > 0 && performance.now() < deadline; )
    await pause(20);
  const dead = system.stats().deadLetters - handledBefore;
  const report: ChaosReport = {
    sent: Atomics.load(counts, SENT),
    begun: Atomics.load(counts, BEGUN),
    dead,
    cutShort: cutShort.size,
    asks: asks.counts,
    tasks: ends.counts,
  };
  const missing = report.sent - report.begun - report.dead;
  assert.ok(
    missing >= 0 && missing <= report.cutShort,
    `${missing} of the messages: ${JSON.stringify(report)}`,
  );
  assert.is(counts[OVERTAKEN], 0, 'a message has overtaken another of its sender');
  assert.is(sum(asks.counts), asks.started, 'asks');
  assert.is(sum(ends.counts), ends.started, 'tasks');
  const { scheduled, completed, failed, cancelled, active, queueLength, waiting } = pool.counters;
  assert.is(scheduled, completed + failed + cancelled, 'counters of the pool');
  assert.equal([active, queueLength, waiting], [0, 0, 0]);
  for (const ref of refs) await system.stop(ref);
  for (const { length } = refs; terminated.size < length; ) await pause(5);
  assert.equal(
    [...terminated.values()],
    refs.map(() => 1),
    'one end per watch',
  );
  await pool.shutdown();
  await system.shutdown();
  return report;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
