import type { GateCommand } from '../cli/arguments.js';
import { writeOutputs } from '../cli/outputs.js';
import { Progress } from '../cli/progress.js';
import { selectCases } from '../cli/selection.js';
import { significant } from '../report/figure.js';
import { machineLine } from '../runner/machine.js';
import { type Launch, runProcess } from '../runner/process.js';
import { loadSuite } from '../runner/registry.js';
import type { Report, Row } from '../runner/report.js';
import type { ProcessResult } from '../runner/sample.js';
import type { Case } from '../runner/suite.js';
import { headlineOf, processFigure, refusal, rowOf } from '../runner/summary.js';
import { UsageError } from '../runner/usage-error.js';
import { type Verdict, verdictOf } from './verdict.js';
import { openWorktree } from './worktree.js';

const defaultRounds = 10;
/** With fewer pairs the sign test could not speak, and the gate could not fail. */
const roundsMin = 7;
const defaultOnly: readonly string[] = [
  ...['counting', 'pingpong', 'ring', 'forkjoin', 'create', 'ask', 'askConcurrent', 'memory', 'asyncHandler'],
];

interface Pair {
  readonly tree: ProcessResult[];
  readonly base: ProcessResult[];
}

/** Both sides once, next to each other; who goes first alternates. */
async function runPair(
  benchmark: Case,
  round: number,
  tree: Launch,
  base: Launch,
  pair: Pair,
): Promise<void> {
  const job = { case: benchmark, system: 'troupe', round };
  const sides = [
    async () => pair.tree.push(await runProcess(job, tree)),
    async () => pair.base.push(await runProcess(job, base)),
  ];
  if (round % 2 === 1) sides.reverse();
  for (const side of sides) await side();
}

function ratiosOf(benchmark: Case, pair: Pair): number[] {
  const headline = headlineOf(benchmark);
  return pair.tree.map((process, round) => {
    const ours = processFigure(process, headline);
    const theirs = processFigure(pair.base[round] ?? process, headline);
    return headline === 'opsPerSecond' ? ours / theirs : theirs / ours;
  });
}

function line(verdict: Verdict): string {
  const { ratio, interval, chance, slower } = verdict;
  const range = `${significant(interval.low)} to ${significant(interval.high)}`;
  const word = slower ? 'SLOWER' : interval.low > 1 ? 'faster' : 'same within noise';
  return `${verdict.benchmark.padEnd(20)} ${significant(ratio).padStart(6)}  99 %: ${range.padEnd(16)} sign test ${significant(chance).padEnd(7)} ${word}`;
}

interface Judged {
  readonly verdicts: Verdict[];
  readonly rows: Row[];
  readonly refused: { benchmark: string; system: string; reason: string }[];
}

async function judge(
  benchmark: Case,
  rounds: number,
  tree: Launch,
  base: Launch,
  tick: (round: number) => void,
): Promise<Pair> {
  const pair: Pair = { tree: [], base: [] };
  for (let round = 0; round < rounds; round += 1) {
    tick(round);
    await runPair(benchmark, round, tree, base, pair);
  }
  return pair;
}

/** Compares the working tree with a base ref, both in one run. Exit 1 if any benchmark is slower beyond noise. */
export async function gateCommand(command: GateCommand, say: (line: string) => void): Promise<number> {
  const suite = await loadSuite('core');
  const cases = selectCases(suite, command.only ?? defaultOnly);
  const rounds = command.rounds ?? defaultRounds;
  if (rounds < roundsMin) throw new UsageError(`gate needs --rounds of at least ${roundsMin}, got ${rounds}`);
  const worktree = await openWorktree(command.base);
  const interrupted = (): void => {
    void worktree.remove().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted);
  try {
    say(
      `working tree against ${command.base} (${worktree.commit.slice(0, 12)}), ${rounds} alternating rounds`,
    );
    const tree: Launch = { suite: 'core', scale: command.scale, adapters: {} };
    const judged = await judgeAll(cases, rounds, tree, { ...tree, core: worktree.core }, say);
    await writeOutputs(command.outputs, reportOf(command, judged), say);
    const slower = judged.verdicts.filter((verdict) => verdict.slower);
    const failed = slower.length + judged.refused.length;
    say(
      failed === 0
        ? 'gate: passed'
        : `gate: failed, ${slower.map((one) => one.benchmark).join(', ') || 'rows refused'}`,
    );
    return failed === 0 ? 0 : 1;
  } finally {
    process.off('SIGINT', interrupted);
    await worktree.remove();
  }
}

async function judgeAll(
  cases: readonly Case[],
  rounds: number,
  tree: Launch,
  base: Launch,
  say: (line: string) => void,
): Promise<Judged> {
  const judged: Judged = { verdicts: [], rows: [], refused: [] };
  const progress = new Progress(process.stderr);
  for (const [index, benchmark] of cases.entries()) {
    const tick = (round: number): void => {
      const job = { case: benchmark, system: 'troupe', round };
      progress.started(job, index * rounds + round, cases.length * rounds);
    };
    const pair = await judge(benchmark, rounds, tree, base, tick);
    progress.clear();
    const reason = refusal(benchmark, pair.tree) ?? refusal(benchmark, pair.base);
    if (reason !== undefined) {
      judged.refused.push({ benchmark: benchmark.benchmark, system: 'troupe', reason });
      say(`${benchmark.benchmark}: refused: ${reason}`);
      continue;
    }
    let verdict = verdictOf(benchmark.benchmark, ratiosOf(benchmark, pair));
    if (verdict.slower) {
      // Many benchmarks, run often: an alarm counts when a second, independent set of rounds repeats it.
      say(`${line(verdict)}, running it again to be sure`);
      const again = await judge(benchmark, rounds, tree, base, tick);
      progress.clear();
      verdict = verdictOf(benchmark.benchmark, ratiosOf(benchmark, again));
    }
    judged.verdicts.push(verdict);
    judged.rows.push(rowOf(benchmark, 'troupe', pair.tree), rowOf(benchmark, 'base', pair.base));
    say(line(verdict));
  }
  return judged;
}

function reportOf(command: GateCommand, judged: Judged): Report {
  const ratios: Record<string, Record<string, number>> = {};
  const intervals: Record<string, Record<string, readonly [number, number]>> = {};
  for (const { benchmark, ratio, interval } of judged.verdicts) {
    ratios[benchmark] = { 'troupe/base': ratio };
    intervals[benchmark] = { 'troupe/base': [interval.low, interval.high] };
  }
  return {
    suite: 'gate',
    machine: machineLine(),
    date: new Date().toISOString().slice(0, 10),
    scale: command.scale,
    rows: judged.rows,
    ratios,
    intervals,
    notes: {},
    skipped: [],
    refused: judged.refused,
  };
}
