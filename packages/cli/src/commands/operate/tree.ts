import type { Command } from 'commander';
import { readActors } from '../../actors/actors-socket.js';
import { actorsText } from '../../actors/actors-text.js';
import { withClient } from '../../command-client.js';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { socketPath } from '../../input/connection/leader-address.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

interface Flags extends RequestFlags {
  readonly socket?: string;
  readonly recent: number;
}

export function addTree(program: Command, context: CommandContext): void {
  withRequestOptions(
    subcommand(
      program,
      'tree',
      'show the live actors of a leader or worker, and why each does not run',
      'troupe tree --recent 20',
      'Of a leader also its log; its key needs `admin` on `leader.admin`. Of a worker by the socket that it was started with.',
    ),
  )
    .option('--socket <path>', 'a worker on this machine: the path of its --actors-socket', socketPath)
    .option('--recent <n>', 'so many of the latest messages, at most 100', wholeNumber(0, 100), 10)
    .action(async (flags: Flags) => {
      const actors =
        flags.socket === undefined
          ? await withClient(context, flags, (client) => client.actors())
          : await readActors(flags.socket);
      printResult(context, flags, actors, actorsText(actors, flags.recent));
    });
}
