import { textTable } from '../report/table.js';
import { loadSuite } from '../runner/registry.js';
import { runSuite } from '../runner/run.js';
import type { SuiteCommand } from './arguments.js';
import { writeOutputs } from './outputs.js';
import { Progress } from './progress.js';
import { loadAdapters, onRuntimes, selectCases, selectSystems } from './selection.js';

/** Runs a suite and returns the exit code: 1 if any row was refused. */
export async function runSuiteCommand(command: SuiteCommand, say: (line: string) => void): Promise<number> {
  const suite = await loadSuite(command.suite);
  const cases = selectCases(suite, command.only);
  const adapters = await loadAdapters(command.adapters);
  const { labels, skipped } = await selectSystems(suite, command.systems, adapters);
  const systems = onRuntimes(labels, command.runtimes);
  for (const { system, reason } of skipped) say(`skipping ${system}: ${reason}`);
  const progress = new Progress(process.stderr);
  const report = await runSuite(
    {
      suite,
      cases,
      systems,
      rounds: command.rounds ?? suite.rounds ?? 3,
      launch: { suite: suite.name, scale: command.scale, adapters },
      skipped,
    },
    progress,
  );
  progress.clear();
  say(`\n${textTable(report)}`);
  await writeOutputs(command.outputs, report, say);
  say(verdict(report.rows, report.refused.length));
  return report.refused.length === 0 && report.rows.length > 0 ? 0 : 1;
}

function verdict(
  rows: readonly { readonly oracle?: boolean; readonly benchmark: string }[],
  refused: number,
): string {
  const benchmarks = new Set(rows.map((row) => row.benchmark)).size;
  const checked = rows.filter((row) => row.oracle === true).length;
  return `${benchmarks} benchmarks, ${rows.length} rows complete (${checked} with their oracle checked), ${refused} refused`;
}
