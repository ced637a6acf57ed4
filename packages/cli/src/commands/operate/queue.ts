import type { Client, ExecStatsView, QueueLimits, QueueView } from '@troupe/jobs';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError } from '../../cli-error.js';
import { atEachLeader, withClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { duration, durationText, wholeNumber, YEAR_MS } from '../../input/option-parsers.js';
import { timeText } from '../../output/text/explanation-text.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

type RateLimit = NonNullable<QueueLimits['rate']>;

interface LimitFlags extends RequestFlags {
  readonly runningMax?: number;
  readonly rate?: RateLimit;
  readonly keyRunningMax?: number;
  readonly keyRate?: RateLimit;
  readonly none?: boolean;
}

const COUNT_MAX = 1_000_000;
const NAMES = 'A queue is an exec, group/exec, or * for all queues together.';

export function addQueue(program: Command, context: CommandContext): void {
  const queue = program.command('queue').description('queues: figures, pauses, limits');
  withGroupRequestOptions(
    subcommand(
      queue,
      'stats',
      'show depth, age, rates and times of every queue',
      'troupe queue stats',
      'Rates are of the last minute, times of the last five to ten.',
    ),
  ).action((flags: RequestFlags & GroupFlags) =>
    atEachLeader(flags, (at) => withClient(context, at, (client) => printStats(context, flags, client))),
  );
  withGroupRequestOptions(
    subcommand(queue, 'ls', 'list queues with their modes and limits', 'troupe queue ls'),
  ).action((flags: RequestFlags & GroupFlags) =>
    atEachLeader(flags, (at) =>
      withClient(context, at, async (client) => printQueues(context, flags, await client.queues())),
    ),
  );
  const modes: readonly ['pause' | 'resume' | 'drain', string, string][] = [
    ['pause', 'let no job of a queue begin', `Submits are accepted and running attempts go on. ${NAMES}`],
    ['resume', 'end a pause or a drain', NAMES],
    ['drain', 'refuse submits to a queue', `Accepted jobs go on. ${NAMES}`],
  ];
  for (const [mode, summary, details] of modes)
    withRequestOptions(
      subcommand(queue, `${mode} <queue>`, summary, `troupe queue ${mode} mail.send`, details),
    ).action((name: string, flags: RequestFlags) =>
      withClient(context, flags, async (client) =>
        printQueues(context, flags, [await client.queue(name)[mode]()]),
      ),
    );
  addLimits(queue, context);
}

function addLimits(queue: Command, context: CommandContext): void {
  withRequestOptions(
    subcommand(
      queue,
      'limits <queue>',
      'show the limits of a queue, or set them in place of those it has',
      'troupe queue limits mail.send --running-max 10 --rate 100/1s',
      `Limits that are not given again are gone; --none removes all. ${NAMES}`,
    ),
  )
    .option('--running-max <n>', 'attempts at once', wholeNumber(1, 1_000_000_000))
    .option('--rate <jobs/time>', 'starts of attempts, such as 100/1s; 100/1s/20 allows 20 at once', rate)
    .option(
      '--key-running-max <n>',
      'attempts at once of one order key; 1 unless given',
      wholeNumber(1, COUNT_MAX),
    )
    .option('--key-rate <jobs/time>', 'starts of jobs of one order key', rate)
    .option('--none', 'remove all limits')
    .action((name: string, { runningMax, rate: all, keyRunningMax, keyRate, none, ...flags }: LimitFlags) => {
      const limits = { runningMax, rate: all, keyRunningMax, keyRate };
      const isSet = Object.values(limits).some((one) => one !== undefined);
      if (isSet && none === true)
        throw new CliError('ERR_CLI_USAGE', ExitCode.usage, 'queue limits: give limits or --none, not both');
      return withClient(context, flags, async (client) => {
        const isChange = isSet || none === true;
        printQueues(context, flags, [
          isChange ? await client.queue(name).setLimits(limits) : await queueOf(client, name),
        ]);
      });
    });
}

/** Looks, and changes nothing. */
async function queueOf(client: Client, name: string): Promise<QueueView> {
  const full = name === '*' || name.includes('/') ? name : `${name.split('.')[0]}/${name}`;
  const found = (await client.queues()).find(({ queue }) => queue === full);
  if (found !== undefined) return found;
  throw new CliError(
    'ERR_CLI_QUEUE',
    ExitCode.noInput,
    `queue ${full}: it has no jobs and no limits; see troupe queue ls`,
  );
}

/** `100/1s`, or `100/1s/20` with its burst. */
function rate(text: string): RateLimit {
  const [, jobs, time, burst] = /^(\d{1,9})\/([\d.]+(?:ms|s|m|h|d))(?:\/(\d{1,9}))?$/.exec(text) ?? [];
  if (jobs === undefined || time === undefined || Number(jobs) === 0)
    throw new InvalidArgumentError('It must be jobs and a time, such as 100/1s, or with a burst 100/1s/20.');
  return {
    jobs: Number(jobs),
    perMs: duration(1, YEAR_MS)(time),
    ...(burst === undefined ? {} : { burst: Number(burst) }),
  };
}

function printQueues(context: CommandContext, flags: RequestFlags, queues: readonly QueueView[]): void {
  if (flags.json === true) {
    for (const { changedAt, ...one } of queues) {
      const at = changedAt === 0 ? null : new Date(changedAt).toISOString();
      printResult(context, flags, { ...one, changedAt: at }, []);
    }
    return;
  }
  const rows = queues.map((one) => [
    one.queue,
    one.mode,
    String(one.waiting),
    String(one.running),
    limitsText(one.limits),
    one.changedAt === 0 ? '' : `${new Date(one.changedAt).toISOString()} by ${one.by}`,
  ]);
  printTable(context.terminal, ['QUEUE', 'MODE', 'WAITING', 'RUNNING', 'LIMITS', 'CHANGED'], rows);
}

function limitsText({ runningMax, rate: all, keyRunningMax, keyRate }: QueueLimits): string {
  const rateText = ({ jobs, perMs, burst }: RateLimit): string =>
    `${jobs}/${durationText(perMs)}${burst === undefined ? '' : `/${burst}`}`;
  return [
    runningMax === undefined ? '' : `running ${runningMax}`,
    all === undefined ? '' : `rate ${rateText(all)}`,
    keyRunningMax === undefined ? '' : `running of a key ${keyRunningMax}`,
    keyRate === undefined ? '' : `rate of a key ${rateText(keyRate)}`,
  ]
    .filter((text) => text !== '')
    .join(', ');
}

async function printStats(context: CommandContext, flags: RequestFlags, client: Client): Promise<void> {
  const { execs } = await client.stats();
  if (flags.json === true) {
    for (const one of execs) printResult(context, flags, one, []);
    return;
  }
  // Most users give no priorities.
  const hasPriorities = execs.some(({ queuedByPriority }) =>
    Object.keys(queuedByPriority).some((priority) => Number(priority) !== DEFAULT_PRIORITY),
  );
  const head = [
    'EXEC',
    'QUEUED',
    ...(hasPriorities ? ['BY PRIORITY'] : []),
    'RUNNING',
    'OLDEST',
    'ACCEPTED/S',
    'DONE/S',
    'FAILED/S',
    'DEAD/S',
    'WAIT P50/P99',
    'RUN P50/P99',
  ];
  const rows = execs.map((one) => statsRow(one, { hasPriorities }));
  printTable(context.terminal, head, rows);
}

const DEFAULT_PRIORITY = 4;

function statsRow(one: ExecStatsView, { hasPriorities }: { hasPriorities: boolean }): string[] {
  const rateText = (perSecond: number): string => perSecond.toFixed(1);
  return [
    one.exec,
    String(one.queued),
    ...(hasPriorities ? [priorityText(one)] : []),
    String(one.running),
    one.oldestMs === 0 ? '' : timeText(one.oldestMs),
    rateText(one.acceptedPerSecond),
    rateText(one.donePerSecond),
    rateText(one.failedPerSecond),
    rateText(one.deadPerSecond),
    quantileText(one.waitMs),
    quantileText(one.runMs),
  ];
}

/** `9: 2, 4: 17`: the first ones begin first. */
function priorityText({ queuedByPriority }: ExecStatsView): string {
  const all = Object.entries(queuedByPriority).sort(([one], [other]) => Number(other) - Number(one));
  return all.map(([priority, queued]) => `${priority}: ${queued}`).join(', ');
}

/** Empty before the first event. */
function quantileText({ p50, p99 }: ExecStatsView['waitMs']): string {
  return p99 === 0 ? '' : `${timeText(p50)}/${timeText(p99)}`;
}
