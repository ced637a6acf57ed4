import type { Client } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import { withClient } from '../command-client.js';
import { ExitCode } from '../exit-code.js';
import { type RequestFlags, withRequestOptions } from '../input/connection-options.js';
import { wholeNumber } from '../input/option-parsers.js';
import { untypedJob } from '../input/untyped-job.js';
import { jobLines, shownJob } from '../output/job-text.js';
import { ProgressBar } from '../output/progress-bar.js';
import { textTable } from '../output/text-table.js';
import { type CommandContext, printResult, subcommand } from '../subcommand.js';
import { jobsIn } from './jobs.js';

type Flags = RequestFlags;

interface BulkFlags extends Flags {
  readonly all?: boolean;
}

const PAGE = 1_000;

export function addDlq(program: Command, context: CommandContext): void {
  const dlq = program.command('dlq').description('dead letters: jobs that ran out of attempts');
  withRequestOptions(subcommand(dlq, 'ls', 'list dead letters, oldest first', 'troupe dlq ls --max 20'))
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000_000), 100)
    .action((flags: Flags & { max: number }) => withClient(flags, (client) => list(context, flags, client)));
  withRequestOptions(
    subcommand(dlq, 'show <id>', 'show one dead letter and its last error', 'troupe dlq show 2qt6g-1'),
  ).action((id: string, flags: Flags) =>
    withClient(flags, async (client) => {
      const job = shownJob(id, await client.open(untypedJob('some.job'), id).inspect());
      if (job.state !== 'dead')
        throw new CliError(
          'ERR_CLI_NOT_DEAD',
          ExitCode.noInput,
          `job ${id}: not a dead letter, it is ${job.state}; see troupe show`,
        );
      printResult(context, flags, job, jobLines(job));
    }),
  );
  addBulkCommand(dlq, context, 'redrive', 'queue dead letters again, with fresh counts');
  addBulkCommand(dlq, context, 'purge', 'remove dead letters for good');
}

function addBulkCommand(
  dlq: Command,
  context: CommandContext,
  what: 'redrive' | 'purge',
  summary: string,
): void {
  withRequestOptions(subcommand(dlq, `${what} [ids...]`, summary, `troupe dlq ${what} 2qt6g-1 2qt6g-7`))
    .option('--all', 'all there are now')
    .action((ids: readonly string[], flags: BulkFlags) => {
      if ((ids.length === 0) === (flags.all !== true))
        throw new CliError('ERR_CLI_USAGE', ExitCode.usage, `dlq ${what}: name the ids, or say --all`);
      return withClient(flags, (client) => redriveOrPurge(context, flags, client, what, ids));
    });
}

async function redriveOrPurge(
  context: CommandContext,
  flags: BulkFlags,
  client: Client,
  what: 'redrive' | 'purge',
  named: readonly string[],
): Promise<void> {
  const ids = [...named];
  if (flags.all === true) {
    for await (const view of jobsIn(client, 'dead', Number.MAX_SAFE_INTEGER)) ids.push(client.idOf(view.job));
  }
  const bar = new ProgressBar(context.terminal, what, ids.length);
  let count = 0;
  for (let at = 0; at < ids.length; at += PAGE) {
    count += await client[what](ids.slice(at, at + PAGE));
    bar.at(Math.min(at + PAGE, ids.length));
  }
  bar.end();
  printResult(context, flags, { [what === 'purge' ? 'purged' : 'redriven']: count, requested: ids.length }, [
    `${count} of ${ids.length} ${what === 'purge' ? 'purged' : 'queued again'}`,
  ]);
  if (count < ids.length) context.exitCode = ExitCode.noInput;
}

async function list(context: CommandContext, flags: Flags & { max: number }, client: Client): Promise<void> {
  const rows: string[][] = [];
  for await (const view of jobsIn(client, 'dead', flags.max)) {
    const job = shownJob(client.idOf(view.job), view);
    if (flags.json === true) printResult(context, flags, job, []);
    else rows.push([job.id, job.exec, job.reason ?? '', job.endedAt ?? '', job.failure?.message ?? '']);
  }
  if (flags.json === true) return;
  for (const line of textTable(['ID', 'EXEC', 'REASON', 'ENDED', 'LAST ERROR'], rows))
    context.terminal.out(line);
}
