import type { ClientView } from '@troupe/jobs';
import type { Command } from 'commander';
import { withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

export function addClients(program: Command, context: CommandContext): void {
  const clients = program.command('clients').description('the clients of a leader');
  withRequestOptions(
    subcommand(clients, 'ls', 'list the connected clients, their limits and refusals', 'troupe clients ls'),
  ).action((flags: RequestFlags) =>
    withClient(context, flags, async (client) => {
      const all = await client.clients();
      if (flags.json === true) {
        for (const one of all) printResult(context, flags, shown(one), []);
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

/** No limit is null, and times are texts. */
function shown(client: ClientView): object {
  const { runningMax, jobsMax, unansweredMax } = client;
  const limits = { unansweredMax, runningMax, jobsMax };
  const known = Object.entries(limits).map(([name, max]) => [name, isLimit(max) ? max : null]);
  return { ...client, since: new Date(client.since).toISOString(), ...Object.fromEntries(known) };
}

function isLimit(max: number): boolean {
  return max < Number.MAX_SAFE_INTEGER;
}

/** `3/16384`, or `3` where there is no limit. */
function useText(used: number, max: number): string {
  return isLimit(max) ? `${used}/${max}` : String(used);
}
