import { readFileSync } from 'node:fs';
import type { DialOptions } from '@troupe/jobs';
import type { DialerAuth, DialTls } from '@troupe/transport';
import { type Command, Option } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { silentHost } from '../../logging-host.js';
import type { JsonFlag } from '../../subcommand.js';
import { checkTlsFiles } from '../files/check-tls-files.js';
import { authOf } from '../files/key-file.js';
import { duration, TIMER_MS_MAX } from '../option-parsers.js';
import { DEFAULT_PORT, parseAddresses } from './leader-address.js';

/** Flags of every command that connects to a leader. */
export interface LeaderFlags extends ConnectionFlags {
  readonly leader: string;
}

/** Flags of the connection itself. */
export interface ConnectionFlags {
  readonly key?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: string;
  readonly connectWithin: number;
  readonly compress?: 'gzip' | 'brotli';
}

/** Flags of commands that make one request of a leader and end. */
export interface RequestFlags extends LeaderFlags, JsonFlag {
  readonly timeout?: number;
}

export function withLeaderOptions(command: Command): Command {
  const leader = new Option(
    '-l, --leader <address>',
    'where the leader listens: host:port or unix:/path; several with commas',
  );
  leader.env('TROUPE_LEADER').default(`127.0.0.1:${DEFAULT_PORT}`);
  return withConnectionOptions(inConnectionGroup(command, () => command.addOption(leader)));
}

export function withRequestOptions(command: Command): Command {
  const timeout = duration(1, TIMER_MS_MAX);
  return inConnectionGroup(withLeaderOptions(command), () =>
    command.option('--timeout <time>', 'give up after so long, all in all', timeout),
  );
}

/** Help shows these behind the options that are the command's own. */
function inConnectionGroup(command: Command, add: () => Command): Command {
  const before = command.options.length;
  add();
  for (const option of command.options.slice(before)) option.helpGroup('Connection:');
  return command;
}

export function withConnectionOptions(command: Command): Command {
  return inConnectionGroup(command, () =>
    command
      .addOption(new Option('-k, --key <file>', 'key file of this peer').env('TROUPE_KEY'))
      .option('--tls', 'connect with TLS, trusting the authorities of this system')
      .option('--tls-ca <file>', 'connect with TLS, trusting this authority')
      .option('--tls-cert <file>', 'certificate of this peer')
      .option('--tls-key <file>', 'key of that certificate')
      .option('--tls-name <name>', "name in the leader's certificate")
      .addOption(
        new Option('--compress <method>', 'compress messages where it makes them smaller').choices([
          'gzip',
          'brotli',
        ]),
      )
      .option(
        '--connect-within <time>',
        'give up after so long without a leader',
        duration(1, 3_600_000),
        5_000,
      ),
  );
}

export function dialOptions(flags: ConnectionFlags & { readonly leader: string }): DialOptions {
  const tls = tlsOf(flags);
  const auth = proofOf(flags);
  return {
    address: parseAddresses(flags.leader),
    host: silentHost,
    withinMs: flags.connectWithin,
    ...(auth === undefined ? {} : { auth }),
    ...(tls === undefined ? {} : { tls }),
    ...(flags.compress === undefined ? {} : { compress: flags.compress }),
  };
}

/** A key file, else a client certificate, else nothing. */
function proofOf({ key, tlsCert }: ConnectionFlags): DialerAuth | undefined {
  if (key !== undefined) return authOf(key);
  return tlsCert === undefined ? undefined : { kind: 'mtls' };
}

function tlsOf(flags: ConnectionFlags): DialTls | undefined {
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
  checkTlsFiles(files);
  return tlsName === undefined ? files : { ...files, serverName: tlsName };
}
