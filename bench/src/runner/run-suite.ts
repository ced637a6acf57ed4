import { describeMachine } from './describe-machine.js';
import type { ProcessResult } from './process-output.js';
import { type PlannedProcess, planRounds } from './process-plan.js';
import type { MissingRow, Report, Row } from './report.js';
import { ratioOf, refusalReason, rowOf } from './row-summary.js';
import { type Launch, runProcess } from './run-process.js';
import type { Case, Suite } from './suite.js';

export interface RunOptions {
  readonly suite: Suite;
  readonly cases: readonly Case[];
  /** Labels in table order. Ratios are those of `troupe`, or of the first label in a run without it. */
  readonly systems: readonly string[];
  readonly rounds: number;
  readonly launch: Launch;
  /** Systems that cannot run here: peers that are not installed. */
  readonly skipped: readonly MissingRow[];
}

/** Receives the progress of a run. */
export interface RunObserver {
  started(planned: PlannedProcess, done: number, total: number): void;
  finished(planned: PlannedProcess, done: number, total: number): void;
  row(row: Row): void;
  refused(missing: MissingRow): void;
}

interface SystemResult {
  readonly row: Row;
  readonly processes: readonly ProcessResult[];
}

/** The labels that a case can run: its own systems on any runtime, and adapters given by the user. */
function systemsFor(benchmark: Case, labels: readonly string[], launch: Launch): string[] {
  return labels.filter((label) => {
    const system = label.split('@')[0] ?? label;
    return benchmark.systems.includes(system) || (acceptsAny(benchmark) && system in launch.adapters);
  });
}

function acceptsAny(benchmark: Case): boolean {
  return benchmark.systems.includes('*');
}

function countProcesses(options: RunOptions): number {
  return options.cases.reduce(
    (sum, benchmark) => sum + systemsFor(benchmark, options.systems, options.launch).length * options.rounds,
    0,
  );
}

async function runCase(
  benchmark: Case,
  options: RunOptions,
  observer: RunObserver,
  progress: { done: number; total: number },
): Promise<{ results: Map<string, ProcessResult[]>; failures: Map<string, string> }> {
  const systems = systemsFor(benchmark, options.systems, options.launch);
  const results = new Map<string, ProcessResult[]>();
  const failures = new Map<string, string>();
  for (const planned of planRounds(benchmark, systems, options.rounds)) {
    observer.started(planned, progress.done, progress.total);
    if (!failures.has(planned.system)) {
      try {
        const known = results.get(planned.system) ?? [];
        known.push(await runProcess(planned, options.launch));
        results.set(planned.system, known);
      } catch (error) {
        // A failed process refuses its row; the other rows of the run go on.
        failures.set(planned.system, error instanceof Error ? error.message : String(error));
      }
    }
    progress.done += 1;
    observer.finished(planned, progress.done, progress.total);
  }
  return { results, failures };
}

export async function runSuite(options: RunOptions, observer: RunObserver): Promise<Report> {
  const rows: Row[] = [];
  const refused: MissingRow[] = [];
  const skipped: MissingRow[] = [...options.skipped];
  const ratios: Record<string, Record<string, number>> = {};
  const intervals: Record<string, Record<string, readonly [number, number]>> = {};
  const notes: Record<string, string> = {};
  const progress = { done: 0, total: countProcesses(options) };
  const reference = options.systems.includes('troupe') ? 'troupe' : options.systems[0];
  for (const benchmark of options.cases) {
    const name = benchmark.benchmark;
    const systems = systemsFor(benchmark, options.systems, options.launch);
    for (const system of options.systems.filter((label) => !systems.includes(label))) {
      skipped.push({ benchmark: name, system, reason: `${system} does not run this benchmark` });
    }
    const { results, failures } = await runCase(benchmark, options, observer, progress);
    const summaries = new Map<string, SystemResult>();
    for (const system of systems) {
      const processes = results.get(system) ?? [];
      // The first line only: a stack trace contains paths of this machine.
      const reason = (failures.get(system) ?? refusalReason(benchmark, processes))?.split('\n', 1)[0];
      if (reason !== undefined) {
        const missing = { benchmark: name, system, reason };
        refused.push(missing);
        observer.refused(missing);
        continue;
      }
      const row = rowOf(benchmark, system, processes);
      rows.push(row);
      summaries.set(system, { row, processes });
      observer.row(row);
    }
    if (benchmark.note !== undefined) notes[name] = benchmark.note;
    const ours = reference === undefined ? undefined : summaries.get(reference);
    if (ours === undefined) continue;
    ratios[name] = {};
    intervals[name] = {};
    for (const [system, theirs] of summaries) {
      if (system === reference) continue;
      const ratio = ratioOf(benchmark, ours, theirs);
      ratios[name][`${reference}/${system}`] = ratio.value;
      intervals[name][`${reference}/${system}`] = ratio.interval;
    }
  }
  return {
    suite: options.suite.name,
    machine: describeMachine(),
    date: new Date().toISOString().slice(0, 10),
    scale: options.launch.scale,
    rows,
    ratios,
    intervals,
    notes,
    skipped,
    refused,
  };
}
