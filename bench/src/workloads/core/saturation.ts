import type { Ref, System } from '../../adapters/system.js';
import { EchoProbe } from '../../probes/echo-probe.js';
import { type Lateness, TimerProbe } from '../../probes/timer-probe.js';
import type { Measurement } from '../../runner/suite.js';
import { Latch } from '../latch.js';

const members = 100;
const tokens = 50;
const checkEvery = 4_096;

/** A ring of a hundred actors with fifty tokens that never rest: the loop is always full. */
class Hog {
  readonly #system: System;
  readonly #start: () => Ref[];
  readonly #token: (to: Ref, turn: number) => void;
  #refs: Ref[] = [];
  #until = 0;
  #sent = 0;
  #handled = 0;
  #retired = 0;
  #ended = new Latch();

  constructor(system: System) {
    this.#system = system;
    const token = system.tell<number>('token');
    const link = system.tell<Ref>('link');
    const hog = this;
    const Member = system.define({
      name: 'hog',
      state: (): { next: Ref | undefined; turns: number } => ({ next: undefined, turns: 0 }),
      handlers: {
        link(ctx, next: Ref) {
          ctx.state.next = next;
        },
        token(ctx, turn: number) {
          ctx.state.turns += 1;
          if (ctx.state.next !== undefined && hog.#goesOn()) token(ctx.state.next, turn + 1);
        },
      },
    });
    this.#token = token;
    this.#start = () => {
      const refs = Array.from({ length: members }, () => system.spawn(Member));
      refs.forEach((ref, index) => {
        link(ref, refs[(index + 1) % members] ?? ref);
      });
      return refs;
    };
  }

  /** Ends by its own clock, because on a system that never yields nobody else can end it. */
  #goesOn(): boolean {
    this.#handled += 1;
    if (this.#handled % checkEvery === 0 && performance.now() > this.#until) this.#until = 0;
    if (this.#until !== 0) {
      this.#sent += 1;
      return true;
    }
    this.#retired += 1;
    if (this.#retired === tokens) this.#ended.open();
    return false;
  }

  /** Saturates the loop for `ms` and says how many messages were sent and handled, and in which time. */
  async run(ms: number): Promise<Measurement> {
    this.#ended = new Latch();
    this.#sent = tokens;
    this.#handled = 0;
    this.#retired = 0;
    const started = performance.now();
    this.#until = started + ms;
    this.#refs = this.#start();
    for (let count = 0; count < tokens; count += 1) {
      const ref = this.#refs[(count * 2) % members];
      if (ref !== undefined) this.#token(ref, 0);
    }
    await this.#ended.promise;
    const seconds = (performance.now() - started) / 1_000;
    for (const ref of this.#refs) this.#system.stop(ref);
    return { attempted: this.#sent, completed: this.#handled, seconds };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The loop's work while a probe watches: a saturated ring, or nothing. */
function load(system: System | undefined, ms: number): () => Promise<Measurement | undefined> {
  if (system === undefined) {
    return async () => {
      await pause(ms);
      return undefined;
    };
  }
  const hog = new Hog(system);
  return () => hog.run(ms);
}

function health(work: Measurement | undefined, seen: Lateness, ms: number): Measurement {
  return {
    ...(work ?? { attempted: seen.count, completed: seen.count, seconds: ms / 1_000 }),
    p50: seen.p50,
    p99: seen.p99,
    max: seen.max,
    extra: { probes: seen.count },
  };
}

export function throughputUnderLoad(system: System, ms: number): () => Promise<Measurement> {
  const hog = new Hog(system);
  return () => hog.run(ms);
}

export function timerUnderLoad(system: System | undefined, ms: number): () => Promise<Measurement> {
  const work = load(system, ms);
  return async () => {
    const probe = new TimerProbe();
    const done = await work();
    // A timer that came due while the loop was blocked fires now, and counts.
    await pause(1);
    return health(done, probe.stop(), ms);
  };
}

export function echoUnderLoad(system: System | undefined, ms: number): () => Promise<Measurement> {
  const work = load(system, ms);
  return async () => {
    const probe = await EchoProbe.open();
    const done = await work();
    return health(done, await probe.stop(), ms);
  };
}
