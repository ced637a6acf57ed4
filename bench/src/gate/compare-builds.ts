import { significant } from '../report/number-format.js';
import type { ProcessResult } from '../runner/process-output.js';
import type { Job } from '../runner/process-plan.js';
import type { Absence, Row } from '../runner/report.js';
import { headlineOf, processFigure, refusal, rowOf } from '../runner/row-summary.js';
import { type Launch, runProcess } from '../runner/run-process.js';
import type { Case } from '../runner/suite.js';
import { type Verdict, verdictOf } from './verdict.js';

const system = 'troupe';

/** How a process of each side is started. */
export interface Sides {
  readonly tree: Launch;
  readonly base: Launch;
}

interface Pairs {
  readonly tree: ProcessResult[];
  readonly base: ProcessResult[];
}

export interface Comparison {
  readonly verdicts: Verdict[];
  readonly rows: Row[];
  readonly refused: Absence[];
}

/** A benchmark in the size it is compared at. */
export interface Compared {
  readonly benchmark: Case;
  readonly scale: number;
}

class Refused extends Error {
  readonly side: keyof Sides;

  constructor(side: keyof Sides, reason: string) {
    super(reason);
    this.side = side;
  }
}

/** Both sides once, next to each other; the side that goes first alternates. */
async function runPair(job: Job, sides: Sides, pairs: Pairs): Promise<void> {
  const order = ['tree', 'base'] as const;
  for (const side of job.round % 2 === 0 ? order : order.toReversed()) {
    const launch = sides[side];
    try {
      pairs[side].push(await runProcess(job, launch));
    } catch (error) {
      launch.signal?.throwIfAborted();
      throw new Refused(side, error instanceof Error ? error.message : String(error));
    }
  }
}

async function runPairs(
  benchmark: Case,
  rounds: number,
  sides: Sides,
  started: (job: Job) => void,
): Promise<Pairs> {
  const pairs: Pairs = { tree: [], base: [] };
  for (let round = 0; round < rounds; round += 1) {
    const job = { case: benchmark, system, round };
    started(job);
    await runPair(job, sides, pairs);
  }
  for (const side of ['tree', 'base'] as const) {
    const reason = refusal(benchmark, pairs[side]);
    if (reason !== undefined) throw new Refused(side, reason);
  }
  return pairs;
}

function ratiosOf(benchmark: Case, pairs: Pairs): number[] {
  const headline = headlineOf(benchmark);
  return pairs.tree.map((process, round) => {
    const tree = processFigure(process, headline);
    const base = processFigure(pairs.base[round] ?? process, headline);
    return headline === 'opsPerSecond' ? tree / base : base / tree;
  });
}

function line({ benchmark, ratio, interval, chance, slower }: Verdict): string {
  const range = `${significant(interval.low)} to ${significant(interval.high)}`;
  const word = slower ? 'SLOWER' : interval.low > 1 ? 'faster' : 'same within noise';
  return `${benchmark.padEnd(20)} ${significant(ratio).padStart(6)}  99 %: ${range.padEnd(16)} sign test ${significant(chance).padEnd(7)} ${word}`;
}

export interface CompareOptions {
  readonly rounds: number;
  readonly sides: Sides;
  print(line: string): void;
  started(job: Job, index: number): void;
}

/** One row in pairs of fresh processes. A slower row is run again, because many rows are run often. */
async function compareRow(
  { benchmark, scale }: Compared,
  { rounds, sides, print }: CompareOptions,
  started: (job: Job) => void,
): Promise<{ verdict: Verdict; rows: Row[] }> {
  const sized: Sides = {
    tree: { ...sides.tree, scale: sides.tree.scale * scale },
    base: { ...sides.base, scale: sides.base.scale * scale },
  };
  const name = benchmark.benchmark;
  const pairs = await runPairs(benchmark, rounds, sized, started);
  let verdict = verdictOf(name, ratiosOf(benchmark, pairs));
  if (verdict.slower) {
    print(`${line(verdict)}, running it again to be sure`);
    verdict = verdictOf(name, ratiosOf(benchmark, await runPairs(benchmark, rounds, sized, started)));
  }
  print(line(verdict));
  return { verdict, rows: [rowOf(benchmark, system, pairs.tree), rowOf(benchmark, 'base', pairs.base)] };
}

export async function compareAll(cases: readonly Compared[], options: CompareOptions): Promise<Comparison> {
  const comparison: Comparison = { verdicts: [], rows: [], refused: [] };
  for (const [index, compared] of cases.entries()) {
    try {
      const { verdict, rows } = await compareRow(compared, options, (job) => options.started(job, index));
      comparison.verdicts.push(verdict);
      comparison.rows.push(...rows);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const name = compared.benchmark.benchmark;
      const place = error.side === 'tree' ? 'the working tree' : 'the base';
      comparison.refused.push({ benchmark: name, system: error.side, reason: error.message });
      options.print(`${name}: refused, in ${place}: ${error.message}`);
    }
  }
  return comparison;
}
