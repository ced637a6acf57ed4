import { readFileSync } from 'node:fs';
import type { Host } from '@troupe/core';
import { type DashboardServer, type ServeOptions, serveDashboard } from '@troupe/dashboard';
import {
  type Client,
  connectClient,
  type JobsEvent,
  jobId,
  type LeaderServer,
  type LeaderServerOptions,
  startLeader,
} from '@troupe/jobs';
import {
  type Address,
  type DialerAuth,
  formatAddress,
  formatCloseReason,
  IdentityStore,
  type ListenerAuth,
  type ListenerEvent,
  type ListenTls,
} from '@troupe/transport';
import type { CodecName } from '@troupe/wal';
import { type Command, Option } from 'commander';
import { CliError } from '../../cli-error.js';
import { exitFailureOf } from '../../error-exit-code.js';
import { ExitCode } from '../../exit-code.js';
import { DEFAULT_PORT, socketPath } from '../../input/connection/leader-address.js';
import { checkTlsFiles, readableKeyWarning } from '../../input/files/check-tls-files.js';
import { entryOf, authOf as keyAuthOf, readKeyFile } from '../../input/files/key-file.js';
import { type LeaderConfig, readLeaderConfig } from '../../input/files/leader-config.js';
import { logFormatOption } from '../../input/log-format-option.js';
import { byteCount, duration, postgresUrl, wholeNumber } from '../../input/option-parsers.js';
import { repeatable } from '../../input/repeatable-option.js';
import { loggingHost, silentHost } from '../../logging-host.js';
import { logLines } from '../../output/errors/log-lines.js';
import { printCrash } from '../../output/errors/print-crash.js';
import type { Terminal } from '../../output/terminal.js';
import { escapeControlCharacters } from '../../output/text/escape-control-characters.js';
import { onReload, untilSignal } from '../../signals/process-signals.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';
import { type HttpFlags, httpOptions, withHttpOptions } from './dashboard.js';
import { type DatabaseFlags, openRelay, postgresOf, spillOf } from './leader-database.js';

/** For running jobs, where no other leader goes on. */
const DRAIN_MS = 5_000;

interface Flags extends JsonFlag, HttpFlags, DatabaseFlags {
  readonly http?: number;
  readonly port: number;
  readonly host: string;
  readonly socket?: string;
  readonly dir: string;
  readonly config?: string;
  readonly key?: readonly string[];
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  readonly insecure?: boolean;
  readonly payloadMax: number;
  readonly jobsMax?: number;
  readonly resultsMax?: number;
  readonly resultsBytesMax?: number;
  readonly clientRunningMax?: number;
  readonly label?: readonly string[];
  readonly grace: number;
  readonly drainWithin?: number;
  readonly compress?: 'gzip' | 'brotli';
  readonly verbose?: boolean;
  readonly allowNetworkFs?: boolean;
  readonly logFormat?: CodecName;
}

