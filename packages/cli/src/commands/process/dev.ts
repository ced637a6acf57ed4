import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { serveDashboard } from '@troupe/dashboard';
import { connectClient, type LeaderServer, startLeader } from '@troupe/jobs';
import { formatAddress } from '@troupe/transport';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { FolderWatch } from '../../dev/folder-watch.js';
import { WorkerProcess } from '../../dev/worker-process.js';
import { ExitCode } from '../../exit-code.js';
import { DEFAULT_PORT } from '../../input/connection/leader-address.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { silentHost } from '../../logging-host.js';
import { printCrash } from '../../output/errors/print-crash.js';
import { untilSignal } from '../../signals/process-signals.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';
import { DEFAULT_HTTP_PORT } from './dashboard.js';

interface Flags extends JsonFlag {
  readonly port: number;
  readonly http: number;
  readonly dir?: string;
}

export function addDev(program: Command, context: CommandContext): void {
  subcommand(
    program,
    'dev <module>',
    'run a leader, its page and a worker for a module, and reload the worker when a file changes',
    'troupe dev ./handlers.mjs',
    'For your own machine: it listens on loopback. A change of a module or a JSON file beside or below it starts a new worker; running jobs have two seconds to end, and are tried again otherwise. Without --dir the jobs are gone at the end.',
  )
    .option('-p, --port <n>', 'port of the leader; 0 picks a free one', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option(
      '--http <port>',
      'port of the page; 0 picks a free one',
      wholeNumber(0, 65_535),
      DEFAULT_HTTP_PORT,
    )
    .option('-d, --dir <folder>', 'keep the jobs in this folder')
    .action((module: string, flags: Flags) => run(context, module, flags));
}

async function run(context: CommandContext, module: string, flags: Flags): Promise<void> {
  const file = resolve(module);
  await stat(file);
  // The leader writes there: each record would start the worker again.
  if (flags.dir !== undefined && resolve(flags.dir) === dirname(file))
    throw new CliError(
      'ERR_CLI_USAGE',
      ExitCode.usage,
      `dev --dir ${flags.dir}: the module is in it; name a folder for the jobs alone, such as ./state`,
    );
  const dir = flags.dir ?? (await mkdtemp(join(tmpdir(), 'troupe-dev-')));
  const leader = await startLeader({
    dir,
    address: { host: '127.0.0.1', port: flags.port },
    onFatal: (error) => process.exit(printCrash(context.terminal, 'dev', error)),
    host: silentHost,
  });
  try {
    await serve(context, file, dir, flags, leader);
  } finally {
    await leader.close({ withinMs: 0 });
    if (flags.dir === undefined) await rm(dir, { recursive: true, force: true });
  }
  printResult(context, flags, { kind: 'stopped' }, ['dev stopped']);
}

async function serve(
  context: CommandContext,
  file: string,
  dir: string,
  flags: Flags,
  leader: LeaderServer,
): Promise<void> {
  const { terminal } = context;
  await using client = await connectClient({ address: leader.address, name: 'dev', host: silentHost });
  await using page = await serveDashboard({ client, port: flags.http });
  const address = formatAddress(leader.address);
  const json = flags.json === true ? ['--json'] : [];
  // The leader is this process: on a busy machine it may answer late, and it is never away.
  const times = ['--connect-within', '1h', '--drain-within', '2s'];
  const words = [file, '--leader', address, '--name', 'dev', ...times, ...json];
  const worker = new WorkerProcess(words, (code) =>
    terminal.err(`dev: the worker ended with ${code}; it starts again when a file changes`),
  );
  const folder = dirname(file);
  const state = relative(folder, resolve(dir));
  const isState = (name: string): boolean => name === state || name.startsWith(`${state}${sep}`);
  const onChange = (name: string): void => {
    printResult(context, flags, { kind: 'changed', file: name }, [`dev: ${name} has changed`]);
    void worker.restart();
  };
  const onError = (error: Error): void =>
    terminal.err(`dev: files are not watched any more (${error.message}); start troupe dev again`);
  const watch = new FolderWatch(folder, { onChange, onError, isIgnored: isState });
  const signalled = untilSignal();
  printResult(context, flags, { kind: 'ready', address, url: page.url }, [
    `dev ready: leader on ${address}, page on ${page.url}`,
    `try: troupe run <exec> <payload>${flags.port === DEFAULT_PORT ? '' : ` --leader ${address}`}`,
  ]);
  await worker.restart();
  await signalled;
  watch.close();
  await worker.close();
}
