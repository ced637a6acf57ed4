import { readFileSync } from 'node:fs';
import { type Client, connectClient, type DialOptions } from '@troupe/jobs';
import type { DialerAuth, DialTls, Net } from '@troupe/transport';
import { type Command, Option } from 'commander';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';
import { LeaderWatch } from '../output/leader-watch.js';
import { quietHost } from '../output/logging-host.js';
import type { JsonFlag, Tools } from '../verb.js';
import { DEFAULT_PORT, parseAddress } from './address.js';
import { Deadline } from './deadline.js';
import { authOf } from './key-file.js';
import { TIMER_MS_MAX, wholeNumber } from './number-option.js';
import { mustBeUsable } from './tls-files.js';

/** How every verb that talks to a leader finds it. */
export interface LeaderFlags extends LinkFlags {
  readonly leader: string;
}

/** And how it speaks to it. */
export interface LinkFlags {
  readonly key?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: string;
  readonly connectWithin: number;
  readonly compress?: 'gzip' | 'brotli';
}

/** Of verbs that ask a leader for something and end. */
export interface AskFlags extends LeaderFlags, JsonFlag {
  readonly timeout?: number;
}

export function withLeader(command: Command): Command {
  return withLink(
    command.addOption(
      new Option('-l, --leader <address>', 'where the leader listens: host:port or unix:/path')
        .env('TROUPE_LEADER')
        .default(`127.0.0.1:${DEFAULT_PORT}`),
    ),
  );
}

export function withAsk(command: Command): Command {
  return withLeader(command).option(
    '--timeout <ms>',
    'give up after so long, all in all',
    wholeNumber(1, TIMER_MS_MAX),
  );
}

export function withLink(command: Command): Command {
  return command
    .addOption(new Option('-k, --key <file>', 'key file of this peer').env('TROUPE_KEY'))
    .option('--tls', 'speak TLS, with the authorities of this system')
    .option('--tls-ca <file>', 'speak TLS, with this authority')
    .option('--tls-cert <file>', 'certificate of this peer')
    .option('--tls-key <file>', 'key of that certificate')
    .option('--tls-name <name>', "name in the leader's certificate")
    .addOption(
      new Option('--compress <method>', 'compress what is sent where it helps').choices(['gzip', 'brotli']),
    )
    .option(
      '--connect-within <ms>',
      'give up after so long without a leader',
      wholeNumber(1, 3_600_000),
      5_000,
    );
}

export function dialOptions(flags: LinkFlags & { readonly leader: string }): DialOptions {
  const tls = tlsOf(flags);
  const auth = proofOf(flags);
  return {
    address: parseAddress(flags.leader),
    host: quietHost,
    withinMs: flags.connectWithin,
    ...(auth === undefined ? {} : { auth }),
    ...(tls === undefined ? {} : { tls }),
    ...(flags.compress === undefined ? {} : { compress: flags.compress }),
  };
}

/** Asks a leader something, within the time of the command. */
export async function withClient<T>(flags: AskFlags, run: (client: Client) => Promise<T>): Promise<T> {
  const deadline = new Deadline(flags.timeout);
  const client = await connectClient({ ...dialOptions(flags), ...soon(flags, deadline), name: NAME });
  return closing(client, deadline.race(run(client)));
}

/** The same for a verb that may wait for long: it says so while there is no leader, and minds the time itself. */
export async function withPatience<T>(
  tools: Tools,
  flags: AskFlags,
  run: (client: Client, deadline: Deadline) => Promise<T>,
  options: { readonly net?: Net } = {},
): Promise<T> {
  const deadline = new Deadline(flags.timeout);
  const dial = dialOptions(flags);
  const watch = new LeaderWatch(tools.terminal, dial.address);
  const client = await connectClient({
    ...dial,
    ...soon(flags, deadline),
    ...(options.net === undefined ? {} : { net: options.net }),
    name: NAME,
    ...(flags.json === true ? {} : { onEvent: watch.hear }),
  });
  return closing(client, run(client, deadline));
}

const NAME = 'cli';

function soon({ connectWithin }: AskFlags, deadline: Deadline): { readonly withinMs?: number } {
  return deadline.left(connectWithin);
}

async function closing<T>(client: Client, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } finally {
    client.close();
  }
}

/** A key file, else a certificate of one's own, else nothing. */
function proofOf({ key, tlsCert }: LinkFlags): DialerAuth | undefined {
  if (key !== undefined) return authOf(key);
  return tlsCert === undefined ? undefined : { kind: 'mtls' };
}

function tlsOf(flags: LinkFlags): DialTls | undefined {
  const { tls, tlsCa, tlsCert, tlsKey, tlsName } = flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new CliError('ERR_CLI_TLS', ExitCode.usage, 'TLS: --tls-cert and --tls-key go together');
  if (tls === undefined && tlsCa === undefined && tlsCert === undefined) {
    if (tlsName === undefined) return undefined;
    throw new CliError('ERR_CLI_TLS', ExitCode.usage, 'TLS: --tls-name needs --tls or --tls-ca');
  }
  const files = {
    ...(tlsCa === undefined ? {} : { ca: readFileSync(tlsCa) }),
    ...(tlsCert === undefined ? {} : { cert: readFileSync(tlsCert) }),
    ...(tlsKey === undefined ? {} : { key: readFileSync(tlsKey) }),
  };
  mustBeUsable(files);
  return tlsName === undefined ? files : { ...files, serverName: tlsName };
}
