// npm run chaos -- --postgres: faults against leaders and servers in processes of their own.
//   npm run chaos -- --postgres --rounds 50 --faults kill-leader
//   npm run chaos -- --postgres --rounds 10 --faults fail-over
//   npm run chaos -- --postgres --rounds 3 --faults full-disk     alone: its server is on a disk in memory
import { parseArgs } from 'node:util';
import { FAULTS, type Fault, PostgresCampaign } from './postgres-campaign.js';
import { SmallDisk } from './small-disk.js';

const DISK_MIB = 192;

const { values } = parseArgs({
  options: { postgres: { type: 'boolean' }, rounds: { type: 'string' }, faults: { type: 'string' } },
});
const rounds = Number(values.rounds ?? '10');
const faults = faultsWanted();
process.exitCode = await run();

async function run(): Promise<number> {
  using disk = faults.includes('full-disk') ? new SmallDisk(DISK_MIB) : undefined;
  await using campaign = await PostgresCampaign.start(disk);
  for (let round = 0; round < rounds; round += 1)
    await campaign.round(faults[round % faults.length] as Fault);
  const { problems, ...report } = await campaign.finish();
  console.log(`${rounds} rounds of ${faults.join(', ')}: ${JSON.stringify(report)}`);
  for (const problem of problems.slice(0, 20)) console.error(problem);
  console.log(problems.length === 0 ? 'nothing was lost' : `${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

function faultsWanted(): readonly Fault[] {
  if (values.faults === undefined) return FAULTS.filter((fault) => fault !== 'full-disk');
  const named = values.faults.split(',');
  const known = FAULTS.filter((fault) => named.includes(fault));
  const isAlone = known.length === 1 || !known.includes('full-disk');
  if (known.length === named.length && isAlone && rounds > 0) return known;
  console.error(
    `chaos: --faults is a list of ${FAULTS.join(', ')}; full-disk alone; --rounds a number above 0`,
  );
  process.exit(2);
}
