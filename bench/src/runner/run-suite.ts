import { machineLine } from './describe-machine.js';
import type { ProcessResult } from './process-output.js';
import { type Job, rounds } from './process-plan.js';
import type { Absence, Report, Row } from './report.js';
import { ratioOf, refusal, rowOf } from './row-summary.js';
import { type Launch, runProcess } from './run-process.js';
import type { Case, Suite } from './suite.js';

export interface RunOptions {
  readonly suite: Suite;
  readonly cases: readonly Case[];
  /** Labels in table order; the ratios are of the first. */
  readonly systems: readonly string[];
  readonly rounds: number;
  readonly launch: Launch;
  /** Known before anything runs: peers that are not installed. */
  readonly skipped: readonly Absence[];
}

/** What a run tells whoever is watching. */
export interface Watcher {
  started(job: Job, done: number, total: number): void;
  finished(job: Job, done: number, total: number): void;
  row(row: Row): void;
  refused(absence: Absence): void;
}

interface Standing {
  readonly row: Row;
  readonly processes: readonly ProcessResult[];
}

/** The names a case can run: its own, on whichever runtime the label says, and any adapter the user gave. */
export function systemsFor(benchmark: Case, labels: readonly string[], launch: Launch): string[] {
  return labels.filter((label) => {
    const system = label.split('@')[0] ?? label;
    return benchmark.systems.includes(system) || (acceptsAny(benchmark) && system in launch.adapters);
  });
}

function acceptsAny(benchmark: Case): boolean {
  return benchmark.systems.includes('*');
}

/** Drops the wildcard from what is shown and counted. */
function countJobs(options: RunOptions): number {
  return options.cases.reduce(
    (sum, benchmark) => sum + systemsFor(benchmark, options.systems, options.launch).length * options.rounds,
    0,
  );
}

async function runCase(
  benchmark: Case,
  options: RunOptions,
  watcher: Watcher,
  progress: { done: number; total: number },
): Promise<{ results: Map<string, ProcessResult[]>; failures: Map<string, string> }> {
  const systems = systemsFor(benchmark, options.systems, options.launch);
  const results = new Map<string, ProcessResult[]>();
  const failures = new Map<string, string>();
  for (const job of rounds(benchmark, systems, options.rounds)) {
    watcher.started(job, progress.done, progress.total);
    if (!failures.has(job.system)) {
      try {
        const known = results.get(job.system) ?? [];
        known.push(await runProcess(job, options.launch));
        results.set(job.system, known);
      } catch (error) {
        // A process that failed refuses its row; the other rows of the run are still worth having.
        failures.set(job.system, error instanceof Error ? error.message : String(error));
      }
    }
    progress.done += 1;
    watcher.finished(job, progress.done, progress.total);
  }
  return { results, failures };
}

export async function runSuite(options: RunOptions, watcher: Watcher): Promise<Report> {
  const rows: Row[] = [];
  const refused: Absence[] = [];
  const skipped: Absence[] = [...options.skipped];
  const ratios: Record<string, Record<string, number>> = {};
  const intervals: Record<string, Record<string, readonly [number, number]>> = {};
  const notes: Record<string, string> = {};
  const progress = { done: 0, total: countJobs(options) };
  const reference = options.systems.includes('troupe') ? 'troupe' : options.systems[0];
  for (const benchmark of options.cases) {
    const name = benchmark.benchmark;
    const able = systemsFor(benchmark, options.systems, options.launch);
    for (const system of options.systems.filter((label) => !able.includes(label))) {
      skipped.push({ benchmark: name, system, reason: `${system} does not run this benchmark` });
    }
    const { results, failures } = await runCase(benchmark, options, watcher, progress);
    const standings = new Map<string, Standing>();
    for (const system of able) {
      const processes = results.get(system) ?? [];
      // One line: a stack names places that others do not have.
      const reason = (failures.get(system) ?? refusal(benchmark, processes))?.split('\n', 1)[0];
      if (reason !== undefined) {
        const absence = { benchmark: name, system, reason };
        refused.push(absence);
        watcher.refused(absence);
        continue;
      }
      const row = rowOf(benchmark, system, processes);
      rows.push(row);
      standings.set(system, { row, processes });
      watcher.row(row);
    }
    if (benchmark.note !== undefined) notes[name] = benchmark.note;
    const ours = reference === undefined ? undefined : standings.get(reference);
    if (ours === undefined) continue;
    ratios[name] = {};
    intervals[name] = {};
    for (const [system, theirs] of standings) {
      if (system === reference) continue;
      const ratio = ratioOf(benchmark, ours, theirs);
      ratios[name][`${reference}/${system}`] = ratio.value;
      intervals[name][`${reference}/${system}`] = ratio.interval;
    }
  }
  return {
    suite: options.suite.name,
    machine: machineLine(),
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
