import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PlannedProcess } from '#src/runner/process-plan.js';
import type { MissingRow, Row } from '#src/runner/report.js';
import { runSuite } from '#src/runner/run-suite.js';
import type { Suite } from '#src/runner/suite.js';
import { caseWith } from '../case-builders.js';

const run = suite('run-suite');

/** Seconds and completed work by system; each process prints one sample. */
const behaviour: Record<string, { seconds: number; completed: number }> = {
  troupe: { seconds: 1, completed: 10 },
  nact: { seconds: 4, completed: 10 },
  lossy: { seconds: 1, completed: 9 },
};

const benchmark = caseWith({
  systems: ['troupe', 'nact', 'lossy'],
  group: 'micro',
  note: 'a note',
  command({ system }) {
    const sample = { attempted: 10, ...behaviour[system] };
    return { file: process.execPath, args: ['-e', `console.log('@sample ' + '${JSON.stringify(sample)}')`] };
  },
});
const sample: Suite = { name: 'sample', title: 'a suite', systems: ['troupe'], cases: [benchmark] };

interface Seen {
  readonly processes: string[];
  readonly rows: Row[];
  readonly refused: MissingRow[];
}

async function runWith(systems: readonly string[]) {
  const seen: Seen = { processes: [], rows: [], refused: [] };
  const report = await runSuite(
    {
      suite: sample,
      cases: sample.cases,
      systems,
      rounds: 2,
      launch: { suite: 'sample', scale: 0.5, adapters: {} },
      skipped: [],
    },
    {
      started: (planned: PlannedProcess) => seen.processes.push(`${planned.round}${planned.system}`),
      finished: () => undefined,
      row: (row) => seen.rows.push(row),
      refused: (missing) => seen.refused.push(missing),
    },
  );
  return { report, seen };
}

run('the report has the fields of the recorded files', async () => {
  const { report } = await runWith(['troupe', 'nact']);
  assert.is(report.suite, 'sample');
  assert.type(report.machine, 'string');
  assert.is(report.scale, 0.5);
  assert.is(report.rows.length, 2);
  const [row] = report.rows;
  assert.is(row?.benchmark, 'pingpong');
  assert.is(row?.system, 'troupe');
  assert.is(row?.attempted, 10);
  assert.is(row?.completed, 10);
  assert.is(row?.seconds, 1);
  assert.is(row?.opsPerSecond, 10);
  assert.is(row?.unit, 'messages');
  assert.equal(report.ratios, { pingpong: { 'troupe/nact': 4 } });
  assert.equal(report.notes, { pingpong: 'a note' });
  assert.equal(JSON.parse(JSON.stringify(report)).ratios, report.ratios);
});

run('systems alternate within a round', async () => {
  const { seen } = await runWith(['troupe', 'nact']);
  assert.equal(seen.processes, ['0troupe', '0nact', '1nact', '1troupe']);
});

run('ratios are those of Troupe at any position in the list of systems', async () => {
  const { report } = await runWith(['nact', 'troupe']);
  assert.equal(report.ratios, { pingpong: { 'troupe/nact': 4 } });
});

run('an incomplete row has no table entry and no ratio', async () => {
  const { report, seen } = await runWith(['troupe', 'lossy']);
  assert.equal(
    report.rows.map((row) => row.system),
    ['troupe'],
  );
  assert.equal(report.ratios, { pingpong: {} });
  assert.equal(report.refused, [
    { benchmark: 'pingpong', system: 'lossy', reason: 'completed 9 of 10 messages' },
  ]);
  assert.is(seen.refused.length, 1);
});

run('a benchmark that a system cannot run is skipped with a reason', async () => {
  const { report } = await runWith(['troupe', 'erlang']);
  assert.is(report.skipped[0]?.reason, 'erlang does not run this benchmark');
});

run.run();
