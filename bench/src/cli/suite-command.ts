import { textTable } from '../report/table.js';
import { runSuite } from '../runner/run-suite.js';
import { loadSuite } from '../runner/suite-registry.js';
import type { SuiteCommand } from './parse-arguments.js';
import type { Print } from './print.js';
import { ProgressBar } from './progress-bar.js';
import { labelsOnRuntimes, loadAdapters, selectCases, selectSystems } from './selection.js';
import { writeOutputs } from './write-outputs.js';

/** Runs a suite. The exit code is 1 if any row was refused or none is complete. */
export async function suiteCommand(command: SuiteCommand, print: Print): Promise<number> {
  const suite = await loadSuite(command.suite);
  const cases = selectCases(suite, command.only);
  const adapters = await loadAdapters(command.adapters);
  const { labels, skipped } = await selectSystems(suite, command.systems, adapters);
  const systems = labelsOnRuntimes(labels, command.runtimes);
  for (const { system, reason } of skipped) print(`skipping ${system}: ${reason}`);
  const progress = new ProgressBar(process.stderr);
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
  print(`\n${textTable(report)}`);
  await writeOutputs(command.outputs, report, print);
  print(rowCounts(report.rows, report.refused.length));
  return report.refused.length === 0 && report.rows.length > 0 ? 0 : 1;
}

function rowCounts(
  rows: readonly { readonly oracle?: boolean | undefined; readonly benchmark: string }[],
  refused: number,
): string {
  const benchmarks = new Set(rows.map((row) => row.benchmark)).size;
  const checked = rows.filter((row) => row.oracle === true).length;
  return `${benchmarks} benchmarks, ${rows.length} rows complete (${checked} with their oracle checked), ${refused} refused`;
}
