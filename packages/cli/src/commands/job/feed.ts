import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { atLeaderOfJob, withWaitingClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { type FeedForm, feedItems } from '../../input/job/feed-items.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

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
