import { significant } from '../report/number-format.js';
import type { ProcessResult } from '../runner/process-output.js';
import type { PlannedProcess } from '../runner/process-plan.js';
import type { MissingRow, Row } from '../runner/report.js';
import { headlineOf, processMedian, refusalReason, rowOf } from '../runner/row-summary.js';
import { type Launch, runProcess } from '../runner/run-process.js';
import type { Case } from '../runner/suite.js';
import { type Verdict, verdictOf } from './verdict.js';

const system = 'troupe';

/** The process options of each side. */
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
  readonly refused: MissingRow[];
}

/** A benchmark and the size for its comparison. */
export interface GateCase {
  readonly benchmark: Case;
  readonly scale: number;
}

class RefusedRow extends Error {
  readonly side: keyof Sides;

  constructor(side: keyof Sides, reason: string) {
    super(reason);
    this.side = side;
  }
}

/** One process of each side, one after the other; the first side alternates. */
async function runPair(planned: PlannedProcess, sides: Sides, pairs: Pairs): Promise<void> {
  const order = ['tree', 'base'] as const;
  for (const side of planned.round % 2 === 0 ? order : order.toReversed()) {
    const launch = sides[side];
    try {
      pairs[side].push(await runProcess(planned, launch));
    } catch (error) {
      launch.signal?.throwIfAborted();
      throw new RefusedRow(side, error instanceof Error ? error.message : String(error));
    }
  }
}

async function runPairs(
  benchmark: Case,
  rounds: number,
  sides: Sides,
  started: (planned: PlannedProcess) => void,
): Promise<Pairs> {
  const pairs: Pairs = { tree: [], base: [] };
  for (let round = 0; round < rounds; round += 1) {
    const planned = { case: benchmark, system, round };
    started(planned);
    await runPair(planned, sides, pairs);
  }
  for (const side of ['tree', 'base'] as const) {
    const reason = refusalReason(benchmark, pairs[side]);
    if (reason !== undefined) throw new RefusedRow(side, reason);
  }
  return pairs;
}

function ratiosOf(benchmark: Case, pairs: Pairs): number[] {
  const headline = headlineOf(benchmark);
  return pairs.tree.map((process, round) => {
    const tree = processMedian(process, headline);
    const base = processMedian(pairs.base[round] ?? process, headline);
    return headline === 'opsPerSecond' ? tree / base : base / tree;
  });
}

function verdictLine({ benchmark, ratio, interval, probability, slower }: Verdict): string {
  const range = `${significant(interval.low)} to ${significant(interval.high)}`;
  const outcome = slower ? 'SLOWER' : interval.low > 1 ? 'faster' : 'same within noise';
  return `${benchmark.padEnd(20)} ${significant(ratio).padStart(6)}  99 %: ${range.padEnd(16)} sign test ${significant(probability).padEnd(7)} ${outcome}`;
}

export interface CompareOptions {
  readonly rounds: number;
  readonly sides: Sides;
  print(line: string): void;
  started(planned: PlannedProcess, index: number): void;
}

/**
 * Compares one row in pairs of fresh processes. A slower row runs again, which rules out most false failures.
 */
async function compareRow(
  { benchmark, scale }: GateCase,
  { rounds, sides, print }: CompareOptions,
  started: (planned: PlannedProcess) => void,
): Promise<{ verdict: Verdict; rows: Row[] }> {
  const sized: Sides = {
    tree: { ...sides.tree, scale: sides.tree.scale * scale },
    base: { ...sides.base, scale: sides.base.scale * scale },
  };
  const name = benchmark.benchmark;
  const pairs = await runPairs(benchmark, rounds, sized, started);
  let verdict = verdictOf(name, ratiosOf(benchmark, pairs));
  if (verdict.slower) {
    print(`${verdictLine(verdict)}, running again to confirm`);
    verdict = verdictOf(name, ratiosOf(benchmark, await runPairs(benchmark, rounds, sized, started)));
  }
  print(verdictLine(verdict));
  return { verdict, rows: [rowOf(benchmark, system, pairs.tree), rowOf(benchmark, 'base', pairs.base)] };
}

export async function compareAll(cases: readonly GateCase[], options: CompareOptions): Promise<Comparison> {
  const comparison: Comparison = { verdicts: [], rows: [], refused: [] };
  for (const [index, compared] of cases.entries()) {
    try {
      const { verdict, rows } = await compareRow(compared, options, (planned) =>
        options.started(planned, index),
      );
      comparison.verdicts.push(verdict);
      comparison.rows.push(...rows);
    } catch (error) {
      if (!(error instanceof RefusedRow)) throw error;
      const name = compared.benchmark.benchmark;
      const place = error.side === 'tree' ? 'the working tree' : 'the base';
      comparison.refused.push({ benchmark: name, system: error.side, reason: error.message });
      options.print(`${name}: refused, in ${place}: ${error.message}`);
    }
  }
  return comparison;
}
