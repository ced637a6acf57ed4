// npm run simulate: the whole job system in one thread, in virtual time, with faults drawn from a seed.
//   npm run simulate -- --seeds 20000             the seeds 1 to 20,000
//   npm run simulate -- --from 50000 --seeds 10   ten seeds from 50,000 on
//   npm run simulate -- --minutes 5               as many seeds as fit
import { parseArgs } from 'node:util';
import { SimulatedCluster } from './simulated-cluster.js';

const SEEDS_DEFAULT = 20_000;
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, from: { type: 'string' }, minutes: { type: 'string' } },
});
const from = number('from', values.from ?? '1');
const seeds = number(
  'seeds',
  values.seeds ?? (values.minutes === undefined ? String(SEEDS_DEFAULT) : '1000000000'),
);
const until = performance.now() + number('minutes', values.minutes ?? '100000') * 60_000;

const total = { seeds: 0, acknowledged: 0, leaderCrashes: 0, cuts: 0, diskErrors: 0, fenced: 0 };
let printedAt = performance.now();
for (let seed = from; seed < from + seeds && performance.now() < until; seed += 1) {
  const report = await new SimulatedCluster(seed).run();
  total.seeds += 1;
  total.acknowledged += report.acknowledged;
  total.leaderCrashes += report.leaderCrashes;
  total.cuts += report.cuts;
  total.diskErrors += report.diskErrors;
  total.fenced += report.fenced;
  if (report.problems.length > 0) {
    console.error([`seed ${seed} failed after ${report.events} events`, ...report.problems].join('\n  '));
    process.exitCode = 1;
    break;
  }
  if (performance.now() - printedAt < PROGRESS_MS) continue;
  printedAt = performance.now();
  console.log(JSON.stringify(total));
}
console.log(JSON.stringify(total));

function number(option: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`simulate: --${option} must be a number above 0, not ${text}`);
  process.exit(2);
}
