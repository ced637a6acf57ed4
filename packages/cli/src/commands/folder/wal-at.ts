import { type LedgerMoment, ledgerAt } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { mustHoldLog } from '../../input/files/check-log-folder.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { withoutPayloads } from '../../output/text/line-without-payloads.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

interface Flags extends JsonFlag {
  readonly job?: string;
  readonly state?: boolean;
}

const LSN = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export function addWalAt(wal: Command, context: CommandContext): void {
  subcommand(
    wal,
    'at',
    'show all jobs as they were after one record',
    'troupe wal at ./state 1200 --job 2qt6g-1',
    'The state of that moment can become a folder: troupe wal at ./state 1200 --state | troupe wal load ./then.',
  )
    .argument('<folder>', 'folder of a leader')
    .argument('<lsn>', 'number of the record', LSN)
    .option('--job <id>', 'show this job as it was, as a line')
    .option('--state', 'print everything as lines, for wal load')
    .action(async (folder: string, lsn: number, flags: Flags) => {
      await mustHoldLog(folder);
      const moment = await ledgerAt(folder, lsn);
      if (flags.state === true) for (const line of moment.state()) context.terminal.out(JSON.stringify(line));
      else if (flags.job !== undefined) printJob(context, moment, flags.job);
      else printMoment(context, flags, moment);
    });
}

function printJob({ terminal }: CommandContext, moment: LedgerMoment, id: string): void {
  const line = moment.job(id);
  if (line === undefined)
    throw new CliError(
      'ERR_JOB_UNKNOWN',
      ExitCode.noInput,
      `job ${id}: not there after record ${moment.lsn}; name a later record`,
    );
  terminal.out(JSON.stringify(line));
}

function printMoment(context: CommandContext, flags: Flags, moment: LedgerMoment): void {
  const { lsn, at, counts, accepted, dropped, records } = moment;
  const time = new Date(at).toISOString();
  const { queued, running, done, dead, cancelled } = counts;
  printResult(context, flags, { lsn, at: time, counts, accepted, dropped, records }, [
    `after record ${lsn}, ${time}: ${queued} queued, ${running} running, ${done} done, ${dead} dead, ${cancelled} cancelled; ${accepted} accepted in all, ${dropped} dropped`,
    ...records.map((line) => `record: ${JSON.stringify(withoutPayloads(line))}`),
  ]);
}
