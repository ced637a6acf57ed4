import { quantile } from '../stats/quantile.js';
import type { Measurement, Trial } from './suite.js';

/** One of the two systems that a process compares. */
export interface Side {
  readonly batchSize: number;
  /** Returns how much of the work was counted where it ends. */
  run(batches: number): Promise<number>;
}

/** Long enough for the clock of CPU time, short enough that both sides see the same machine. */
const TURN_MS = 1.5;
/** By then the code of both sides is compiled. */
const WARM_MS = 30;
const PAIRS = 30;
const PAIRS_MIN = 5;
const BUDGET_MS = 80;
/** A neighbour on the same core slows some turns of either side; the better ones are alike from process to process. */
const UNDISTURBED = 0.15;

/** The turns of one side. */
class Account {
  attempted = 0;
  completed = 0;
  wallMs = 0;
  private cpuMsPerUnit: number[] = [];
  private readonly side: Side;
  private batches = 1;

  constructor(side: Side) {
    this.side = side;
  }

  async turn(): Promise<void> {
    // Every turn starts from an empty event loop, whatever the one before it left there.
    await new Promise(setImmediate);
    const cpu = process.cpuUsage();
    const started = performance.now();
    const completed = await this.side.run(this.batches);
    this.wallMs += performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    this.completed += completed;
    this.attempted += this.batches * this.side.batchSize;
    this.cpuMsPerUnit.push((user + system) / 1_000 / completed);
  }

  /** From here on a turn takes `turnMs`. */
  begin(turnMs: number): void {
    const batchMs = this.undisturbed * this.side.batchSize;
    this.batches = Math.max(1, Math.round(turnMs / batchMs));
    this.attempted = 0;
    this.completed = 0;
    this.wallMs = 0;
    this.cpuMsPerUnit = [];
  }

  /** CPU time per unit of work in turns that nobody disturbed. */
  get undisturbed(): number {
    return quantile(this.cpuMsPerUnit, UNDISTURBED);
  }
}

/**
 * Two systems in turns of a few milliseconds, compared by CPU time: what drifts hits both sides alike. With one side
 * only, that side is measured.
 */
export function inTurns(reference: Side, other: Side | undefined, scale: number): Trial {
  const base = new Account(reference);
  const stack = other === undefined ? base : new Account(other);
  const pair = async (index: number): Promise<void> => {
    await (index % 2 === 0 ? base : stack).turn();
    if (stack !== base) await (index % 2 === 0 ? stack : base).turn();
  };
  return {
    async run(): Promise<Measurement> {
      await repeatFor(WARM_MS, Number.POSITIVE_INFINITY, pair);
      for (const side of new Set([base, stack])) side.begin(TURN_MS * scale);
      await repeatFor(WARM_MS, PAIRS_MIN, pair);
      for (const side of new Set([base, stack])) side.begin(TURN_MS * scale);
      await repeatFor(BUDGET_MS, PAIRS, pair);
      const { attempted, completed, wallMs } = stack;
      const seconds = wallMs / 1_000;
      if (stack === base) return { attempted, completed, seconds };
      return { attempted, completed, seconds, inTurns: stack.undisturbed / base.undisturbed };
    },
  };
}

/** By CPU time as well: a busy machine makes it last longer, not say less. */
async function repeatFor(ms: number, timesMax: number, run: (index: number) => Promise<void>): Promise<void> {
  const started = process.cpuUsage();
  for (let index = 0; index < timesMax; index += 1) {
    const { user, system } = process.cpuUsage(started);
    if (index >= PAIRS_MIN && (user + system) / 1_000 > ms) return;
    await run(index);
  }
}
