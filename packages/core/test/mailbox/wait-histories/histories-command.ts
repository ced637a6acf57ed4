// npm run histories: random histories of waits, up to the first that breaks the rule of back-pressure.
//   npm run histories -- --seeds 20000             the seeds 1 to 20,000
//   npm run histories -- --from 50000 --seeds 10   ten seeds from 50,000 on
//   npm run histories -- --seed 7                  one seed, shrunk if it fails
import { parseArgs } from 'node:util';
import { runCampaign } from './history-campaign.js';

const SEEDS_DEFAULT = 20_000;

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, from: { type: 'string' }, seed: { type: 'string' } },
});
const first = wholeNumber('seed', values.seed ?? values.from ?? '1');
const count = values.seed === undefined ? wholeNumber('seeds', values.seeds ?? String(SEEDS_DEFAULT)) : 1;

const startedAt = performance.now();
const { failure, ...total } = await runCampaign(Array.from({ length: count }, (_, at) => first + at));
const seconds = Math.round((performance.now() - startedAt) / 1_000);
console.log(`${JSON.stringify(total)} in ${seconds} s`);
if (failure !== undefined) {
  console.error(failure);
  process.exitCode = 1;
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`histories: --${option} must be a whole number above 0, not ${text}`);
  process.exit(2);
}
