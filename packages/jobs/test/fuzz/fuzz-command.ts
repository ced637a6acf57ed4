// npm run fuzz: hostile input, until the time is over or something gave way.
//   npm run fuzz -- --minutes 5 [--seed 7]
// Half of the time mutated frames go through the decoders of the transport, in a process of their own; the other half
// hostile connections meet a leader in a process of its own, with a healthy client beside them.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { Client } from '@troupe/jobs';
import { connectClient } from '../checked-processes.js';
import { leaderProcess, workerProcess } from '../remote/role-process.js';
import { Echo } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';
import { HostileCrowd } from './hostile-crowd.js';

const CROWD = 50;
const RSS_MIB_MAX = 600;

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = number('minutes', values.minutes ?? '1');
const seed = number('seed', values.seed ?? String(Date.now() % 1_000_000));

console.log(`seed ${seed}`);
await fuzzDecoders(minutes * 30);
process.exitCode = await fuzzLeader(minutes * 30_000);

async function fuzzDecoders(seconds: number): Promise<void> {
  const script = new URL('../../../transport/.test/frame/fuzz-frames-command.js', import.meta.url);
  const args = [fileURLToPath(script), String(seconds), String(seed)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  process.stdout.write(stdout);
}

async function fuzzLeader(ms: number): Promise<number> {
  await using folder = await tempFolder();
  await using leader = await leaderProcess(folder.path);
  await using _worker = await workerProcess(leader.port, 'w');
  await using client = await connectClient({ address: { port: leader.port } });
  const crowd = new HostileCrowd(leader.port, seed);
  const latencies: number[] = [];
  const until = performance.now() + ms;
  await Promise.all([
    useWhile(client, latencies, () => performance.now() < until && leader.alive),
    attackWhile(crowd, () => performance.now() < until && leader.alive),
  ]);
  const rssMib = await residentMib(leader.pid);
  latencies.sort((a, b) => a - b);
  const p99Ms = Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0);
  console.log(
    `leader: ${JSON.stringify({ connections: crowd.connections, calls: latencies.length, p99Ms, rssMib })}`,
  );
  if (!leader.alive || rssMib > RSS_MIB_MAX) {
    console.error(leader.alive ? `the leader holds ${rssMib} MiB` : 'the leader has ended');
    return 1;
  }
  return 0;
}

async function useWhile(client: Client, latencies: number[], isOn: () => boolean): Promise<void> {
  for (let n = 0; isOn(); n += 1) {
    const at = performance.now();
    const answer = await client.run(Echo, n);
    if (answer !== n) throw new Error(`the healthy client had ${String(answer)} for ${n}`);
    latencies.push(performance.now() - at);
  }
}

async function attackWhile(crowd: HostileCrowd, isOn: () => boolean): Promise<void> {
  while (isOn()) await crowd.attack(CROWD);
}

/** 0 where the system does not say. */
async function residentMib(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1_024);
}

function number(option: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  console.error(`fuzz: --${option} must be a number above 0, not ${text}`);
  process.exit(2);
}
