import type { AuditView } from '@troupe/jobs';
import type { Command } from 'commander';
import { withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

interface Flags extends RequestFlags {
  readonly after?: number;
  readonly max: number;
}

export function addAudit(program: Command, context: CommandContext): void {
  withRequestOptions(
    subcommand(
      program,
      'audit',
      'list who did what to what, oldest first',
      'troupe audit --max 20',
      'Cancels, redrives, schedules, pauses, limits, workers: each is a record of the log.',
    ),
  )
    .option(
      '--after <n>',
      'acts behind this number; the latest ones unless given',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000), 100)
    .action((flags: Flags) =>
      withClient(context, flags, async (client) => {
        const entries = await client.audit({ after: flags.after, max: flags.max });
        const shown = entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() }));
        if (flags.json === true) for (const one of shown) printResult(context, flags, one, []);
        else printTable(context.terminal, HEAD, shown.map(rowOf));
      }),
    );
}

const HEAD = ['NO', 'AT', 'BY', 'ACTION', 'TARGET', 'DETAIL'];

function rowOf({ no, at, by, action, target, detail }: Omit<AuditView, 'at'> & { at: string }): string[] {
  return [String(no), at, by, action, target, detail];
}
