import type { Command } from 'commander';
import { withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection-options.js';
import { printTable } from '../../output/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

export function addClients(program: Command, context: CommandContext): void {
  const clients = program.command('clients').description('the clients of a leader');
  withRequestOptions(
    subcommand(clients, 'ls', 'list the connected clients, their limits and refusals', 'troupe clients ls'),
  ).action((flags: RequestFlags) =>
    withClient(context, flags, async (client) => {
      const all = await client.clients();
      if (flags.json === true) {
        for (const one of all) printResult(context, flags, one, []);
        return;
      }
      const rows = all.map((one) => [
        one.client,
        new Date(one.since).toISOString(),
        useText(one.unanswered, one.unansweredMax),
        useText(one.running, one.runningMax),
        useText(one.jobs, one.jobsMax),
        Object.entries(one.refusals)
          .map(([code, count]) => `${code} ${count}`)
          .join(', '),
      ]);
      printTable(context.terminal, ['CLIENT', 'SINCE', 'UNANSWERED', 'RUNNING', 'JOBS', 'REFUSED'], rows);
    }),
  );
}

/** `3/16384`, or `3` where there is no limit. */
function useText(used: number, max: number): string {
  return max >= Number.MAX_SAFE_INTEGER ? String(used) : `${used}/${max}`;
}
