import { fileURLToPath } from 'node:url';
import type { GateCommand } from '../cli/parse-arguments.js';
import type { Print } from '../cli/print.js';
import { ProgressBar } from '../cli/progress-bar.js';
import { writeOutputs } from '../cli/write-outputs.js';
import { describeMachine } from '../runner/describe-machine.js';
import type { MissingRow, Report } from '../runner/report.js';
import type { Suite } from '../runner/suite.js';
import { loadSuite } from '../runner/suite-registry.js';
import { UsageError } from '../runner/usage-error.js';
import { childOf, type RowName, rowsInBuild } from './checkout-build.js';
import { type Comparison, compareAll, type GateCase, type Sides } from './compare-builds.js';
import { defaultRows, gateCase } from './default-rows.js';
import { openWorktree, type Worktree } from './worktree.js';

const defaultRounds = 10;
/** With fewer pairs the sign test cannot reach significance, and the gate could not fail. */
const roundsMin = 7;
const ownRepository = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Compares a suite of the working tree with the same suite at a base commit, each side in its own build. Exit
 * code 1 if any benchmark is slower beyond noise.
 */
export async function gateCommand(
  command: GateCommand,
  print: Print,
  repository: string = ownRepository,
): Promise<number> {
  const rounds = command.rounds ?? defaultRounds;
  const defaults = defaultRows(command.suite);
  const suite = await loadSuite(command.suite);
  if (rounds < roundsMin) throw new UsageError(`gate needs --rounds of at least ${roundsMin}, got ${rounds}`);
  const interrupt = new AbortController();
  const interrupted = (): void => interrupt.abort();
  process.once('SIGINT', interrupted);
  try {
    const { signal } = interrupt;
    const worktree = await openWorktree(repository, command.base, signal);
    try {
      const rows = await rowsInBuild(worktree.folder, suite.name);
      const selection = selectRows(suite, rows, command.only, defaults);
      print(
        `suite ${suite.name}, working tree against ${command.base} (${worktree.commit.slice(0, 12)}), ${rounds} alternating rounds`,
      );
      for (const { benchmark, reason } of selection.absent) print(`${benchmark.padEnd(20)} ${reason}`);
      const sides = sidesOf(command, repository, worktree, signal);
      const comparison = await compare(selection.cases, rounds, sides, print);
      await writeOutputs(command.outputs, reportOf(command, comparison, selection.absent), print);
      return conclude(comparison, print);
    } finally {
      await worktree.remove();
    }
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    print('gate: interrupted');
    return 130;
  } finally {
    process.off('SIGINT', interrupted);
  }
}

function sidesOf(command: GateCommand, repository: string, worktree: Worktree, signal: AbortSignal): Sides {
  const launch = { suite: command.suite, scale: command.scale, adapters: {}, signal };
  return {
    tree: { ...launch, child: childOf(repository) },
    base: { ...launch, child: childOf(worktree.folder) },
  };
}

interface Selection {
  readonly cases: readonly GateCase[];
  /** Rows of one side only, which are not compared. */
  readonly absent: readonly MissingRow[];
}

/** Without `--only`: the default rows, and a line for each base row that the working tree lacks. */
function selectRows(
  suite: Suite,
  baseRows: readonly RowName[],
  only: readonly string[] | undefined,
  defaults: readonly string[],
): Selection {
  const isTroupe = (row: RowName): boolean => row.systems.includes('troupe');
  const inTree = suite.cases.filter(isTroupe);
  const inBase = baseRows.filter(isTroupe);
  const names = only ?? defaults;
  const isNamed = ({ benchmark, group }: RowName): boolean =>
    names.includes(benchmark) || (group !== undefined && names.includes(group));
  for (const name of names) {
    if (![...inTree, ...inBase].some((row) => row.benchmark === name || row.group === name)) {
      const known = inTree.map(({ benchmark }) => benchmark).join(', ');
      throw new UsageError(`suite ${suite.name} has no benchmark '${name}' of troupe: there are ${known}`);
    }
  }
  const has = (rows: readonly RowName[], name: string): boolean =>
    rows.some(({ benchmark }) => benchmark === name);
  const named = inTree.filter(isNamed);
  const onlyInTree = named.filter(({ benchmark }) => !has(inBase, benchmark));
  const onlyInBase = inBase.filter(
    (row) => !has(inTree, row.benchmark) && (only === undefined || isNamed(row)),
  );
  return {
    cases: named.filter((one) => !onlyInTree.includes(one)).map((one) => gateCase(suite.name, one)),
    absent: [
      ...onlyInTree.map(({ benchmark }) => ({
        benchmark,
        system: 'base',
        reason: 'only in the working tree',
      })),
      ...onlyInBase.map(({ benchmark }) => ({ benchmark, system: 'troupe', reason: 'only in the base' })),
    ],
  };
}

async function compare(
  cases: readonly GateCase[],
  rounds: number,
  sides: Sides,
  print: Print,
): Promise<Comparison> {
  const progress = new ProgressBar(process.stderr);
  try {
    return await compareAll(cases, {
      rounds,
      sides,
      print(line) {
        progress.clear();
        print(line);
      },
      started: (planned, index) =>
        progress.started(planned, index * rounds + planned.round, cases.length * rounds),
    });
  } finally {
    progress.clear();
  }
}

function conclude({ verdicts, refused }: Comparison, print: Print): number {
  const slower = verdicts.filter((verdict) => verdict.slower).map(({ benchmark }) => `${benchmark} slower`);
  const failures = [...slower, ...refused.map(({ benchmark }) => `${benchmark} refused`)];
  if (verdicts.length === 0 && failures.length === 0) failures.push('no row is in both sides');
  print(failures.length === 0 ? 'gate: passed' : `gate: failed, ${failures.join(', ')}`);
  return failures.length === 0 ? 0 : 1;
}

function reportOf(command: GateCommand, comparison: Comparison, skipped: readonly MissingRow[]): Report {
  const ratios: Record<string, Record<string, number>> = {};
  const intervals: Record<string, Record<string, readonly [number, number]>> = {};
  for (const { benchmark, ratio, interval } of comparison.verdicts) {
    ratios[benchmark] = { 'troupe/base': ratio };
    intervals[benchmark] = { 'troupe/base': [interval.low, interval.high] };
  }
  return {
    suite: `gate-${command.suite}`,
    machine: describeMachine(),
    date: new Date().toISOString().slice(0, 10),
    scale: command.scale,
    rows: comparison.rows,
    ratios,
    intervals,
    notes: {},
    skipped,
    refused: comparison.refused,
  };
}