export function addLeader(program: Command, context: CommandContext): void {
  const command = subcommand(
    program,
    'leader',
    'run a leader on a folder',
    'troupe leader --port 7419 --dir ./state',
  );
  command
    .requiredOption('-d, --dir <folder>', 'folder of the log; made if it is not there', './state')
    .option('-p, --port <n>', 'port; 0 picks a free one', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--socket <path>', 'listen on a Unix socket instead', socketPath)
    .option('--http <port>', 'serve jobs over HTTP too, on this port; 7420 is usual', wholeNumber(0, 65_535));
  withHttpOptions(command)
    .option('--http-key <file>', 'key file by which the HTTP side and the outbox are clients of this leader')
    .option(
      '--postgres <url>',
      'keep the log in PostgreSQL instead; follows as a standby while another leads',
      postgresUrl,
    )
    .option('--schema <name>', 'schema of its tables there', 'troupe')
    .option('--advertise <address>', 'where peers of its standbys find it; default: where it listens')
    .option(
      '--spill-dir <folder>',
      'with --postgres: keep chunks of streams in files here, not in the database',
    )
    .option('--outbox <url>', 'take jobs that transactions of this database have submitted', postgresUrl)
    .option('-c, --config <file>', 'JSON with options of startLeader; flags win over it')
    .option('-k, --key <file>', 'a key file peers may prove; may be given several times', repeatable)
    .option('--tls-cert <file>', 'certificate')
    .option('--tls-key <file>', 'key of the certificate')
    .option('--tls-client-ca <file>', 'peers prove themselves by a certificate of this authority')
    .option('--insecure', 'listen on a public address without TLS or keys all the same')
    .option('--payload-max <bytes>', 'largest payload of a job', byteCount, 8 * 1024 * 1024)
    .option('--jobs-max <n>', 'most jobs waiting and running', wholeNumber(1, 100_000_000))
    .option('--results-max <n>', 'most results kept; 250000', wholeNumber(0, 100_000_000))
    .option('--results-bytes-max <bytes>', 'their size together; 256m', byteCount)
    .option(
      '--client-running-max <n>',
      'most jobs of one client that run at once',
      wholeNumber(1, 100_000_000),
    )
    .option(
      '--label <text>',
      'a label that jobs may require, others are refused then; may be given several times',
      repeatable,
    )
    .option(
      '--grace <time>',
      'how long a worker that was cut off keeps its jobs',
      duration(0, 600_000),
      1_000,
    )
    .option(
      '--drain-within <time>',
      'how long to wait for running jobs at the end; 5s, with --postgres 0: they go on at the next leader',
      duration(0, 3_600_000),
    )
    .addOption(
      new Option('--compress <method>', 'compress messages where it makes them smaller').choices([
        'gzip',
        'brotli',
      ]),
    )
    .addOption(logFormatOption())
    .option('--allow-network-fs', 'use a folder on a network file system all the same')
    .option('-v, --verbose', 'print connections, refusals and the tree of actors')
    .action((flags: Flags, command: Command) => {
      const isGiven = (name: keyof Flags): boolean => command.getOptionValueSource(name) === 'cli';
      const config = flags.config === undefined ? {} : readLeaderConfig(flags.config);
      const dir = isGiven('dir') ? flags.dir : (config.dir ?? flags.dir);
      return run(context, { ...flags, dir }, startOptionsOf(flags, config, isGiven));
    });
}

type StartOptions = Omit<LeaderConfig, 'dir'>;

/** A flag on the command line wins over the file, the file over the default of a flag. */
function startOptionsOf(
  flags: Flags,
  config: LeaderConfig,
  isGiven: (name: keyof Flags) => boolean,
): StartOptions {
  const { payloadMax, jobsMax, resultsMax, resultsBytesMax, clientRunningMax, grace } = flags;
  const payloadBytesMax = isGiven('payloadMax') ? payloadMax : (config.limits?.payloadBytesMax ?? payloadMax);
  const resumeGraceMs = isGiven('grace') ? grace : (config.times?.resumeGraceMs ?? grace);
  return {
    ...config,
    address: addressOf(flags, config, isGiven),
    limits: {
      ...config.limits,
      payloadBytesMax,
      ...(jobsMax === undefined ? {} : { jobsMax }),
      ...(resultsMax === undefined ? {} : { resultsMax }),
      ...(resultsBytesMax === undefined ? {} : { resultsBytesMax }),
      ...(clientRunningMax === undefined ? {} : { clientRunningMax }),
    },
    times: { ...config.times, resumeGraceMs },
    ...(flags.label === undefined ? {} : { labels: flags.label }),
    ...(flags.insecure === undefined ? {} : { insecure: flags.insecure }),
    ...(flags.compress === undefined ? {} : { compress: flags.compress }),
    wal: {
      ...config.wal,
      ...(flags.allowNetworkFs === true ? { allowNetworkFs: true } : {}),
      ...(flags.logFormat === undefined ? {} : { codec: flags.logFormat }),
    },
  };
}

function addressOf(flags: Flags, config: LeaderConfig, isGiven: (name: keyof Flags) => boolean): Address {
  if (flags.socket !== undefined) return { path: flags.socket };
  const isAsked = isGiven('port') || isGiven('host');
  return (isAsked ? undefined : config.address) ?? { host: flags.host, port: flags.port };
}

async function run(context: CommandContext, flags: Flags, start: StartOptions): Promise<void> {
  const { terminal } = context;
  // An error before the leader serves is printed once, as the reason why it does not start.
  let isServing = false;
  const host = loggingHost((entry) => {
    // Events of the log concern the operator, also while it is read.
    const isOfLog = 'wal' in entry.fields;
    if (!isOfLog && (!isServing || (entry.level !== 'error' && flags.verbose !== true))) return;
    for (const line of logLines('leader', entry)) terminal.err(line);
  });
  // The tag of job ids is in the log: until that is read, a job is printed by its number.
  let tag: string | undefined;
  const idOf: IdOf = (job) => (tag === undefined ? String(job) : jobId(tag, job));
  const http = gatewayOptions(flags);
  const journal = postgresOf(context, flags, start.address);
  const leader = await open(context, flags, { ...start, journal, ...spillOf(flags) }, host, idOf);
  isServing = true;
  const overview = await leader.overview();
  const { counts } = overview;
  tag = overview.tag;
  const address = formatAddress(leader.address);
  // Before `ready` is printed: a signal after that line ends the process in order.
  const signalled = untilSignal();
  printResult(
    context,
    flags,
    { kind: 'ready', address, ...(flags.postgres === undefined ? { dir: flags.dir } : {}), counts },
    [
      `leader ready on ${address}, ${placeOf(flags)}, ${counts.queued} queued, ${counts.running} running, ${counts.dead} dead`,
    ],
  );
  printTree(terminal, flags, leader);
  const gateway = await openGateway(context, flags, leader, http);
  const relay = await openRelay(context, flags, leader, journal);
  onReload(() => void reload(context, flags, leader));
  const signal = await signalled;
  printTree(terminal, flags, leader);
  const drainMs = flags.drainWithin ?? (flags.postgres === undefined ? DRAIN_MS : 0);
  if (flags.json !== true) terminal.err(`leader: ${signal}, finishing within ${drainMs} ms`);
  // The relay first: its submits are answered by this leader. The next leader must not wait for the gateway.
  await relay?.close();
  await Promise.all([gateway?.close(), leader.close({ withinMs: drainMs })]);
  printResult(context, flags, { kind: 'stopped' }, ['leader stopped']);
}

function placeOf({ dir, postgres, schema }: Flags): string {
  return postgres === undefined ? `folder ${dir}` : `schema ${schema} of PostgreSQL`;
}

/** The HTTP side of a leader. It is a client of it, with a key of its own where the leader has keys. */
class LeaderGateway {
  private readonly client: Client;
  private readonly server: DashboardServer;

  private constructor(client: Client, server: DashboardServer) {
    this.client = client;
    this.server = server;
  }

  static async open(leader: LeaderServer, { auth, ...http }: GatewayOptions): Promise<LeaderGateway> {
    const client = await connectClient({
      address: leader.address,
      name: 'dashboard',
      host: silentHost,
      ...(auth === undefined ? {} : { auth }),
    });
    return new LeaderGateway(client, await serveDashboard({ ...http, client }));
  }

  get url(): string {
    return this.server.url;
  }

  async close(): Promise<void> {
    await this.server.close();
    this.client.close();
  }
}

type GatewayOptions = Omit<ServeOptions, 'client'> & { readonly auth?: DialerAuth | undefined };

/** Reads its files before the leader starts. Undefined without --http. */
function gatewayOptions(flags: Flags): GatewayOptions | undefined {
  const { http: port, httpKey, tlsCert } = flags;
  if (port === undefined) return undefined;
  if (tlsCert !== undefined)
    throw new CliError(
      'ERR_CLI_USAGE',
      ExitCode.usage,
      '--http: not with --tls-cert; run troupe dashboard beside the leader',
    );
  return { ...httpOptions(flags), port, auth: httpKey === undefined ? undefined : keyAuthOf(httpKey) };
}

async function openGateway(
  context: CommandContext,
  flags: Flags,
  leader: LeaderServer,
  options: GatewayOptions | undefined,
): Promise<LeaderGateway | undefined> {
  if (options === undefined) return undefined;
  try {
    const gateway = await LeaderGateway.open(leader, options);
    printResult(context, flags, { kind: 'http', url: gateway.url }, [`leader serves HTTP on ${gateway.url}`]);
    return gateway;
  } catch (error) {
    await leader.close({ withinMs: 0 });
    throw error;
  }
}

/** At the start, and with the connections of the moment at the end. */
function printTree(terminal: Terminal, flags: Flags, leader: LeaderServer): void {
  if (flags.verbose !== true) return;
  for (const line of leader.tree().trimEnd().split('\n')) terminal.err(`leader: ${line}`);
}

/** Reads keys and certificates from their files again. A file that cannot be read changes nothing. */
async function reload(context: CommandContext, flags: Flags, leader: LeaderServer): Promise<void> {
  const { terminal } = context;
  try {
    const auth = authOf(flags);
    const tls = tlsOf(flags, terminal);
    await leader.renew({
      ...(auth === undefined || auth.kind === 'none' ? {} : { identities: auth.identities }),
      ...(tls === undefined ? {} : { tls }),
    });
    printResult(context, flags, { kind: 'reloaded' }, ['leader: keys and certificates read again']);
  } catch (error) {
    terminal.err(
      `leader: SIGHUP: ${exitFailureOf(error).message}; the keys and certificates read before stay in use`,
    );
  }
}

type IdOf = (job: number) => string;

function open(
  context: CommandContext,
  flags: Flags,
  start: StartOptions & Pick<LeaderServerOptions, 'journal' | 'spill'>,
  host: Host,
  idOf: IdOf,
): Promise<LeaderServer> {
  const { terminal } = context;
  const tls = tlsOf(flags, terminal);
  const auth = authOf(flags);
  return startLeader({
    ...start,
    host,
    ...(start.journal === undefined ? { dir: flags.dir } : {}),
    ...(auth === undefined ? {} : { auth }),
    ...(tls === undefined ? {} : { tls }),
    ...(flags.verbose === true ? { observe: (event) => printJobEvent(terminal, event, idOf) } : {}),
    onEvent: (event) => {
      if (event.kind === 'insecure')
        terminal.err(`leader: ${event.address} is open to everyone (--insecure)`);
      else if (flags.verbose === true) printPeerEvent(terminal, event);
    },
    // Nothing is acknowledged before it is durable, so ending the process loses nothing.
    onFatal: (error) => process.exit(printCrash(terminal, 'leader', error)),
  });
}

function printPeerEvent(terminal: Terminal, event: ListenerEvent): void {
  if (event.kind === 'closed')
    terminal.err(
      escapeControlCharacters(
        `leader: ${event.remote} ${event.identityName ?? ''} ${formatCloseReason(event.reason)}`,
      ),
    );
  else if (event.kind === 'refused') terminal.err(`leader: ${event.remote} refused: ${event.cause}`);
  else if (event.kind === 'events-left-out')
    terminal.err(`leader: ${event.count} more peers were refused or broke off`);
  else if (event.kind === 'tls-failed')
    terminal.err(`leader: ${event.remote} TLS handshake failed: ${event.error.message}`);
}

/** Prints refusals, dead letters, worker liveness and late results. Successful jobs are only counted. */
function printJobEvent(terminal: Terminal, event: JobsEvent, idOf: IdOf): void {
  const report = (what: string): void => terminal.err(escapeControlCharacters(`leader: ${what}`));
  if (event.kind === 'refused') report(`refused a submit of ${event.client}: ${event.code}`);
  else if (event.kind === 'dead')
    report(`job ${idOf(event.job)} (${event.exec}) is a dead letter: ${event.reason}`);
  else if (event.kind === 'worker') report(`worker ${event.worker} ${event.liveness}`);
  else if (event.kind === 'stale')
    report(`worker ${event.worker} too late for job ${idOf(event.job)}, attempt ${event.attempt}`);
}

function authOf(flags: Flags): ListenerAuth | undefined {
  if (flags.key === undefined && flags.tlsClientCa === undefined) return undefined;
  const identities = new IdentityStore((flags.key ?? []).map((path) => entryOf(readKeyFile(path))));
  return { kind: flags.tlsClientCa === undefined ? 'hmac' : 'mtls', identities };
}

function tlsOf(flags: Flags, terminal: Terminal): ListenTls | undefined {
  const { tlsCert, tlsKey, tlsClientCa } = flags;
  if (tlsCert === undefined && tlsKey === undefined && tlsClientCa === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new CliError('ERR_CLI_TLS', ExitCode.usage, 'TLS: --tls-cert and --tls-key go together');
  const tls = { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) };
  checkTlsFiles(tls);
  const warning = readableKeyWarning(tlsKey);
  if (warning !== undefined) terminal.err(`leader: ${warning}`);
  if (tlsClientCa === undefined) return tls;
  const clientCa = readFileSync(tlsClientCa);
  checkTlsFiles({ ca: clientCa });
  return { ...tls, clientCa };
}
