// npm run chaos: faults against real processes, until the time is over or a fault has lost something.
//   npm run chaos -- --minutes 10              all faults that this machine allows
//   npm run chaos -- --rounds 50 --kills       fifty rounds of kill -9 alone
//   npm run chaos -- --rounds 50 --streams     fifty rounds of kill -9 while chunks are read
//   npm run chaos -- --faults clock-step,two-leaders
//   npm run chaos -- --minutes 1 --seed 7      the choices of an earlier run
import { rm, statfs } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { tempFolder } from '../temp-folder.js';
import { ChaosCampaign, FAULTS, type Fault, FREE_BYTES_SOFT, KILLS } from './chaos-campaign.js';
import { FakeClock } from './fake-clock.js';
import { pidNamespace } from './pid-namespace.js';
import { SmallDisk } from './small-disk.js';
import { StreamCampaign } from './stream-campaign.js';

const DISK_MIB = 512;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    kills: { type: 'boolean' },
    streams: { type: 'boolean' },
    faults: { type: 'string' },
  },
});
const seed = number('seed', values.seed ?? String(Date.now() % 1_000_000));
const rounds = values.rounds === undefined ? Number.POSITIVE_INFINITY : number('rounds', values.rounds);
const minutes = number('minutes', values.minutes ?? (values.rounds === undefined ? '1' : '60'));

const wanted = faultsWanted();
const disk = wanted.has('full-disk') ? usable('full-disk', await SmallDisk.mount(DISK_MIB)) : undefined;
const clock = wanted.has('clock-step') ? usable('clock-step', await FakeClock.start()) : undefined;
const namespace = wanted.has('two-leaders') ? usable('two-leaders', await pidNamespace()) : undefined;
const faults = [...wanted];
const folder = disk === undefined ? await tempFolder() : undefined;

try {
  const root = disk?.path ?? (folder as { readonly path: string }).path;
  process.exitCode = values.streams === true ? await runStreams(root) : await run(root);
} finally {
  await disk?.[Symbol.asyncDispose]();
  await clock?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
}

/** Undefined, with the reason printed, where this machine lacks something. */
function usable<T extends object>(fault: Fault, found: T | { readonly reason: string }): T | undefined {
  if (!('reason' in found)) return found;
  console.log(`skipped: ${fault} (${found.reason})`);
  wanted.delete(fault);
  return undefined;
}

function faultsWanted(): Set<Fault> {
  if (values.kills === true || values.streams === true) return new Set(KILLS);
  if (values.faults === undefined) return new Set(FAULTS);
  const named = values.faults.split(',');
  const unknown = named.filter((name) => !FAULTS.some((fault) => fault === name));
  if (unknown.length === 0) return new Set(FAULTS.filter((fault) => named.includes(fault)));
  console.error(`chaos: no fault ${unknown.join(', ')}; there are ${FAULTS.join(', ')}`);
  process.exit(2);
}

async function runStreams(root: string): Promise<number> {
  await using campaign = await StreamCampaign.start({ seed, dir: `${root}/log` });
  const until = performance.now() + minutes * 60_000;
  let done = 0;
  for (; done < rounds && performance.now() < until; done += 1) await campaign.round();
  const { problems, ...report } = await campaign.finish();
  console.log(`seed ${seed}, ${done} rounds: ${JSON.stringify(report)}`);
  for (const problem of problems.slice(0, 20)) console.error(problem);
  console.log(problems.length === 0 ? 'nothing was lost' : `${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

/** One campaign after another, each with a folder of its own: it keeps every result for the check. */
async function run(root: string): Promise<number> {
  const until = performance.now() + minutes * 60_000;
  let done = 0;
  let lost = 0;
  for (let part = 0; lost === 0 && done < rounds && performance.now() < until; part += 1) {
    const dir = `${root}/log-${part}`;
    await using campaign = await ChaosCampaign.start({
      seed: seed + part,
      faults,
      dir,
      disk,
      clock,
      namespace,
    });
    const before = done;
    while (done < rounds && performance.now() < until && (await hasRoom(root))) {
      await campaign.round();
      done += 1;
    }
    const { problems, ...report } = await campaign.finish();
    console.log(`seed ${seed + part}, ${done - before} rounds: ${JSON.stringify(report)}`);
    for (const problem of problems.slice(0, 20)) console.error(problem);
    lost += problems.length;
    await rm(dir, { recursive: true });
  }
  console.log(lost === 0 ? 'nothing was lost' : `${lost} problems`);
  return lost === 0 ? 0 : 1;
}

/** The log leaves more free than its leader wants to keep free. */
async function hasRoom(root: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(root);
  return bavail * bsize > 3 * FREE_BYTES_SOFT;
}

function number(option: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`chaos: --${option} must be a number above 0, not ${text}`);
  process.exit(2);
}
