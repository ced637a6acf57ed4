// Under random sends, aborts, stops, kills and suspensions every accepted message is handled, queued or a dead
// message, and the messages from one actor to another arrive in order.
import {
  type ActorRef,
  type ActorSystem,
  createSystem,
  defineActor,
  type Level,
  type Middleware,
  nodeHost,
  type OverflowPolicy,
  SystemStoppedError,
} from '@troupe/core';
import { createTestSystem, ManualHost } from '@troupe/core/testing';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const conservation = suite('message conservation');

const POLICIES: readonly OverflowPolicy[] = ['mute-sender', 'reject', 'drop-newest', 'drop-oldest', 'grow'];

/** The effect of a message on its receiver. */
type Work =
  | 'note'
  | 'throw'
  | 'async'
  | 'async-throw'
  | 'wait'
  | 'forward'
  | 'nap'
  | 'stash'
  | 'unstash'
  | 'stop'
  | 'answer';
const WORKS: readonly Work[] = [
  'note',
  'note',
  'throw',
  'async',
  'async-throw',
  'wait',
  'forward',
  'forward',
  'nap',
  'stash',
  'unstash',
  'stop',
  'answer',
];

type Act =
  | { readonly act: 'spawn'; readonly policy: number; readonly parent: number }
  | {
      readonly act: 'tell' | 'ask' | 'send' | 'offer';
      readonly to: number;
      readonly work: Work;
      readonly n: number;
    }
  | { readonly act: 'stop' | 'drain' | 'kill' | 'suspend' | 'resume'; readonly to: number }
  | { readonly act: 'step'; readonly n: number }
  | { readonly act: 'settle' | 'abort' }
  | { readonly act: 'advance'; readonly ms: number };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant('spawn' as const), policy: fc.nat(6), parent: fc.nat(9) }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      act: fc.constantFrom(
        'tell' as const,
        'tell' as const,
        'ask' as const,
        'send' as const,
        'offer' as const,
      ),
      to: fc.nat(9),
      work: fc.constantFrom(...WORKS),
      n: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constantFrom(
        'stop' as const,
        'drain' as const,
        'kill' as const,
        'suspend' as const,
        'suspend' as const,
        'resume' as const,
        'resume' as const,
      ),
      to: fc.nat(9),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constant('step' as const), n: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('settle' as const, 'abort' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 60 }) }),
  },
);

interface TestMessage {
  readonly work: Work;
  readonly from: number;
  readonly to: number;
  /** Position among the messages from `from` to `to`. */
  readonly seq: number;
}

const STASH_MAX = 3;
/** The sender of asks from outside. */
const ASKER = -2;
/** A longer run: CONSERVATION_SEED=7 CONSERVATION_RUNS=100000. */
const SEED = Number(process.env['CONSERVATION_SEED'] ?? 5);
const RUNS = Number(process.env['CONSERVATION_RUNS'] ?? 600);

/** Actors that send to each other, and the count and order of their messages. */
class RandomActors {
  /** Messages that were accepted, or refused with a dead message. */
  sent = 0;
  runs = 0;
  private readonly system: ActorSystem;
  private readonly refs: ActorRef<ReturnType<RandomActors['define']>>[] = [];
  private readonly tokens: { resume(): void }[] = [];
  private readonly sequences = new Map<string, number>();
  /** Of all asks and sends from outside until the next abort. */
  private outside = new AbortController();
  private readonly lastSeen = new Map<string, number>();
  /** Actors that have used their stash, which changes the order. */
  private readonly disordered = new Set<number>();
  private readonly definitions = [
    ...POLICIES.map((policy) => this.define(policy)),
    this.define('reject', { middleware: [this.randomVerdicts()] }),
    this.define('mute-sender', { levels: { take: 'low', spawnChild: 'high' } }),
  ];
  readonly disorder: string[] = [];
  readonly rejections: unknown[] = [];
  /** Asks, sends, stops, drains and kills whose promise has not settled. */
  pending = 0;

  constructor(system: ActorSystem) {
    this.system = system;
    this.spawn(0, 0);
    this.spawn(1, 0);
    this.spawn(5, 0);
    this.spawn(6, 0);
  }

