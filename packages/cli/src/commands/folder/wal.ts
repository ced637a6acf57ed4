import { type DumpedDamage, dumpLedger, LEDGER_FORMAT, type LedgerLine } from '@troupe/jobs';
import { type RepairReport, repairWal, verifyWal } from '@troupe/wal';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { mustHoldLog } from '../../input/files/check-log-folder.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { ProgressBar } from '../../output/progress/progress-bar.js';
import { progressStorage } from '../../output/progress/progress-storage.js';
import { withoutPayloads } from '../../output/text/line-without-payloads.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';
import { addWalAt } from './wal-at.js';
import { addWalLoad } from './wal-load.js';

interface DumpFlags extends JsonFlag {
  readonly from?: number;
  readonly to?: number;
  readonly payloads: boolean;
}

const LSN_MAX = Number.MAX_SAFE_INTEGER;

export function addWal(program: Command, context: CommandContext): void {
  const wal = program.command('wal').description('the write-ahead log in a folder');
  subcommand(
    wal,
    'dump <folder>',
    "print the records of a leader's log as JSON Lines",
    'troupe wal dump ./state > records.jsonl',
  )
    .option('--from <lsn>', 'first entry', wholeNumber(1, LSN_MAX))
    .option('--to <lsn>', 'last entry', wholeNumber(1, LSN_MAX))
    .option(
      '--no-payloads',
      'print the size of payloads and results in their place; such lines cannot be loaded',
    )
    .action((folder: string, flags: DumpFlags) => dump(context, folder, flags));
  addWalLoad(wal, context);
  addWalAt(wal, context);
  subcommand(
    wal,
    'verify <folder>',
    'read a whole log and check every record, snapshot and blob',
    'troupe wal verify ./state',
  ).action(async (folder: string, flags: JsonFlag) => {
    await mustHoldLog(folder);
    const bar = new ProgressBar(context.terminal, 'verifying, MiB', 0);
    // Every byte is read twice: once to open the log, once to check every record.
    const report = await verifyWal(await progressStorage(folder, { bar, times: 2 })).finally(() => bar.end());
    const range = `entries ${report.firstLsn} to ${report.lastLsn} in ${report.segments} segments`;
    const end = report.wasClean ? 'closed cleanly' : 'not closed cleanly';
    const damage = report.damage.map((one) => `damaged: ${one.file} at byte ${one.offset}: ${one.reason}`);
    const cut =
      report.tornBytes === 0
        ? []
        : [
            `${report.tornBytes} bytes after the last batch are no batch; opening the log moves them to quarantine/`,
          ];
    printResult(context, flags, report, report.ok ? [`ok: ${range}, ${end}`, ...cut] : damage);
    if (!report.ok) context.exitCode = ExitCode.data;
  });
  subcommand(
    wal,
    'repair <folder>',
    'give up damaged records, so that the rest of the log opens again',
    'troupe wal repair ./state --accept-loss',
    'It prints the loss that a repair would mean; with --accept-loss it repairs, and keeps the damaged files in quarantine/.',
  )
    .option('--accept-loss', 'do it; without this flag the loss is only printed')
    .action(async (folder: string, flags: JsonFlag & { acceptLoss?: boolean }) => {
      await mustHoldLog(folder);
      const report = await repairWal(folder, {
        acceptLoss: flags.acceptLoss === true,
        content: LEDGER_FORMAT,
      });
      printResult(context, flags, report, [repairText(report)]);
    });
}

function repairText({ lost, recordsKept, missing, quarantined, applied }: RepairReport): string {
  const ranges = lost.map(({ from, to }) => `${from} to ${to}`).join(', ');
  const gone = missing.length === 0 ? '' : `; missing, with all records only there: ${missing.join(', ')}`;
  const what = `${recordsKept} records kept, ${ranges === '' ? 'none' : ranges} lost${gone}`;
  if (!applied) return `would be: ${what}; say --accept-loss to do it`;
  return `${what}, ${quarantined.length} files copied to quarantine/`;
}

async function dump(context: CommandContext, folder: string, flags: DumpFlags): Promise<void> {
  const { from = 1, to = LSN_MAX } = flags;
  if (from > to)
    throw new CliError('ERR_CLI_USAGE', ExitCode.usage, `wal dump: --from ${from} is behind --to ${to}`);
  await mustHoldLog(folder);
  const { terminal } = context;
  const bar = new ProgressBar(terminal, 'reading, MiB', 0);
  const range = {
    ...(flags.from === undefined ? {} : { from: flags.from }),
    ...(flags.to === undefined ? {} : { to: flags.to }),
  };
  // Records on a terminal show the progress themselves.
  const log = terminal.showsResults === true ? folder : await progressStorage(folder, { bar, times: 1 });
  await dumpLedger(
    log,
    (line) => {
      terminal.out(JSON.stringify(flags.payloads ? line : withoutPayloads(line)));
      if (isDamage(line)) context.exitCode = ExitCode.data;
    },
    range,
  ).finally(() => bar.end());
}

function isDamage(line: LedgerLine | DumpedDamage): line is DumpedDamage {
  return 'kind' in line;
}
