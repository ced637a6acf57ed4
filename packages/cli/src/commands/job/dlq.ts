import type { Client } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { atEachLeader, withClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { type FilterFlags, filterOf, isFiltered, withFilterOptions } from '../../input/job/job-filter.js';
import { readPayload } from '../../input/job/payload-input.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { ProgressBar } from '../../output/progress/progress-bar.js';
import { type ShownJob, shownJob } from '../../output/text/job-text.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';
import { jobsIn } from './jobs.js';
import { type ShowFlags, showJob, withPayloadOption } from './show.js';

type Flags = RequestFlags;

interface BulkFlags extends Flags {
  readonly all?: boolean;
}

interface RedriveFlags extends BulkFlags, FilterFlags {
  readonly perSecond?: number;
  readonly dryRun?: boolean;
  readonly payload?: string;
}

const PAGE = 1_000;

export function addDlq(program: Command, context: CommandContext): void {
  const dlq = program.command('dlq').description('dead letters: jobs that ran out of attempts');
  withGroupRequestOptions(subcommand(dlq, 'ls', 'list dead letters, oldest first', 'troupe dlq ls --max 20'))
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000_000), 100)
    .action((flags: Flags & GroupFlags & { max: number }) =>
      atEachLeader(flags, (at) => withClient(context, at, (client) => list(context, at, client))),
    );
  withPayloadOption(
    withGroupRequestOptions(
      subcommand(dlq, 'show <id>', 'show one dead letter and its last error', 'troupe dlq show 2qt6g-1'),
    ),
  ).action((id: string, flags: ShowFlags) => showJob(context, flags, id, mustBeDead));
  addGroups(dlq, context);
  addRedrive(dlq, context);
  addPurge(dlq, context);
}

function mustBeDead({ id, state }: ShownJob): void {
  if (state !== 'dead')
    throw new CliError(
      'ERR_CLI_NOT_DEAD',
      ExitCode.noInput,
      `job ${id}: not a dead letter, it is ${state}; see troupe show`,
    );
}

function addRedrive(dlq: Command, context: CommandContext): void {
  withFilterOptions(
    withRequestOptions(
      subcommand(
        dlq,
        'redrive [ids...]',
        'queue dead letters again, with fresh counts',
        'troupe dlq redrive --exec mail.send --error timeout --dry-run',
        'Name the ids, say --all, or choose by filters. With --payload one of them gets another input.',
      ),
    ),
  )
    .option('--all', 'all there are now')
    .option('--per-second <n>', 'by filters: at most so many a second', wholeNumber(1, 1_000_000))
    .option('--dry-run', 'by filters: only count those that fit')
    .option('--payload <json>', 'the new input of the one that is named; - is standard input')
    .action((ids: readonly string[], flags: RedriveFlags) => {
      const isByFilter = isFiltered(flags);
      const ways = [ids.length > 0, flags.all === true, isByFilter].filter((isUsed) => isUsed).length;
      const isForFilter = flags.dryRun === true || flags.perSecond !== undefined;
      if (ways !== 1) throw usage('dlq redrive: name the ids, or say --all, or give filters');
      if (isForFilter && ids.length > 0)
        throw usage('dlq redrive: --dry-run and --per-second go with filters or --all, not with ids');
      if (flags.payload !== undefined) return redriveEdited(context, flags, ids);
      if (isByFilter || isForFilter) return redriveWhere(context, flags);
      return withClient(context, flags, (client) => redriveOrPurge(context, flags, client, 'redrive', ids));
    });
}

function addPurge(dlq: Command, context: CommandContext): void {
  withRequestOptions(
    subcommand(dlq, 'purge [ids...]', 'remove dead letters for good', 'troupe dlq purge 2qt6g-1 2qt6g-7'),
  )
    .option('--all', 'all there are now')
    .action((ids: readonly string[], flags: BulkFlags) => {
      if ((ids.length === 0) === (flags.all !== true)) throw usage('dlq purge: name the ids, or say --all');
      return withClient(context, flags, (client) => redriveOrPurge(context, flags, client, 'purge', ids));
    });
}

async function redriveWhere(context: CommandContext, flags: RedriveFlags): Promise<void> {
  const { dryRun = false, perSecond } = flags;
  await withClient(context, flags, async (client) => {
    const { matched, redriven } = await client.redriveWhere(filterOf(flags), { dryRun, perSecond });
    const text = dryRun ? `${matched} would be queued again` : `${redriven} of ${matched} queued again`;
    printResult(context, flags, { matched, redriven, dryRun }, [text]);
  });
}

/** The change is in the audit. */
async function redriveEdited(
  context: CommandContext,
  flags: RedriveFlags,
  ids: readonly string[],
): Promise<void> {
  const [id] = ids;
  if (id === undefined || ids.length > 1) throw usage('dlq redrive --payload: name one id');
  const input = await readPayload(flags.payload, {});
  await withClient(context, flags, async (client) => {
    const { exec } = await client.open(untypedJob('some.job'), id).inspect();
    await client.redriveEdited(untypedJob(exec), id, input);
    printResult(context, flags, { redriven: 1, requested: 1 }, ['1 of 1 queued again, with another input']);
  });
}

function addGroups(dlq: Command, context: CommandContext): void {
  withGroupRequestOptions(
    subcommand(
      dlq,
      'groups',
      'show dead letters by their error, the largest groups first',
      'troupe dlq groups --exec mail.send',
      'Errors that differ in numbers, ids and quoted texts alone are one group; see dlq redrive --fingerprint.',
    ),
  )
    .option('--exec <name>', 'only jobs of this name')
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000), 100)
    .action((flags: GroupsFlags) =>
      atEachLeader(flags, (at) => withClient(context, at, (client) => printGroups(context, at, client))),
    );
}

interface GroupsFlags extends Flags, GroupFlags {
  readonly exec?: string;
  readonly max: number;
}

async function printGroups(context: CommandContext, flags: GroupsFlags, client: Client): Promise<void> {
  const groups = await client.deadLetterGroups({ exec: flags.exec, max: flags.max });
  const shown = groups.map(({ jobs, firstAt, lastAt, ...rest }) => ({
    ...rest,
    firstAt: new Date(firstAt).toISOString(),
    lastAt: new Date(lastAt).toISOString(),
    ids: jobs.map((job) => client.idOf(job)),
  }));
  if (flags.json === true) {
    for (const one of shown) printResult(context, flags, one, []);
    return;
  }
  const rows = shown.map((one) => [
    String(one.count),
    one.fingerprint,
    one.exec,
    one.lastAt,
    `${one.name}: ${one.message}`,
  ]);
  printTable(context.terminal, ['COUNT', 'FINGERPRINT', 'EXEC', 'LAST', 'ERROR'], rows);
}

function usage(problem: string): CliError {
  return new CliError('ERR_CLI_USAGE', ExitCode.usage, problem);
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
  let hasMore = false;
  for await (const view of jobsIn(client, 'dead', flags.max + 1)) {
    hasMore = rows.length === flags.max;
    if (hasMore) break;
    const job = shownJob(client.idOf(view.job), view);
    if (flags.json === true) printResult(context, flags, job, []);
    rows.push([job.id, job.exec, job.reason ?? '', job.endedAt ?? '', job.failure?.message ?? '']);
  }
  if (flags.json === true) return;
  printTable(context.terminal, ['ID', 'EXEC', 'REASON', 'ENDED', 'LAST ERROR'], rows);
  if (hasMore) context.terminal.err('troupe: there are more; give a larger --max, or see troupe dlq groups');
}
