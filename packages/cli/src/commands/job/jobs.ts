import type { Client, JobView } from '@troupe/jobs';
import type { Command } from 'commander';
import { atEachLeader, atLeaderOfJob, withClient, withWaitingClient } from '../../command-client.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import {
  type FilterFlags,
  filterOf,
  withFilterOptions,
  withStateOption,
} from '../../input/job/job-filter.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { duration, TIMER_MS_MAX, wholeNumber } from '../../input/option-parsers.js';
import { type ShownJob, shownJob } from '../../output/text/job-text.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';
import { addCancel } from './cancel.js';
import { printStream } from './print-stream.js';
import { addShow } from './show.js';

type Flags = RequestFlags & GroupFlags;

/** A stand-in definition: an existing job is found by its id alone. */
const ANY_JOB = untypedJob('some.job');
const ANY_STREAM = untypedJob('some.job', { isStream: true });

export function addJobCommands(program: Command, context: CommandContext): void {
  withGroupRequestOptions(
    subcommand(
      program,
      'await <id>',
      'wait for the output of a job submitted earlier',
      'troupe await 2qt6g-1',
    ),
  )
    .option(
      '--result-within <time>',
      'give up waiting after so long; the job goes on',
      duration(1, TIMER_MS_MAX),
    )
    .option('--stream', 'print the chunks as they come instead of the output')
    .action((id: string, flags: Flags & { resultWithin?: number; stream?: boolean }) =>
      atLeaderOfJob(flags, (one) =>
        withWaitingClient(context, one, async (client, deadline) => {
          const limit = deadline.left(flags.resultWithin);
          if (flags.stream === true) return printStream(context, flags, client.open(ANY_STREAM, id), limit);
          const output = await client.open(ANY_JOB, id).result(limit);
          printResult(context, flags, { id, output }, [JSON.stringify(output)]);
        }),
      ),
    );
  addCancel(program, context);
  addShow(program, context);
  withFilterOptions(
    withStateOption(
      withGroupRequestOptions(
        subcommand(
          program,
          'ls',
          'list jobs that fit all filters, oldest first',
          'troupe ls --exec mail.send --state dead --since 2h',
        ),
      ),
    ),
  )
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000_000), 100)
    .option('--after <id>', 'only jobs behind this one, for the next page')
    .action((flags: ListFlags) =>
      atEachLeader(flags, (one) => withClient(context, one, (client) => list(context, one, client))),
    );
}

interface ListFlags extends Flags, FilterFlags {
  readonly max: number;
  readonly after?: string;
}

async function list(context: CommandContext, flags: ListFlags, client: Client): Promise<void> {
  const { max, after } = flags;
  const found = await searched(client, flags, after === undefined ? 0 : jobNumber(client, after));
  const jobs = found.slice(0, max).map((view) => shownJob(client.idOf(view.job), view));
  if (flags.json === true) {
    for (const job of jobs) printResult(context, flags, job, []);
    return;
  }
  const isRun = jobs.some(({ worker }) => worker !== null);
  const rows = jobs.map((job) => [
    job.id,
    job.state,
    job.exec,
    String(job.attempt),
    job.submittedAt,
    ...(isRun ? [job.worker ?? ''] : []),
    whyText(job),
  ]);
  const head = ['ID', 'STATE', 'EXEC', 'ATTEMPT', 'SUBMITTED', ...(isRun ? ['WORKER'] : []), 'REASON'];
  printTable(context.terminal, head, rows);
  if (found.length > max)
    context.terminal.err(
      `troupe: more jobs fit; go on with --after ${jobs.at(-1)?.id}, or give a larger --max`,
    );
}

/** One more than are shown, where there are more. */
async function searched(client: Client, flags: ListFlags, from: number): Promise<readonly JobView[]> {
  const views: JobView[] = [];
  const wanted = flags.max + 1;
  for (let after = from; views.length < wanted; ) {
    const page = await client.search(filterOf(flags), { after, max: Math.min(PAGE, wanted - views.length) });
    views.push(...page.jobs);
    if (page.next === 0) break;
    after = page.next;
  }
  return views;
}

/** `failed: Error: no such mailbox`, `due 2026-11-18T10:00:00.000Z: Error: busy` */
function whyText({ state, dueAt, reason, failure }: ShownJob): string {
  const error = failure === null || failure === undefined ? '' : `${failure.name}: ${failure.message}`;
  const isDelayed = state === 'queued' && dueAt !== null && Date.parse(dueAt) > Date.now();
  const due = isDelayed ? `due ${dueAt}` : '';
  return [due, reason ?? '', error].filter((text) => text !== '').join(': ');
}

/** Refuses an id of another leader. */
function jobNumber(client: Client, id: string): number {
  const { id: own } = client.open(ANY_JOB, id);
  return Number.parseInt(own.slice(own.lastIndexOf('-') + 1), 36);
}

const PAGE = 1_000;

/** All jobs of a state, page by page, at most `max`. */
export async function* jobsIn(client: Client, state: JobView['state'], max: number): AsyncGenerator<JobView> {
  let after = 0;
  for (let left = max; left > 0; ) {
    const wanted = Math.min(PAGE, left);
    const views = await client.list(state, { after, max: wanted });
    yield* views;
    const last = views.at(-1);
    if (last === undefined || views.length < wanted) return;
    after = last.job;
    left -= views.length;
  }
}
