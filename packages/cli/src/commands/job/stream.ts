import type { JobDefinition, JobHandle, JobStreamEnd } from '@troupe/jobs';
import { JobCancelledError, JobFailedError, JobWaitError } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { atLeaderOfJob, withWaitingClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { type FeedForm, feedItems } from '../../input/job/feed-items.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { escapeControlCharacters } from '../../output/text/escape-control-characters.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

interface FeedFlags extends RequestFlags, GroupFlags {
  readonly jsonLines?: boolean;
  readonly bytes?: boolean;
  readonly keepOpen?: boolean;
}

/** A stand-in definition: an existing job is found by its id alone. */
const ANY_JOB = untypedJob('some.job', { isStream: true, isFed: true });

export function addFeed(program: Command, context: CommandContext): void {
  withGroupRequestOptions(
    subcommand(
      program,
      'feed <id>',
      'feed a running job from standard input, and end its feed with it',
      'troupe feed 2qt6g-1 < notes.txt',
      "Every line is a text; each is on the leader's disk before the next one is read.",
    ),
  )
    .option('--json-lines', 'every line is JSON; a line is a text unless given')
    .option('--bytes', 'pieces of at most 64 KiB, in base64, instead of lines')
    .option('--keep-open', 'do not end the feed at the end of the input')
    .action((id: string, flags: FeedFlags) => atLeaderOfJob(flags, (one) => feed(context, id, one)));
}

async function feed(context: CommandContext, id: string, flags: FeedFlags): Promise<void> {
  const form = formOf(flags);
  await withWaitingClient(context, flags, async (client, deadline) => {
    const job = client.open(ANY_JOB, id);
    let items = 0;
    for await (const item of feedItems(process.stdin, form)) {
      await job.feed(item as never, deadline.left());
      items += 1;
    }
    if (flags.keepOpen !== true) await job.endFeed(deadline.left());
    printResult(context, flags, { id, items }, [`${items} items`]);
  });
}

function formOf({ jsonLines, bytes }: FeedFlags): FeedForm {
  if (jsonLines === true && bytes === true)
    throw new CliError('ERR_CLI_USAGE', ExitCode.usage, 'feed: --json-lines or --bytes, not both');
  if (bytes === true) return 'bytes';
  return jsonLines === true ? 'json' : 'text';
}

/**
 * Prints the chunks of a job as they come: texts as they are, other values as lines of JSON. A new attempt
 * and a gap are messages for people. Fails as the job does, and as `await` when the time is over.
 */
export async function printStream(
  context: CommandContext,
  flags: JsonFlag,
  job: JobHandle<JobDefinition>,
  { withinMs }: { readonly withinMs?: number },
): Promise<void> {
  const { terminal } = context;
  const stop = new AbortController();
  const timer =
    withinMs === undefined
      ? undefined
      : setTimeout(() => stop.abort(new JobWaitError(job.id, withinMs)), withinMs);
  let isInLine = false;
  const notice = (text: string): void =>
    terminal.err(`${isInLine ? '\n' : ''}troupe: job ${job.id}: ${text}`);
  try {
    for await (const item of job.items({ signal: stop.signal })) {
      if (flags.json === true) terminal.out(JSON.stringify(item));
      if (item.kind === 'end') mustBeDone(job.id, item);
      else if (flags.json === true) continue;
      else if (item.kind === 'reset') notice(`attempt ${item.attempt} has begun, the chunks so far are void`);
      else if (item.kind === 'gap') notice(`chunks ${item.from} to ${item.to ?? 'the end'} are lost`);
      else if (item.kind === 'data') isInLine = printChunk(context, item.chunk);
    }
  } finally {
    clearTimeout(timer);
    if (isInLine) terminal.out('');
  }
}

function mustBeDone(id: string, { outcome, reason, failure }: JobStreamEnd): void {
  if (outcome === 'dead') throw new JobFailedError(id, reason, failure);
  if (outcome === 'cancelled') throw new JobCancelledError(id, reason);
}

/** True: the line is not ended. */
function printChunk({ terminal }: CommandContext, chunk: unknown): boolean {
  if (typeof chunk !== 'string') {
    terminal.out(escapeControlCharacters(JSON.stringify(chunk)));
    return false;
  }
  const shown =
    terminal.showsResults === true ? chunk.split('\n').map(escapeControlCharacters).join('\n') : chunk;
  if (terminal.write === undefined) terminal.out(shown);
  else terminal.write(shown);
  return terminal.write !== undefined && !chunk.endsWith('\n');
}
