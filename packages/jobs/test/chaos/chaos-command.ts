// npm run chaos: faults against real processes, until the time is over or a fault has lost something.
//   npm run chaos -- --minutes 10              all faults that this machine allows
//   npm run chaos -- --rounds 50 --kills       fifty rounds of kill -9 alone
//   npm run chaos -- --minutes 1 --seed 7      the choices of an earlier run
import { parseArgs } from 'node:util';
import { tempFolder } from '../temp-folder.js';
import { ChaosCampaign, FAULTS, type Fault, KILLS } from './chaos-campaign.js';
import { SmallDisk } from './small-disk.js';

const DISK_MIB = 512;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    kills: { type: 'boolean' },
  },
});
const seed = number('seed', values.seed ?? String(Date.now() % 1_000_000));
const rounds = values.rounds === undefined ? Number.POSITIVE_INFINITY : number('rounds', values.rounds);
const minutes = number('minutes', values.minutes ?? (values.rounds === undefined ? '1' : '60'));

const mounted =
  values.kills === true ? { reason: 'only kills were wanted' } : await SmallDisk.mount(DISK_MIB);
const disk = 'reason' in mounted ? undefined : mounted;
if ('reason' in mounted) console.log(`skipped: full-disk (${mounted.reason})`);
console.log('skipped: clock steps (they need the command faketime and a clock of their own per process)');
const all: readonly Fault[] = values.kills === true ? KILLS : FAULTS;
const faults = all.filter((fault) => fault !== 'full-disk' || disk !== undefined);
const folder = disk === undefined ? await tempFolder() : undefined;

try {
  process.exitCode = await run(disk?.path ?? (folder as { readonly path: string }).path);
} finally {
  await disk?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}

async function run(root: string): Promise<number> {
  await using campaign = await ChaosCampaign.start({ seed, faults, dir: `${root}/log`, disk });
  const until = performance.now() + minutes * 60_000;
  let done = 0;
  while (done < rounds && performance.now() < until) {
    await campaign.round();
    done += 1;
  }
  const { problems, ...report } = await campaign.finish();
  console.log(`seed ${seed}, ${done} rounds: ${JSON.stringify(report)}`);
  for (const problem of problems.slice(0, 20)) console.error(problem);
  console.log(problems.length === 0 ? 'nothing was lost' : `${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

function number(option: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`chaos: --${option} must be a number above 0, not ${text}`);
  process.exit(2);
}
