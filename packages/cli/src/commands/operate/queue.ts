import type { Client, ExecStatsView, QueueLimits, QueueView } from '@troupe/jobs';
import { type Command, InvalidArgumentError } from 'commander';
import { atEachLeader, withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { duration, wholeNumber, YEAR_MS } from '../../input/option-parsers.js';
import { timeText } from '../../output/text/explanation-text.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

type RateLimit = NonNullable<QueueLimits['rate']>;

interface LimitFlags extends RequestFlags {
  readonly runningMax?: number;
  readonly rate?: RateLimit;
  readonly keyRunningMax?: number;
  readonly keyRate?: RateLimit;
}

const COUNT_MAX = 1_000_000;
const NAMES = 'A queue is an exec, group/exec, or * for all queues together.';

export function addQueue(program: Command, context: CommandContext): void {
  const queue = program.command('queue').description('queues: figures, pauses, limits');
  withRequestOptions(
    subcommand(
      queue,
      'stats',
      'show depth, age, rates and times of every queue',
      'troupe queue stats',
      'Rates are of the last minute, times of the last five to ten.',
    ),
  ).action((flags: RequestFlags) =>
    withClient(context, flags, (client) => printStats(context, flags, client)),
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
      'set the limits of a queue, in place of those it has',
      'troupe queue limits mail.send --running-max 10 --rate 100/1s',
      `Without a flag all its limits are gone. ${NAMES}`,
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
    .action((name: string, { runningMax, rate: all, keyRunningMax, keyRate, ...flags }: LimitFlags) =>
      withClient(context, flags, async (client) => {
        const limits = { runningMax, rate: all, keyRunningMax, keyRate };
        printQueues(context, flags, [await client.queue(name).setLimits(limits)]);
      }),
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
    for (const one of queues) printResult(context, flags, one, []);
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
  const rateText = ({ jobs, perMs }: RateLimit): string => `${jobs}/${timeText(perMs)}`;
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
  const head = [
    'EXEC',
    'QUEUED',
    'RUNNING',
    'OLDEST',
    'ACCEPTED/S',
    'DONE/S',
    'FAILED/S',
    'DEAD/S',
    'WAIT P50/P99',
    'RUN P50/P99',
  ];
  printTable(context.terminal, head, execs.map(statsRow));
}

function statsRow(one: ExecStatsView): string[] {
  const rateText = (perSecond: number): string => perSecond.toFixed(1);
  return [
    one.exec,
    String(one.queued),
    String(one.running),
    timeText(one.oldestMs),
    rateText(one.acceptedPerSecond),
    rateText(one.donePerSecond),
    rateText(one.failedPerSecond),
    rateText(one.deadPerSecond),
    `${timeText(one.waitMs.p50)}/${timeText(one.waitMs.p99)}`,
    `${timeText(one.runMs.p50)}/${timeText(one.runMs.p99)}`,
  ];
}
