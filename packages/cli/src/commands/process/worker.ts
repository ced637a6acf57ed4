import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LogEntry } from '@troupe/core';
import {
  GroupWorker,
  type HandledJob,
  type RemoteWorker,
  SessionRefusedError,
  type StartWorkerOptions,
  startGroupWorker,
  startWorker,
} from '@troupe/jobs';
import { commandRunner, httpRunner } from '@troupe/jobs/runners';
import type { Command } from 'commander';
import { ActorsSocket } from '../../actors/actors-socket.js';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import {
  dialOptions,
  type LeaderFlags,
  withLeaderOptions,
} from '../../input/connection/connection-options.js';
import { type GroupFlags, leaderMapOf, withGroupOptions } from '../../input/connection/group-leaders.js';
import { socketPath } from '../../input/connection/leader-address.js';
import { moduleErrorPlace } from '../../input/files/module-error-place.js';
import { duration, share, wholeNumber } from '../../input/option-parsers.js';
import { repeatable } from '../../input/repeatable-option.js';
import { loggingHost } from '../../logging-host.js';
import { ConnectionNotices } from '../../output/connection-notices.js';
import { logLines } from '../../output/errors/log-lines.js';
import { escapeControlCharacters } from '../../output/text/escape-control-characters.js';
import { untilSignal } from '../../signals/process-signals.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

type WorkerOptions = Omit<StartWorkerOptions, 'handlers' | 'threads'>;

interface Flags extends JsonFlag, LeaderFlags, GroupFlags {
  readonly name?: string;
  readonly slots?: number;
  readonly threads?: number;
  readonly cpuCap?: number;
  readonly pattern?: readonly string[];
  readonly command?: readonly string[];
  readonly commandCwd?: string;
  readonly http?: readonly string[];
  readonly httpPrivate?: readonly string[];
  readonly drainWithin: number;
  readonly label?: readonly string[];
  readonly actorsSocket?: string;
  readonly verbose?: boolean;
}

export function addWorker(program: Command, context: CommandContext): void {
  withWorkerLeaders(
    subcommand(
      program,
      'worker [module]',
      'run the handlers that a module exports, and built-in runners',
      'troupe worker ./handlers.mjs --slots 8',
    ),
  )
    .option('-n, --name <name>', 'name of this worker; one at a time under one name')
    .option(
      '-s, --slots <n>',
      'attempts at once (default: 16, with --threads their number)',
      wholeNumber(1, 16_384),
    )
    .option(
      '--threads <n>',
      'run handlers on so many threads, each of which imports the module',
      wholeNumber(1, 1_024),
    )
    .option(
      '--cpu-cap <share>',
      'take no work while the processor is busier than this (default: 0.75, with --threads 1)',
      share,
    )
    .option(
      '--pattern <subject>',
      'which job.assign.{group}.{worker} it takes; may be given several times',
      repeatable,
    )
    .option('--label <text>', 'a label that jobs may require; may be given several times', repeatable)
    .option(
      '--command <name=path>',
      'let jobs of command.run start this program; may be given several times',
      repeatable,
    )
    .option('--command-cwd <folder>', 'the folder of these programs')
    .option(
      '--http <host>',
      'let jobs of http.request call this host; may be given several times',
      repeatable,
    )
    .option(
      '--http-private <network>',
      'private addresses that such a host may have; may be given several times',
      repeatable,
    )
    .option(
      '--actors-socket <path>',
      'show the actors of this process on a Unix socket, for troupe tree; its owner alone may connect',
      socketPath,
    )
    .option('-v, --verbose', 'print the log of the runtime too')
    .option('--drain-within <time>', 'how long running jobs have at the end', duration(0, 3_600_000), 10_000)
    .action((module: string | undefined, flags: Flags) => run(context, module, flags));
}

async function run(context: CommandContext, module: string | undefined, flags: Flags): Promise<void> {
  const handlers = await allHandlers(module, flags);
  const name = flags.name ?? `${hostname().replaceAll(/[^\w-]/g, '-')}-${process.pid}`;
  const { terminal } = context;
  // An error before the worker runs is printed once, as the reason why it does not start.
  let isWorking = false;
  const host = loggingHost((entry) => {
    if (!isWorking || (entry.level !== 'error' && flags.verbose !== true) || isOfOperator(entry)) return;
    for (const line of logLines('worker', entry)) terminal.err(line);
  });
  const dial = dialOptions(flags);
  const notices = new ConnectionNotices(terminal, dial.address);
  let onRefused: (error: Error) => void = () => undefined;
  const refused = new Promise<Error>((resolve) => {
    onRefused = resolve;
  });
  const options: WorkerOptions = {
    ...dial,
    host,
    name,
    onEvent: (event) => {
      if (isWorking) notices.onEvent(event);
    },
    onFailure: ({ jobId, exec, attempt, outcome, failure }) =>
      terminal.err(
        escapeControlCharacters(
          `worker: ${exec} ${jobId}, attempt ${attempt}: ${outcome}: ${failure.name}: ${failure.message}`,
        ),
      ),
    onStale: ({ jobId, attempt }) =>
      terminal.err(
        `worker: ${jobId}, attempt ${attempt}: this result was not taken, it came too late, or again after a lost connection; see troupe show`,
      ),
    onRefused,
    slots: flags.slots,
    cpuCap: flags.cpuCap,
    ...(flags.pattern === undefined ? {} : { patterns: flags.pattern }),
    ...(flags.label === undefined ? {} : { labels: flags.label }),
  };
  const worker = await start(flags, options, handlers);
  isWorking = true;
  const socket = await openSocket(flags, worker);
  notices.connected();
  const { execs, slots } = worker;
  // Before `ready` is printed: a signal after that line ends the process in order.
  const signalled = untilSignal();
  printResult(context, flags, { kind: 'ready', worker: name, slots, execs }, [
    `worker ${name} ready, ${slots} slots, runs ${execs.join(', ')}`,
  ]);
  const signal = await Promise.race([signalled, refused]);
  socket?.close();
  if (signal instanceof Error) {
    await worker.close({ withinMs: 0 });
    // An operator has stopped it: that is no failure of the worker.
    if (!isStopped(signal)) throw signal;
    printResult(context, flags, { kind: 'stopped' }, ['worker stopped by an operator']);
    return;
  }
  if (flags.json !== true)
    context.terminal.err(`worker: ${signal}, finishing within ${flags.drainWithin} ms`);
  await worker.close({ withinMs: flags.drainWithin });
  printResult(context, flags, { kind: 'stopped' }, ['worker stopped']);
}

