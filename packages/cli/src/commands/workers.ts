import type { RunnerUse } from '@troupe/jobs';
import type { Command } from 'commander';
import { withClient } from '../command-client.js';
import { type RequestFlags, withRequestOptions } from '../input/connection-options.js';
import { stateText } from '../output/job-text.js';
import { textTable } from '../output/text-table.js';
import { type CommandContext, printResult, subcommand } from '../subcommand.js';

type Flags = RequestFlags;

/** `llm 1/2, 3 wait`: of two instances one is in use. */
function runnersText(runners: readonly RunnerUse[]): string {
  return runners
    .map(({ runner, held, size, loading, waiting }) => {
      const notes = [loading > 0 ? `, ${loading} load` : '', waiting > 0 ? `, ${waiting} wait` : ''];
      return `${runner} ${held}/${size}${notes.join('')}`;
    })
    .join('; ');
}

export function addWorkers(program: Command, context: CommandContext): void {
  const workers = program.command('workers').description('the workers of a leader');
  withRequestOptions(
    subcommand(workers, 'ls', 'list the workers and how they are', 'troupe workers ls'),
  ).action((flags: Flags) =>
    withClient(flags, async (client) => {
      const { workers: all } = await client.overview();
      if (flags.json === true) {
        for (const one of all) printResult(context, flags, one, []);
        return;
      }
      const rows = all.map(({ worker, liveness, blockedMs, running, overrun, slots, credit, cpu, lagMs }) => [
        worker,
        stateText(liveness, blockedMs),
        `${running}/${slots}`,
        String(overrun),
        String(credit),
        `${Math.round(cpu * 100)}%`,
        `${Math.round(lagMs)} ms`,
      ]);
      const head = ['WORKER', 'STATE', 'RUNNING', 'OVERRUN', 'CREDIT', 'CPU', 'LAG'];
      if (all.some(({ runners = [] }) => runners.length > 0)) {
        head.push('RUNNERS');
        for (const [index, row] of rows.entries()) row.push(runnersText(all[index]?.runners ?? []));
      }
      for (const line of textTable(head, rows)) context.terminal.out(line);
    }),
  );
}
