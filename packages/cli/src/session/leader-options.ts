import { readFileSync } from 'node:fs';
import { type Client, connectClient, type DialOptions } from '@troupe/jobs';
import type { DialerAuth, DialTls } from '@troupe/transport';
import { type Command, Option } from 'commander';
import { wholeNumber } from '../number-option.js';
import { DEFAULT_PORT, parseAddress } from './address.js';
import { authOf } from './key-file.js';
import { quietHost } from './logging-host.js';

/** How every verb that talks to a leader finds it. */
export interface LeaderFlags {
  readonly leader: string;
  readonly key?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: string;
  readonly connectWithin: number;
  readonly compress?: 'gzip' | 'brotli';
}

export function withLeader(command: Command): Command {
  return command
    .addOption(
      new Option('-l, --leader <address>', 'where the leader listens: host:port or unix:/path')
        .env('TROUPE_LEADER')
        .default(`127.0.0.1:${DEFAULT_PORT}`),
    )
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

export function dialOptions(flags: LeaderFlags): DialOptions {
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

/** Runs something with a client, and closes it whatever happens. */
export async function withClient<T>(flags: LeaderFlags, run: (client: Client) => Promise<T>): Promise<T> {
  return closing(await connectClient({ ...dialOptions(flags), name: 'cli', submits: false }), run);
}

/** The same for a verb that submits. */
export async function withSubmitter<T>(flags: LeaderFlags, run: (client: Client) => Promise<T>): Promise<T> {
  return closing(await connectClient({ ...dialOptions(flags), name: 'cli' }), run);
}

async function closing<T>(client: Client, run: (client: Client) => Promise<T>): Promise<T> {
  try {
    return await run(client);
  } finally {
    client.close();
  }
}

/** A key file, else a certificate of one's own, else nothing. */
function proofOf({ key, tlsCert }: LeaderFlags): DialerAuth | undefined {
  if (key !== undefined) return authOf(key);
  return tlsCert === undefined ? undefined : { kind: 'mtls' };
}

function tlsOf(flags: LeaderFlags): DialTls | undefined {
  const { tls, tlsCa, tlsCert, tlsKey, tlsName } = flags;
  if (tls === undefined && tlsCa === undefined && tlsCert === undefined) return undefined;
  return {
    ...(tlsCa === undefined ? {} : { ca: readFileSync(tlsCa) }),
    ...(tlsCert === undefined ? {} : { cert: readFileSync(tlsCert) }),
    ...(tlsKey === undefined ? {} : { key: readFileSync(tlsKey) }),
    ...(tlsName === undefined ? {} : { serverName: tlsName }),
  };
}