/** The session was ended from afar: the command says so itself. */
function isOfOperator({ fields }: LogEntry): boolean {
  return Object.values(fields).some(isStopped);
}

function isStopped(error: unknown): boolean {
  return error instanceof SessionRefusedError && error.code === 'ERR_SESSION_STOPPED';
}

function withWorkerLeaders(command: Command): Command {
  return withGroupOptions(withLeaderOptions(command));
}

/** With a map it has credit at the leader of each group that its handlers have. */
async function start(
  flags: Flags,
  { address, ...options }: WorkerOptions,
  handlers: readonly HandledJob[] | URL,
): Promise<RemoteWorker | GroupWorker> {
  const leaders = leaderMapOf(flags);
  if (leaders === undefined) return startWorker({ ...options, address, handlers, threads: flags.threads });
  if (handlers instanceof URL) throw usage('--threads: not with --group-leader');
  if (flags.actorsSocket !== undefined) throw usage('--actors-socket: not with --group-leader');
  return startGroupWorker({ ...options, leaders, handlers });
}

/** A path that cannot be used ends the worker before it takes its first signal. */
async function openSocket(
  { actorsSocket }: Flags,
  worker: RemoteWorker | GroupWorker,
): Promise<ActorsSocket | undefined> {
  if (actorsSocket === undefined || worker instanceof GroupWorker) return undefined;
  try {
    return await ActorsSocket.open(actorsSocket, () => worker.actors());
  } catch (error) {
    await worker.close({ withinMs: 0 });
    throw error;
  }
}

/** The handlers of the module, and the built-in runners that flags enable. */
async function allHandlers(module: string | undefined, flags: Flags): Promise<readonly HandledJob[] | URL> {
  const builtIn = builtInRunners(flags);
  if (flags.threads !== undefined) {
    if (module === undefined || builtIn.length > 0)
      throw usage('--threads needs a module, and built-in runners need a worker without threads');
    return urlOf(module);
  }
  if (module === undefined && builtIn.length === 0)
    throw usage('name a module of handlers, or enable a runner by --command or --http');
  return module === undefined ? builtIn : [...(await handlersOf(module)), ...builtIn];
}

function builtInRunners({ command, commandCwd, http, httpPrivate }: Flags): HandledJob[] {
  if (command === undefined && commandCwd !== undefined) throw usage('--command-cwd is for --command');
  if (http === undefined && httpPrivate !== undefined) throw usage('--http-private is for --http');
  return [
    ...(command === undefined
      ? []
      : [commandRunner({ allow: allowedPrograms(command), cwd: commandCwd && resolve(commandCwd) })]),
    ...(http === undefined ? [] : [httpRunner({ hosts: http, privateAddresses: httpPrivate })]),
  ];
}

function allowedPrograms(flags: readonly string[]): Record<string, string> {
  const allow: Record<string, string> = {};
  for (const flag of flags) {
    const [, name, path] = /^([^=/]+)=(\/.*)$/.exec(flag) ?? [];
    if (name === undefined || path === undefined) throw usage(`--command ${flag}: write name=/absolute/path`);
    allow[name] = path;
  }
  return allow;
}

function usage(problem: string): CliError {
  return new CliError('ERR_CLI_USAGE', ExitCode.usage, problem);
}

async function urlOf(module: string): Promise<URL> {
  const path = resolve(module);
  await stat(path);
  return pathToFileURL(path);
}

/**
 * Every export of the module that was made by `handle`, alone or in arrays. No peer chooses what is loaded.
 */
async function handlersOf(module: string): Promise<HandledJob[]> {
  const { href } = await urlOf(module);
  let exported: Record<string, unknown>;
  try {
    exported = (await import(href)) as Record<string, unknown>;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const place = cause instanceof Error ? moduleErrorPlace(href, cause) : undefined;
    const text = `module ${module}: ${why}${place === undefined ? '' : ` (${place})`}`;
    throw new CliError('ERR_CLI_MODULE', ExitCode.data, text, { cause });
  }
  const found = Object.values(exported).flat().filter(isHandled);
  if (found.length > 0) return found;
  throw new CliError(
    'ERR_CLI_MODULE',
    ExitCode.data,
    `module ${module}: exports no handler; export handle(job, run)`,
  );
}

function isHandled(value: unknown): value is HandledJob {
  const { job, run: handler } = (value ?? {}) as Partial<HandledJob>;
  return typeof handler === 'function' && typeof job?.exec === 'string' && typeof job.policy === 'object';
}
