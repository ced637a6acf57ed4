import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { atEachLeader, atLeaderOfJob, withClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import {
  type FilterFlags,
  filterOf,
  isFiltered,
  withFilterOptions,
  withStateOption,
} from '../../input/job/job-filter.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

interface CancelFlags extends RequestFlags, GroupFlags, FilterFlags {
  readonly reason: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function addCancel(program: Command, context: CommandContext): void {
  withFilterOptions(
    withStateOption(
      withGroupRequestOptions(
        subcommand(
          program,
          'cancel [id]',
          'cancel a waiting or running job, or all that fit',
          "troupe cancel --exec mail.send --tag nightly --reason 'wrong list' --yes",
          'Name one id, or choose by filters: without --yes the jobs that fit are only counted.',
        ),
      ),
    ),
  )
    .option('--reason <text>', 'kept with each job', '')
    .option('--dry-run', 'by filters: only count those that fit')
    .option('--yes', 'by filters: cancel them')
    .action((id: string | undefined, flags: CancelFlags) => {
      const isForFilter = flags.dryRun === true || flags.yes === true;
      if ((id === undefined) !== isFiltered(flags) || (id !== undefined && isForFilter))
        throw usage('cancel: name one id, or give filters');
      if (flags.dryRun === true && flags.yes === true) throw usage('cancel: say --dry-run or --yes');
      return id === undefined ? cancelWhere(context, flags) : cancelOne(context, flags, id);
    });
}

async function cancelOne(context: CommandContext, flags: CancelFlags, id: string): Promise<void> {
  await atLeaderOfJob(flags, (one) =>
    withClient(context, one, async (client) => {
      const state = await client.open(untypedJob('some.job'), id).cancel(flags.reason);
      printResult(context, flags, { id, state }, [`${id} ${state}`]);
    }),
  );
}

async function cancelWhere(context: CommandContext, flags: CancelFlags): Promise<void> {
  const { reason, yes = false } = flags;
  await atEachLeader(flags, (one) =>
    withClient(context, one, async (client) => {
      const { matched, cancelled } = await client.cancelWhere(filterOf(flags), { reason, dryRun: !yes });
      const text = yes ? `${cancelled} of ${matched} cancelled` : `${matched} would be cancelled; say --yes`;
      printResult(context, flags, { matched, cancelled, dryRun: !yes }, [text]);
    }),
  );
}

function usage(problem: string): CliError {
  return new CliError('ERR_CLI_USAGE', ExitCode.usage, problem);
}
