// Random trees of actors whose hooks and handlers are slow, throw, reject or hang, with random stops and
// failures. Every requested end happens, every watcher is notified once, and handlers and hooks of one
// incarnation never overlap.
import { type ActorRef, type ActorSystem, type AnyRef, defineActor, type Strategy } from '@troupe/core';
import { createTestSystem, ManualHost, SeededRandom } from '@troupe/core/testing';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AWAITING, FAULT, GATED, STOPPING } from '#src/mailbox/status-word.js';
import { cellOf } from '../internals.js';

const chance = suite('lifecycle fuzz');

const STRATEGIES: readonly Strategy[] = ['one-for-one', 'one-for-all', 'rest-for-one'];
const HANGING = ['stopping', 'stopped'];

type Act =
  | { readonly act: 'work' | 'fail'; readonly to: number; readonly n: number }
  | { readonly act: 'stop' | 'drain' | 'kill'; readonly to: number }
  | { readonly act: 'step'; readonly n: number }
  | { readonly act: 'advance'; readonly ms: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constantFrom('work' as const, 'work' as const, 'fail' as const),
      to: fc.nat(11),
      n: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('stop' as const, 'drain' as const, 'kill' as const),
      to: fc.nat(11),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ act: fc.constant('step' as const), n: fc.integer({ min: 1, max: 8 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 30 }) }),
  },
);

class Forest {
  readonly refs: AnyRef[] = [];
  readonly overlaps: string[] = [];
  readonly notices = new Map<string, number>();
  readonly ended = new Set<string>();
  pending = 0;
  private readonly busy = new WeakSet<object>();
  private readonly random: SeededRandom;
  private readonly host: ManualHost;
  private readonly system: ActorSystem;
  private readonly workers: ActorRef<ReturnType<Forest['define']>>[] = [];
  /** Off at the end, so that the remaining actors become idle. */
  moody = true;

  constructor(system: ActorSystem, host: ManualHost, seed: number, strategy: Strategy) {
    this.system = system;
    this.host = host;
    this.random = new SeededRandom(seed);
    const Node = this.define(strategy);
    const Watcher = defineActor('watcher', {
      handlers: { watch: (ctx, ref: AnyRef) => ctx.watch(ref) },
      terminated: (_ctx, { ref }) => void this.notices.set(ref.id, (this.notices.get(ref.id) ?? 0) + 1),
      mailbox: { overflow: 'grow' },
    });
    const watcher = system.spawn(Watcher);
    this.watch = (ref) => watcher.tell.watch(ref);
    for (let i = 0; i < 3; i += 1) this.workers.push(system.spawn(Node, { args: { depth: 2 } }));
    system.subscribe((event) => {
      if (event.kind === 'stopped') this.ended.add(event.path);
    });
  }

  private readonly watch: (ref: AnyRef) => void;

  private define(strategy: Strategy) {
    const forest = this;
    const Node = defineActor('node', {
      state: (args: { depth: number }) => args,
      handlers: {
        work: (ctx): unknown => forest.mood(ctx, 'work'),
        fail: (): never => {
          throw new Error('asked for');
        },
      },
      started(ctx): unknown {
        if (!forest.refs.includes(ctx.self)) {
          forest.refs.push(ctx.self);
          forest.watch(ctx.self);
        }
        if (ctx.state.depth > 0 && forest.workers.length < 12) {
          for (let i = 0; i < 2; i += 1)
            forest.workers.push(ctx.spawn(Node, { args: { depth: ctx.state.depth - 1 } }));
        }
        return forest.mood(ctx, 'started');
      },
      stopping: (ctx) => forest.mood(ctx, 'stopping'),
      stopped: (ctx) => forest.mood(ctx, 'stopped'),
      restarting: (ctx) => forest.mood(ctx, 'restarting'),
      supervise: { strategy, restarts: 4, withinMs: 200, backoff: { fromMs: 3, toMs: 10 } },
      stopWithinMs: 50,
    });
    return Node;
  }

  /**
   * Returns, settles later, throws, rejects later or hangs. Handlers and hooks of one incarnation must not
   * overlap.
   */
  private mood(ctx: object, what: string): unknown {
    const exclusive = what === 'work' || what === 'started';
    if (exclusive && this.busy.has(ctx)) this.overlaps.push(what);
    const draw = this.moody ? this.random.next() : 0;
    if (draw < 0.6) return undefined;
    if (draw < 0.68) throw new Error(what);
    if (draw > 0.97 && HANGING.includes(what)) return new Promise(() => undefined);
    if (exclusive) this.busy.add(ctx);
    return new Promise<void>((resolve, reject) => {
      this.host.setTimer(1 + Math.floor(this.random.next() * 20), () => {
        this.busy.delete(ctx);
        if (draw < 0.9) resolve();
        else reject(new Error(`${what} later`));
      });
    });
  }

  perform(act: Act): void {
    if (!('to' in act)) return;
    const ref = this.workers[act.to % this.workers.length] as (typeof this.workers)[number];
    switch (act.act) {
      case 'work':
      case 'fail':
        for (let i = 0; i < act.n; i += 1) ref.tell[act.act]();
        return;
      default:
        this.pending += 1;
        void this.system[act.act](ref).then(() => {
          this.pending -= 1;
        });
    }
  }

  /** Living actors that neither run nor wait. */
  stuck(): string[] {
    return this.workers
      .filter((ref) => !this.ended.has(ref.path))
      .filter((ref) => (cellOf(ref).status & (GATED | FAULT | AWAITING | STOPPING)) !== 0)
      .map((ref) => `${ref.path} ${cellOf(ref).status.toString(2)}`);
  }
}

const histories = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  strategy: fc.constantFrom(...STRATEGIES),
  acts: fc.array(acts, { maxLength: 40 }),
});

/** A longer search: LIFECYCLE_SEED=7 LIFECYCLE_RUNS=100000. */
const SEED = Number(process.env['LIFECYCLE_SEED'] ?? 9);
const RUNS = Number(process.env['LIFECYCLE_RUNS'] ?? 300);

chance('every requested end happens, watchers are notified once, and no living actor is stuck', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const host = new ManualHost({ seed: history.seed });
      const test = createTestSystem({
        seed: history.seed,
        host,
        supervise: { restarts: 50, withinMs: 10 },
      });
      const forest = new Forest(test.system, host, history.seed, history.strategy);
      for (const act of history.acts) {
        if (act.act === 'advance') await test.advance(act.ms);
        else if (act.act === 'step') for (let i = 0; i < act.n && test.step(); i += 1);
        else forest.perform(act);
        await Promise.resolve();
      }
      forest.moody = false;
      await test.advance(35_000);
      assert.equal(forest.overlaps, []);
      assert.is(forest.pending, 0, 'ends that did not happen');
      assert.equal(forest.stuck(), []);
      for (const { id, path } of forest.refs) {
        assert.is(forest.notices.get(id) ?? 0, forest.ended.has(path) ? 1 : 0, `${path} and its watcher`);
      }
      await test[Symbol.asyncDispose]();
      assert.is(test.system.stats().queued, 0);
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

chance.run();
