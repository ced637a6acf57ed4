import { quantile } from '../stats/quantile.js';
import type { Measurement, Trial } from './suite.js';

/** One of the two systems that a process compares. */
export interface Side {
  readonly batchSize: number;
  /** Returns the amount of work that the receiver has counted. */
  run(batches: number): Promise<number>;
}

/**
 * Long enough for the resolution of the CPU clock, short enough that both sides see the same machine load.
 */
const PERIOD_MS = 1.5;
/** Time for the compilation of both sides. */
const WARM_UP_MS = 30;
const PAIRS = 30;
const PAIRS_MIN = 5;
const BUDGET_MS = 80;
/**
 * Other load on the same core slows some periods of either side; this low quantile is stable between
 * processes.
 */
const UNDISTURBED_QUANTILE = 0.15;

/** The alternating periods of one side. */
class SidePeriods {
  attempted = 0;
  completed = 0;
  wallMs = 0;
  private cpuMsPerUnit: number[] = [];
  private readonly side: Side;
  private batches = 1;

  constructor(side: Side) {
    this.side = side;
  }

  async runPeriod(): Promise<void> {
    // Every period starts from an empty event loop, without leftovers of the previous one.
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

  /** Clears the counters and sets the length of the following periods. */
  restart(periodMs: number): void {
    const batchMs = this.undisturbedCpuMs * this.side.batchSize;
    this.batches = Math.max(1, Math.round(periodMs / batchMs));
    this.attempted = 0;
    this.completed = 0;
    this.wallMs = 0;
    this.cpuMsPerUnit = [];
  }

  /** CPU time per unit of work in periods without other load on the core. */
  get undisturbedCpuMs(): number {
    return quantile(this.cpuMsPerUnit, UNDISTURBED_QUANTILE);
  }
}

/**
 * Runs two systems alternately, a few milliseconds each, and compares their CPU time: drift of the machine
 * affects both alike. A reference without another side is measured alone.
 */
export function alternatingTrial(reference: Side, other: Side | undefined, scale: number): Trial {
  const base = new SidePeriods(reference);
  const compared = other === undefined ? base : new SidePeriods(other);
  const runPair = async (index: number): Promise<void> => {
    await (index % 2 === 0 ? base : compared).runPeriod();
    if (compared !== base) await (index % 2 === 0 ? compared : base).runPeriod();
  };
  return {
    async run(): Promise<Measurement> {
      await repeatFor(WARM_UP_MS, Number.POSITIVE_INFINITY, runPair);
      for (const side of new Set([base, compared])) side.restart(PERIOD_MS * scale);
      await repeatFor(WARM_UP_MS, PAIRS_MIN, runPair);
      for (const side of new Set([base, compared])) side.restart(PERIOD_MS * scale);
      await repeatFor(BUDGET_MS, PAIRS, runPair);
      const { attempted, completed, wallMs } = compared;
      const seconds = wallMs / 1_000;
      if (compared === base) return { attempted, completed, seconds };
      const pairedRatio = compared.undisturbedCpuMs / base.undisturbedCpuMs;
      return { attempted, completed, seconds, pairedRatio };
    },
  };
}

/** The limit is CPU time as well: on a busy machine the trial takes longer and stays as precise. */
async function repeatFor(ms: number, timesMax: number, run: (index: number) => Promise<void>): Promise<void> {
  const started = process.cpuUsage();
  for (let index = 0; index < timesMax; index += 1) {
    const { user, system } = process.cpuUsage(started);
    if (index >= PAIRS_MIN && (user + system) / 1_000 > ms) return;
    await run(index);
  }
}
