// timeout: 300s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SimReport, SimulatedCluster } from './simulated-cluster.js';

const cluster = suite('simulated cluster');

/** SIM_SEED=n runs only that seed, SIM_SEEDS=n the seeds 1 to n. */
const only = process.env['SIM_SEED'];
const seeds = Number(process.env['SIM_SEEDS'] ?? 500);

/** Seeds that have shown a bug of the leader, of its log or of a client. */
const FAILED_ONCE = [
  3_753, 4_959, 13_100, 31_875, 407_012, 415_457, 513_414, 515_396, 703_053, 711_208, 900_603, 1_015_877,
];

function explain(report: SimReport): string {
  const replay = `SIM_SEED=${report.seed} node packages/jobs/.test/sim/simulated-cluster.test.js`;
  return [
    `seed ${report.seed} failed after ${report.events} events`,
    ...report.problems,
    `replay: ${replay}`,
  ].join('\n  ');
}

cluster('no seed loses, duplicates or contradicts an acknowledged submit', async () => {
  const all =
    only === undefined ? [...Array.from({ length: seeds }, (_, i) => i + 1), ...FAILED_ONCE] : [Number(only)];
  const total = {
    acknowledged: 0,
    leaderCrashes: 0,
    snapshots: 0,
    cuts: 0,
    diskErrors: 0,
    refusals: 0,
    exits: 0,
    fenced: 0,
    versionRefusals: 0,
    events: 0,
  };
  for (const seed of all) {
    const report = await new SimulatedCluster(seed).run();
    assert.equal(report.problems, [], explain(report));
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += report[key];
    if (seed % 20 !== 1) continue;
    const again = await new SimulatedCluster(seed).run();
    assert.is(again.trace, report.trace, `seed ${seed} ran differently the second time`);
  }
  process.stdout.write(`${all.length} seeds: ${JSON.stringify(total)}\n`);
  if (only === undefined) {
    assert.ok(
      total.acknowledged > 10 * seeds &&
        total.leaderCrashes > seeds / 4 &&
        total.cuts > seeds &&
        total.fenced > seeds / 4 &&
        total.versionRefusals > seeds / 20,
      'too few faults were injected to be meaningful',
    );
  }
});

cluster.run();
