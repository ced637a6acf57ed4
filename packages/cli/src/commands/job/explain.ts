import type { Command } from 'commander';
import { atLeaderOfJob, withClient } from '../../command-client.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { explanationLines } from '../../output/text/explanation-text.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

export function addExplain(program: Command, context: CommandContext): void {
  withGroupRequestOptions(
    subcommand(
      program,
      'explain <id>',
      'say exactly why a job does not run, and when it may',
      'troupe explain 2qt6g-1',
      'Delay, pause, limits, rates, order keys, jobs ahead, workers: all reasons that hold, with their numbers.',
    ),
  ).action((id: string, flags: RequestFlags & GroupFlags) =>
    atLeaderOfJob(flags, (one) =>
      withClient(context, one, async (client) => {
        const explanation = await client.explain(id);
        const { job: _job, ...shown } = explanation;
        const lines = explanationLines(id, explanation, (job) => client.idOf(job));
        printResult(context, flags, { id, ...shown }, lines);
      }),
    ),
  );
}
