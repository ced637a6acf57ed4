import type { Command } from 'commander';
import { withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection-options.js';
import { textTable } from '../../output/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

export function addClients(program: Command, context: CommandContext): void {
  const clients = program.command('clients').description('the clients of a leader');
  withRequestOptions(
    subcommand(clients, 'ls', 'list the connected clients, their limits and refusals', 'troupe clients ls'),
  ).action((flags: RequestFlags) =>
    withClient(flags, async (client) => {
      const all = await client.clients();
      if (flags.json === true) {
        for (const one of all) printResult(context, flags, one, []);
        return;
      }
      const rows = all.map((one) => [
        one.client,
        new Date(one.since).toISOString(),
        `${one.unanswered}/${one.unansweredMax}`,
        `${one.running}/${one.runningMax}`,
        `${one.jobs}/${one.jobsMax}`,
        Object.entries(one.refusals)
          .map(([code, count]) => `${code} ${count}`)
          .join(', '),
      ]);
      for (const line of textTable(['CLIENT', 'SINCE', 'UNANSWERED', 'RUNNING', 'JOBS', 'REFUSED'], rows))
        context.terminal.out(line);
    }),
  );
}