  /** Refuses some messages, answers some, and holds some once. */
  private randomVerdicts(): Middleware {
    const held = new Set<unknown>();
    return {
      name: 'random verdicts',
      beforeMessage: ({ payload }) => {
        const choice = typeof payload === 'object' ? (payload as TestMessage).seq % 5 : 0;
        if (choice === 1) return { verdict: 'refuse', why: 'choice' };
        if (choice === 2) return { verdict: 'answer', reply: 'choice' };
        if (choice !== 3 || held.has(payload)) return undefined;
        held.add(payload);
        return { verdict: 'hold', reason: { user: 'choice' }, resumeOn: { on: 'after', ms: 3 } };
      },
    };
  }

  private define(
    overflow: OverflowPolicy,
    more: {
      readonly middleware?: readonly Middleware[];
      readonly levels?: { readonly take: Level; readonly spawnChild: Level };
    } = {},
  ) {
    const actors = this;
    const Member = defineActor(`member ${overflow}`, {
      state: (args: { id: number }) => ({ id: args.id }),
      handlers: {
        take(ctx, message: TestMessage): unknown {
          return actors.handle(ctx, ctx.state.id, message);
        },
        spawnChild(ctx, policy: number) {
          const id = actors.refs.length;
          actors.refs.push(ctx.spawn(actors.definitions[policy] as typeof Member, { args: { id } }) as never);
        },
      },
      mailbox: { capacity: 3, overflow, ...(more.levels && { levels: more.levels }) },
      middleware: more.middleware ?? [],
      supervise: { restarts: 3, withinMs: 100, backoff: { fromMs: 5, toMs: 20 } },
      // Without it, the first message that is stashed was on the fast path.
      stashMax: overflow === 'mute-sender' ? undefined : STASH_MAX,
      throughput: 4,
    });
    return Member;
  }

  private handle(
    ctx: {
      suspend: (r: 'rate-limit', u: { on: 'after'; ms: number }) => unknown;
      stash(): void;
      unstash(): void;
      stop(): void;
      readonly signal: AbortSignal;
    },
    id: number,
    message: TestMessage,
  ): unknown {
    this.noteOrder(id, message);
    switch (message.work) {
      case 'throw':
        throw new Error('work');
      case 'async':
        return Promise.resolve();
      case 'async-throw':
        return Promise.reject(new Error('later'));
      case 'wait':
        return ended(ctx.signal);
      case 'forward': {
        for (let i = 0; i < 4; i += 1) this.tell(id, (id + 1) % this.refs.length, 'note');
        return undefined;
      }
      case 'nap':
        ctx.suspend('rate-limit', { on: 'after', ms: 10 });
        return undefined;
      case 'stash':
        this.disordered.add(id);
        ctx.stash();
        return undefined;
      case 'unstash':
        ctx.unstash();
        return undefined;
      case 'stop':
        ctx.stop();
        return undefined;
      case 'note':
      case 'answer':
        return message.seq;
      default:
        return message.work satisfies never;
    }
  }

  /** Messages from `from` to `to` must arrive in order; gaps are dead letters. */
  private noteOrder(id: number, message: TestMessage): void {
    this.runs += 1;
    const pair = `${message.from}→${message.to}`;
    const last = this.lastSeen.get(pair) ?? -1;
    if (message.to !== id) this.disorder.push(`${pair} reached ${id}`);
    if (message.seq <= last && !this.disordered.has(id))
      this.disorder.push(`${pair}: ${message.seq} after ${last}`);
    this.lastSeen.set(pair, Math.max(last, message.seq));
  }

  private message(from: number, to: number, work: Work): TestMessage {
    const pair = `${from}→${to}`;
    const seq = this.sequences.get(pair) ?? 0;
    this.sequences.set(pair, seq + 1);
    // Without an asker it would wait for ever.
    return { work: work === 'wait' && from !== ASKER ? 'async' : work, from, to, seq };
  }

  private tell(from: number, to: number, work: Work): void {
    this.sent += 1;
    this.refs[to]?.tell.take(this.message(from, to, work));
  }

  spawn(policy: number, parent: number): void {
    if (this.refs.length > 9) return;
    if (parent > 0 && parent < this.refs.length) {
      this.sent += 1;
      this.refs[parent]?.tell.spawnChild(policy);
      return;
    }
    const id = this.refs.length;
    try {
      this.refs.push(
        this.system.spawn(this.definitions[policy] as RandomActors['definitions'][number], { args: { id } }),
      );
    } catch (error) {
      if (!(error instanceof SystemStoppedError)) throw error;
    }
  }

