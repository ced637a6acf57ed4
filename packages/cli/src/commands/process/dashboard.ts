import { readFileSync } from 'node:fs';
import { type ServeOptions, serveDashboard } from '@troupe/dashboard';
import { connectClient } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import {
  dialOptions,
  type LeaderFlags,
  withLeaderOptions,
} from '../../input/connection/connection-options.js';
import { checkTlsFiles } from '../../input/files/check-tls-files.js';
import { readTokenFile } from '../../input/files/token-file.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { repeatable } from '../../input/repeatable-option.js';
import { ConnectionNotices } from '../../output/connection-notices.js';
import { untilSignal } from '../../signals/process-signals.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

export const DEFAULT_HTTP_PORT = 7_420;

/** Flags of the listening side, the same for `troupe dashboard` and `troupe leader --http`. */
export interface HttpFlags {
  readonly httpAddress?: string;
  readonly httpHost?: readonly string[];
  readonly tokens?: string;
  readonly httpTlsCert?: string;
  readonly httpTlsKey?: string;
  readonly httpInsecure?: boolean;
  readonly redact?: readonly string[];
}

interface Flags extends LeaderFlags, HttpFlags, JsonFlag {
  readonly port: number;
}

export function withHttpOptions(command: Command): Command {
  return command
    .option('--http-address <address>', 'address to listen on for HTTP; 127.0.0.1 unless given')
    .option('--http-host <name>', 'a name under which it is reached; may be given several times', repeatable)
    .option('--tokens <file>', 'JSON array of { name, token, roles }: read, submit, operate')
    .option('--http-tls-cert <file>', 'certificate for HTTPS')
    .option('--http-tls-key <file>', 'key of that certificate')
    .option('--http-insecure', 'let tokens travel without TLS on another address than loopback')
    .option(
      '--redact <field>',
      'do not show this field of inputs and outputs: a name, or a path such as card.number; may be given several times',
      repeatable,
    );
}

export function addDashboard(program: Command, context: CommandContext): void {
  withHttpOptions(
    withLeaderOptions(
      subcommand(
        program,
        'dashboard',
        'serve the jobs of a leader over HTTP',
        'troupe dashboard --port 7420',
      ),
    ),
  )
    .option('-p, --port <n>', 'port; 0 picks a free one', wholeNumber(0, 65_535), DEFAULT_HTTP_PORT)
    .action((flags: Flags) => run(context, flags));
}

async function run(context: CommandContext, flags: Flags): Promise<void> {
  const dial = dialOptions(flags);
  const http = httpOptions(flags);
  const notices = new ConnectionNotices(context.terminal, dial.address);
  const client = await connectClient({
    ...dial,
    name: 'dashboard',
    ...(flags.json === true ? {} : { onEvent: notices.onEvent }),
  });
  notices.connected();
  try {
    await using server = await serveDashboard({ ...http, client, port: flags.port });
    // Before `ready` is printed: a signal after that line ends the process in order.
    const signalled = untilSignal();
    printResult(context, flags, { kind: 'ready', url: server.url, leader: flags.leader }, [
      `dashboard ready on ${server.url}, leader ${flags.leader}`,
    ]);
    await signalled;
  } finally {
    client.close();
  }
  printResult(context, flags, { kind: 'stopped' }, ['dashboard stopped']);
}

/** Reads the files that the flags name, so that a bad one is reported before anything is started. */
export function httpOptions(flags: HttpFlags): Omit<ServeOptions, 'client' | 'port'> {
  const { httpAddress, httpHost, tokens, httpTlsCert, httpTlsKey, httpInsecure } = flags;
  return {
    address: httpAddress,
    hosts: httpHost,
    tokens: tokens === undefined ? undefined : readTokenFile(tokens),
    tls: tlsOf(httpTlsCert, httpTlsKey),
    insecure: httpInsecure,
    redact: flags.redact,
  };
}

function tlsOf(certFile: string | undefined, keyFile: string | undefined) {
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new CliError('ERR_CLI_TLS', ExitCode.usage, 'TLS: --http-tls-cert and --http-tls-key go together');
  if (certFile === undefined || keyFile === undefined) return undefined;
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  checkTlsFiles(tls);
  return tls;
}
