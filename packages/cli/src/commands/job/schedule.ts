import type { Client, ScheduleOptions, ScheduleView } from '@troupe/jobs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError } from '../../cli-error.js';
import { withClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { type PayloadFlags, readPayload } from '../../input/job/payload-input.js';
import { type JobFlags, untypedJob, withJobOptions } from '../../input/job/untyped-job.js';
import { dateTime, duration, wholeNumber, YEAR_MS } from '../../input/option-parsers.js';
import { scheduleTable, shownSchedule } from '../../output/text/schedule-text.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

interface AddFlags extends RequestFlags, JobFlags, PayloadFlags {
  readonly cron?: string;
  readonly zone?: string;
  readonly every?: number;
  readonly from?: number;
  readonly jitter?: number;
  readonly overlap?: 'skip' | 'queue' | 'replace';
  readonly catchUp?: 'none' | 'last' | number;
}

const PAGE = 1_000;

export function addSchedule(program: Command, context: CommandContext): void {
  const schedule = program.command('schedule').description('jobs that are submitted at their times');
  addAdd(schedule, context);
  withRequestOptions(
    subcommand(
      schedule,
      'ls',
      'list schedules by name, with their next times',
      'troupe schedule ls --next 10',
    ),
  )
    .option('--next <n>', 'so many next times of each', wholeNumber(1, 1_000), 1)
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000_000), PAGE)
    .action((flags: RequestFlags & { next: number; max: number }) =>
      withClient(context, flags, (client) => list(context, flags, client)),
    );
  const verbs: readonly [Verb, string, string][] = [
    [
      'run',
      'run a schedule once, now',
      'Beside its times and the runs that go on, whatever its overlap is; its times look at it as at any other run.',
    ],
    ['pause', 'pause a schedule', 'Times that pass while it is paused are not made up for.'],
    ['resume', 'let a paused schedule go on', 'Its next time is the first one from now on.'],
  ];
  for (const [verb, summary, details] of verbs)
    withRequestOptions(
      subcommand(schedule, `${verb} <name>`, summary, `troupe schedule ${verb} nightly`, details),
    ).action((name: string, flags: RequestFlags) =>
      withClient(context, flags, async (client) =>
        print(context, flags, client, await client.schedules[verb](name)),
      ),
    );
  withRequestOptions(
    subcommand(
      schedule,
      'rm <name>',
      'remove a schedule',
      'troupe schedule rm nightly',
      'Jobs that it has submitted go on.',
    ),
  ).action((name: string, flags: RequestFlags) =>
    withClient(context, flags, async (client) => {
      await client.schedules.remove(name);
      printResult(context, flags, { name, removed: true }, [`${name} removed`]);
    }),
  );
}

type Verb = 'run' | 'pause' | 'resume';

function addAdd(schedule: Command, context: CommandContext): void {
  withJobOptions(
    withRequestOptions(
      subcommand(
        schedule,
        'add <name> <exec> [payload]',
        'add a schedule, or change the one of this name',
        `troupe schedule add nightly report.make '{}' --cron '0 3 * * *' --zone Europe/Berlin`,
        'The same again changes nothing.',
      ),
    ),
  )
    .option('--cron <line>', 'minute, hour, day of month, month, day of week; six fields begin with seconds')
    .option('--zone <name>', 'time zone of --cron, such as Europe/Berlin; UTC unless given')
    .option('--every <time>', 'a run every so long instead', duration(100, YEAR_MS))
    .option('--from <date>', 'with --every: one of its times, such as 2026-11-18T10:00Z', dateTime)
    .option('--jitter <time>', 'each run begins up to so much later', duration(0, YEAR_MS))
    .addOption(
      new Option(
        '--overlap <rule>',
        'while an earlier run, also one by request, is not over: drop, wait, or cancel it',
      ).choices(['skip', 'queue', 'replace']),
    )
    .option(
      '--catch-up <rule>',
      'times that the leader was away at: none, last, or a number of them; more than one need --overlap queue',
      catchUp,
    )
    .option('-f, --file <path>', 'payload from a file; - is standard input')
    .option('-t, --text', 'the payload is text, not JSON')
    .action(async (name: string, exec: string, argument: string | undefined, flags: AddFlags) => {
      checkTimes(flags);
      const input = await readPayload(argument, flags);
      await withClient(context, flags, async (client) => {
        const view = await client.schedules.add(name, untypedJob(exec, flags), input, optionsOf(flags));
        await print(context, flags, client, view);
      });
    });
}

function checkTimes({ cron, every, from, zone }: AddFlags): void {
  const problem =
    (cron === undefined) === (every === undefined)
      ? 'give either --cron or --every'
      : zone !== undefined && cron === undefined
        ? '--zone is for --cron'
        : from !== undefined && every === undefined
          ? '--from is for --every'
          : undefined;
  if (problem !== undefined) throw new CliError('ERR_CLI_USAGE', ExitCode.usage, `schedule add: ${problem}`);
}

function optionsOf({ cron, zone, every, from, jitter, overlap, catchUp: rule }: AddFlags): ScheduleOptions {
  return { cron, zone, everyMs: every, fromAt: from, jitterMs: jitter, overlap, catchUp: rule };
}

function catchUp(text: string): 'none' | 'last' | number {
  if (text === 'none' || text === 'last') return text;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be none, last or a number from 1 to 1000.');
}

async function list(
  context: CommandContext,
  flags: RequestFlags & { next: number; max: number },
  client: Client,
): Promise<void> {
  const views: ScheduleView[] = [];
  for (let after: string | undefined; views.length < flags.max; ) {
    const wanted = Math.min(PAGE, flags.max - views.length);
    const page = await client.schedules.list({ after, max: wanted });
    views.push(...page);
    if (page.length < wanted) break;
    after = page.at(-1)?.name;
  }
  const tag = tagOf(client);
  const drained = await drainedQueues(client);
  const shown = views.map((view) => shownSchedule(tag, view, drained, flags.next));
  if (flags.json === true) for (const one of shown) printResult(context, flags, one, []);
  else for (const line of scheduleTable(shown)) context.terminal.out(line);
}

async function print(
  context: CommandContext,
  flags: RequestFlags,
  client: Client,
  view: ScheduleView,
): Promise<void> {
  const shown = shownSchedule(tagOf(client), view, await drainedQueues(client), 1);
  printResult(context, flags, shown, scheduleTable([shown]));
}

/** Names of the drained queues that the caller may see. */
async function drainedQueues(client: Client): Promise<ReadonlySet<string>> {
  const queues = await client.queues();
  return new Set(queues.filter(({ mode }) => mode === 'draining').map(({ queue }) => queue));
}

/** The first part of every id. */
function tagOf(client: Client): string {
  return client.idOf(1).replace(/-1$/, '');
}