  /** One act from outside, except steps and time. */
  perform(act: Act): void {
    const to = 'to' in act ? act.to % this.refs.length : 0;
    const ref = this.refs[to] as RandomActors['refs'][number];
    const OUTSIDE = -1;
    switch (act.act) {
      case 'spawn':
        return this.spawn(act.policy, act.parent);
      case 'tell':
        for (let i = 0; i < act.n; i += 1) this.tell(OUTSIDE, to, act.work);
        return;
      case 'ask':
        this.sent += 1;
        this.expect(
          this.system
            .ask(ref, { withinMs: 30, signal: this.outside.signal })
            .take(this.message(ASKER, to, act.work)),
        );
        return;
      case 'send':
        this.expect(
          ref
            .with({ signal: this.outside.signal })
            .send.take(this.message(-3, to, act.work))
            .then(() => {
              this.sent += 1;
            }),
        );
        return;
      case 'offer':
        for (let i = 0; i < act.n; i += 1) {
          if (ref.offer.take(this.message(OUTSIDE, to, act.work)) === 'accepted') this.sent += 1;
        }
        return;
      case 'stop':
      case 'drain':
      case 'kill':
        this.expect(this.system[act.act](ref));
        return;
      case 'abort':
        this.outside.abort(new Error('enough'));
        this.outside = new AbortController();
        return;
      case 'suspend':
        this.tokens.push(this.system.suspend(ref));
        return;
      case 'resume':
        this.tokens.shift()?.resume();
        return;
      default:
        return;
    }
  }

  private expect(promise: Promise<unknown>): void {
    this.pending += 1;
    promise
      .catch((error: unknown) => this.rejections.push(error))
      .finally(() => {
        this.pending -= 1;
      });
  }

  resumeAll(): void {
    for (const token of this.tokens.splice(0)) token.resume();
  }

  check(when: string): void {
    const { handled, queued, deadLetters } = this.system.stats();
    const equation = `${this.sent} sent = ${handled} handled + ${queued} queued + ${deadLetters} dead`;
    assert.is(handled + queued + deadLetters, this.sent, `${when}: ${equation}`);
    assert.equal(this.disorder, [], when);
  }
}

/** Rejects with the reason of the signal. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const histories = fc.record({
  seed: fc.integer({ min: 1, max: 100_000 }),
  acts: fc.array(acts, { maxLength: 60 }),
});

conservation(
  'sent = handled + queued + dead letters at every step, and messages between two actors keep their order',
  async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const host = new ManualHost({ seed: history.seed });
        const test = createTestSystem({ seed: history.seed, host, supervise: { restarts: 4, withinMs: 50 } });
        const actors = new RandomActors(test.system);
        for (const act of history.acts) {
          if (act.act === 'settle') await test.settle();
          else if (act.act === 'advance') await test.advance(act.ms);
          else if (act.act === 'step') for (let i = 0; i < act.n && test.step(); i += 1) actors.check('step');
          else actors.perform(act);
          // An accepted `send` is counted when its promise has resolved.
          if (act.act !== 'send') await Promise.resolve();
          await Promise.resolve();
          actors.check(act.act);
        }
        actors.resumeAll();
        await test.advance(200);
        actors.check('idle');
        await test[Symbol.asyncDispose]();
        const { queued } = test.system.stats();
        assert.is(queued, 0, 'a stopped system holds no message');
        actors.check('stopped');
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
);

conservation('messages are conserved on the real executor and clock too', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async ({ acts: history }) => {
      const host = { ...nodeHost, log: () => undefined };
      const system = createSystem({ host, supervise: { restarts: 100, withinMs: 50 } });
      const actors = new RandomActors(system);
      for (const act of history) {
        if (act.act === 'step' || act.act === 'settle') {
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
          actors.check(act.act);
        } else if (act.act !== 'advance') {
          actors.perform(act);
        }
      }
      actors.resumeAll();
      for (const kind of ['first', 'second']) {
        await new Promise((resolve) => {
          setTimeout(resolve, 4);
        });
        actors.check(kind);
      }
      const report = await system.shutdown();
      await Promise.resolve();
      assert.is(report.handled + report.deadLetters, actors.sent);
    }),
    { seed: 6, numRuns: 60 },
  );
});

conservation.run();
