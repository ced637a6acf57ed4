// npm run fuzz: hostile input, until the time is over or something gave way.
//   npm run fuzz -- --minutes 5 [--seed 7]
// A quarter of the time mutated frames go through the decoders of the transport, in a process of their own; a quarter mutated
// messages of all types through the readers of jobs; half of it hostile connections meet a leader in a process of its own,
// with a healthy client beside them that runs jobs and reads streams.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { type Client, defineJob } from '@troupe/jobs';
import { connectClient } from '../checked-processes.js';
import { aString } from '../plain-schema.js';
import { leaderProcess, workerProcess } from '../remote/role-process.js';
import { Echo, Fed } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';
import { runMessageMutations } from '../wire/message-mutation.js';
import { HostileCrowd } from './hostile-crowd.js';
import { EVIL_EXEC } from './hostile-session.js';

const CROWD = 50;
const RSS_MIB_MAX = 600;
const Evil = defineJob(EVIL_EXEC, { input: aString, output: aString, chunk: aString, feed: aString });

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = number('minutes', values.minutes ?? '1');
const seed = number('seed', values.seed ?? String(Date.now() % 1_000_000));

console.log(`seed ${seed}`);
await fuzzDecoders(minutes * 15);
fuzzMessages(minutes * 15_000);
process.exitCode = await fuzzLeader(minutes * 30_000);

async function fuzzDecoders(seconds: number): Promise<void> {
  const script = new URL('../../../transport/.test/frame/fuzz-frames-command.js', import.meta.url);
  const args = [fileURLToPath(script), String(seconds), String(seed)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  process.stdout.write(stdout);
}

function fuzzMessages(ms: number): void {
  const until = performance.now() + ms;
  const report = runMessageMutations(seed, (inputs) => inputs % 1_000 === 0 && performance.now() >= until);
  console.log(`messages: ${JSON.stringify(report)}`);
}

async function fuzzLeader(ms: number): Promise<number> {
  await using folder = await tempFolder();
  await using leader = await leaderProcess(folder.path);
  await using _worker = await workerProcess(leader.port, 'w');
  await using client = await connectClient({ address: { port: leader.port } });
  const crowd = new HostileCrowd(leader.port, seed);
  const latencies: number[] = [];
  const until = performance.now() + ms;
  const isOn = (): boolean => performance.now() < until && leader.alive;
  const [, streams] = await Promise.all([
    useWhile(client, latencies, isOn),
    streamWhile(client, isOn),
    attackWhile(client, crowd, isOn),
  ]);
  const rssMib = await residentMib(leader.pid);
  latencies.sort((a, b) => a - b);
  const p99Ms = Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0);
  const { connections, sessions, jobs } = crowd;
  const attempts = await attemptsOf(client);
  const counts = {
    connections,
    sessions,
    hostileJobs: jobs.length,
    attempts,
    calls: latencies.length,
    streams,
  };
  console.log(`leader: ${JSON.stringify({ ...counts, p99Ms, rssMib })}`);
  if (attempts === 0) throw new Error('no hostile worker got a job');
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

/** Feeds a job and reads what it streams; returns the number of jobs. */
async function streamWhile(client: Client, isOn: () => boolean): Promise<number> {
  let streams = 0;
  for (; isOn(); streams += 1) {
    const items = Array.from({ length: 20 }, (_, i) => `${streams}/${i}`);
    const job = await client.submit(Fed, '', { streaming: true });
    for (const item of items) await job.feed(item);
    await job.endFeed();
    const read: string[] = [];
    for await (const chunk of job.stream()) read.push(chunk);
    if (read.join() !== items.join()) throw new Error(`the healthy reader had ${read.join()}`);
  }
  return streams;
}

/** Before each crowd a job that its workers may take, its clients feed and its readers read. */
async function attackWhile(client: Client, crowd: HostileCrowd, isOn: () => boolean): Promise<void> {
  while (isOn()) {
    const job = await client.submit(Evil, '', { streaming: true });
    crowd.jobs.push((await job.inspect()).job);
    await crowd.attack(CROWD);
  }
}

/** Attempts of the jobs that hostile workers get, a part of them. */
async function attemptsOf(client: Client): Promise<number> {
  const jobs = [];
  for (const state of ['queued', 'running', 'dead'] as const) jobs.push(...(await client.list(state)));
  return jobs.filter(({ exec }) => exec === EVIL_EXEC).reduce((sum, { attempt }) => sum + attempt, 0);
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
