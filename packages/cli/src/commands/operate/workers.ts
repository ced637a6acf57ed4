import type { Command } from 'commander';
import { atEachLeader, withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { duration } from '../../input/option-parsers.js';
import { workersByName, workerTable } from '../../output/text/worker-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

export function addWorkers(program: Command, context: CommandContext): void {
  const workers = program.command('workers').description('the workers of a leader');
  withGroupRequestOptions(
    subcommand(
      workers,
      'ls',
      'list the workers and how they are',
      'troupe workers ls',
      'Alive, quiet, blocked or gone; slots, overrun handlers, credit, processor, warm runners.',
    ),
  ).action((flags: RequestFlags & GroupFlags) =>
    atEachLeader(flags, (at) =>
      withClient(context, at, async (client) => {
        const all = workersByName((await client.overview()).workers);
        if (flags.json === true) for (const one of all) printResult(context, flags, one, []);
        else for (const line of workerTable(all)) context.terminal.out(line);
      }),
    ),
  );
  const verbs: readonly ['quiet' | 'resume', string, string][] = [
    [
      'quiet',
      'give a worker no more jobs',
      'Its attempts go on; it stays quiet over restarts of it and of the leader.',
    ],
    ['resume', 'give a quiet worker jobs again', ''],
  ];
  for (const [verb, summary, details] of verbs)
    withRequestOptions(
      subcommand(workers, `${verb} <worker>`, summary, `troupe workers ${verb} w1`, details),
    ).action((worker: string, flags: RequestFlags) =>
      withClient(context, flags, async (client) => {
        const processes = await client.workers[verb](worker);
        const done = verb === 'quiet' ? 'quiet' : 'resumed';
        printResult(context, flags, { worker, [done]: processes }, [
          `${worker} ${done}, ${processesText(processes)}`,
        ]);
      }),
    );
  withRequestOptions(
    subcommand(
      workers,
      'stop <worker>',
      'end a worker from afar',
      'troupe workers stop w1 --drain-within 1m',
      'It gets no more jobs, and its process ends when its attempts have.',
    ),
  )
    .option(
      '--drain-within <time>',
      'attempts that take longer go to other workers',
      duration(0, 86_400_000),
      30_000,
    )
    .action((worker: string, flags: RequestFlags & { drainWithin: number }) =>
      withClient(context, flags, async (client) => {
        const stopped = await client.workers.stop(worker, { drainMs: flags.drainWithin });
        printResult(context, flags, { worker, stopped }, [`${worker} ends, ${processesText(stopped)}`]);
      }),
    );
}

function processesText(count: number): string {
  return count === 1 ? '1 process' : `${count} processes`;
}
