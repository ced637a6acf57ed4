import { hostname } from 'node:os';
import { connectClient, fileSpill, type LeaderServer, type LeaderServerOptions } from '@troupe/jobs';
import { type OpenPostgresJournal, OutboxRelay, postgresJournal } from '@troupe/postgres';
import { type Address, formatAddress } from '@troupe/transport';
import { nodeStorage } from '@troupe/wal';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { parseAddress } from '../../input/connection/leader-address.js';
import { authOf } from '../../input/files/key-file.js';
import { silentHost } from '../../logging-host.js';
import { escapeControlCharacters } from '../../output/text/escape-control-characters.js';
import { type CommandContext, type JsonFlag, printResult } from '../../subcommand.js';

/** Flags of a leader that uses PostgreSQL. */
export interface DatabaseFlags extends JsonFlag {
  readonly postgres?: string;
  readonly schema: string;
  readonly advertise?: string;
  readonly outbox?: string;
  readonly spillDir?: string;
  readonly httpKey?: string;
}

/** The journal of `--postgres`. */
export function postgresOf(
  context: CommandContext,
  flags: DatabaseFlags,
  address: Address | undefined,
): OpenPostgresJournal | undefined {
  const { postgres: url, schema } = flags;
  if (url === undefined) return undefined;
  return postgresJournal({
    url,
    schema,
    leader: `${hostname()}:${process.pid}`,
    addresses: advertisedOf(flags.advertise, address),
    standby: true,
    onStandby: ({ leader, addresses }) =>
      printResult(context, flags, { kind: 'standby', leader, addresses }, [
        `leader standing by for ${leader} at ${addresses}`,
      ]),
  });
}

/** Files of this machine for chunks of streams; a leader elsewhere does not have them. */
export function spillOf({ postgres, spillDir }: DatabaseFlags): Pick<LeaderServerOptions, 'spill'> {
  if (spillDir === undefined) return {};
  if (postgres === undefined)
    throw new CliError(
      'ERR_CLI_USAGE',
      ExitCode.usage,
      '--spill-dir: only with --postgres; --dir has its files',
    );
  return { spill: fileSpill(nodeStorage(spillDir)) };
}

/** The address by which peers of a standby find this leader: a free port and a wildcard are none. */
function advertisedOf(given: string | undefined, address: Address | undefined): string[] {
  if (given !== undefined) return [formatAddress(parseAddress(given))];
  if (address === undefined || ('port' in address && address.port === 0)) return [];
  const isWildcard = 'host' in address && (address.host === '0.0.0.0' || address.host === '::');
  return [formatAddress(isWildcard ? { ...address, host: hostname() } : address)];
}

/** Jobs of the outbox come to the leader through a client of its own. */
export async function openRelay(
  { terminal }: CommandContext,
  flags: DatabaseFlags,
  leader: LeaderServer,
  journal: OpenPostgresJournal | undefined,
): Promise<{ close(): Promise<void> } | undefined> {
  const url = flags.outbox ?? flags.postgres;
  if (url === undefined) return undefined;
  const { schema, httpKey } = flags;
  const auth = httpKey === undefined ? {} : { auth: authOf(httpKey) };
  const client = await connectClient({ address: leader.address, name: 'outbox', host: silentHost, ...auth });
  const onRefused = ({ key, exec }: { key: string; exec: string }, error: Error): void =>
    terminal.err(escapeControlCharacters(`leader: outbox row ${key} of ${exec}: ${error.message}`));
  const relay = await OutboxRelay.start({
    url,
    schema,
    client,
    journal: flags.outbox === undefined ? journal : undefined,
    onRefused,
  });
  return {
    async close() {
      await relay.close();
      client.close();
    },
  };
}
