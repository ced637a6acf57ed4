import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, connectClient, type DialOptions, handle, startWorker } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import {
  type ConnectionFlags,
  dialOptions,
  withConnectionOptions,
} from '../../input/connection/connection-options.js';
import { parseAddress } from '../../input/connection/leader-address.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { silentHost } from '../../logging-host.js';
import { ProgressBar } from '../../output/progress/progress-bar.js';
import { interruption } from '../../signals/signal-interruption.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

interface Flags extends JsonFlag, ConnectionFlags {
  readonly jobs: number;
  readonly outstanding: number;
  readonly bytes: number;
  readonly leader?: string;
}

const Bench = untypedJob('troupe.bench');

export function addBench(program: Command, context: CommandContext): void {
  const bench = subcommand(
    program,
    'bench',
    'measure jobs a second, from durable submit to result',
    'troupe bench --jobs 20000 --outstanding 1000',
  );
  withConnectionOptions(bench)
    .option('--jobs <n>', 'how many', wholeNumber(1, 100_000_000), 20_000)
    .option('--outstanding <n>', 'how many at once', wholeNumber(1, 16_384), 1_000)
    .option('--bytes <n>', 'size of a payload', wholeNumber(2, 16_000_000), 100)
    .option('-l, --leader <address>', 'a leader that runs already; one in a temporary folder unless given')
    .action((flags: Flags) => run(context, flags));
}

async function run(context: CommandContext, flags: Flags): Promise<void> {
  const interrupted = interruption('bench');
  await using leader = await leaderOf(flags);
  const { dial } = leader;
  await using worker = await startWorker({
    ...dial,
    name: `bench-${process.pid}`,
    slots: Math.min(16_384, flags.outstanding),
    cpuCap: 1,
    handlers: [handle(Bench, (text) => resultOf(text as string))],
  });
  await using client = await connectClient({ ...dial, name: 'bench' });
  const bar = new ProgressBar(context.terminal, 'bench', flags.jobs);
  const driven = drive(client, flags, (done) => bar.at(done));
  const { seconds, latencies } = await Promise.race([driven, interrupted]).finally(() => bar.end());
  latencies.sort();
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  const figures = {
    jobs: flags.jobs,
    outstanding: flags.outstanding,
    payloadBytes: flags.bytes,
    durability: 'fsync before every acknowledgement',
    seconds: round(seconds),
    jobsPerSecond: Math.round(flags.jobs / seconds),
    p50Ms: round(at(0.5)),
    p99Ms: round(at(0.99)),
  };
  printResult(context, flags, figures, [
    `${figures.jobs} jobs in ${figures.seconds} s: ${figures.jobsPerSecond.toLocaleString('en')}/s, p50 ${figures.p50Ms} ms, p99 ${figures.p99Ms} ms (${figures.durability}, ${figures.outstanding} outstanding)`,
  ]);
  await worker.close();
}

/** A payload of its own for every job; its JSON, two quotes included, has the size of --bytes. */
function payloadOf(job: number, bytes: number): string {
  return `${job}-`.padEnd(bytes - 2, 'x').slice(0, bytes - 2);
}

function resultOf(payload: string): string {
  return payload.slice(0, 16);
}

function drive(
  client: Client,
  flags: Flags,
  onDone: (done: number) => void,
): Promise<{ seconds: number; latencies: Float64Array }> {
  const latencies = new Float64Array(flags.jobs);
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    let sent = 0;
    let done = 0;
    const next = (): void => {
      if (sent === flags.jobs) return;
      const payload = payloadOf(sent, flags.bytes);
      sent += 1;
      const at = performance.now();
      client.run(Bench, payload).then((result) => {
        if (result !== resultOf(payload)) return reject(new Error(`bench: wrong result ${String(result)}`));
        latencies[done] = performance.now() - at;
        done += 1;
        onDone(done);
        if (done === flags.jobs) resolve({ seconds: (performance.now() - startedAt) / 1_000, latencies });
        else next();
      }, reject);
    };
    for (let i = 0; i < Math.min(flags.outstanding, flags.jobs); i += 1) next();
  });
}

/** A leader in a process of its own; its folder is removed with it. */
async function leaderOf(flags: Flags): Promise<AsyncDisposable & { readonly dial: DialOptions }> {
  const { leader } = flags;
  if (leader !== undefined)
    return { dial: dialOptions({ ...flags, leader }), [Symbol.asyncDispose]: () => Promise.resolve() };
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const main = fileURLToPath(new URL('../../main.js', import.meta.url));
  const child = spawn(
    process.execPath,
    [main, 'leader', '--port', '0', '--dir', dir, '--json', '--drain-within', '0'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const address = await addressOf(child);
  return {
    dial: { address: parseAddress(address), host: silentHost },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', () =>
      reject(new CliError('ERR_CLI_BENCH', ExitCode.unavailable, 'bench: its leader did not start')),
    );
    child.stdout?.once('data', (chunk: Buffer) =>
      resolve((JSON.parse(chunk.toString()) as { address: string }).address),
    );
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
