import type { LeaderOverview } from '@troupe/jobs';
import type { Command } from 'commander';
import { type ProbedAddress, probeAddress } from '../../address-probe.js';
import { withClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import {
  dialOptions,
  type RequestFlags,
  withRequestOptions,
} from '../../input/connection/connection-options.js';
import { wholeNumber } from '../../input/option-parsers.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

interface CheckFlags extends RequestFlags {
  readonly workersMin: number;
  readonly queuedMax?: number;
  readonly deadMax?: number;
}

const COUNT_MAX = 1_000_000_000;

export function addCheck(program: Command, context: CommandContext): void {
  withRequestOptions(
    subcommand(
      program,
      'check',
      'probe a leader: exit 0 if all is well',
      'troupe check --workers-min 1 --dead-max 0',
      'It fails while submits are refused, and prints why.',
    ),
  )
    .option('--workers-min <n>', 'at least so many workers that are alive', wholeNumber(0, COUNT_MAX), 0)
    .option('--queued-max <n>', 'at most so many jobs waiting', wholeNumber(0, COUNT_MAX))
    .option('--dead-max <n>', 'at most so many dead letters', wholeNumber(0, COUNT_MAX))
    .action((flags: CheckFlags) =>
      withClient(context, flags, async (client) => {
        const overview = await client.overview();
        const addresses = await probedOf(flags);
        const problems = [...problemsOf(overview, flags), ...addresses.flatMap(problemOf)];
        const isOk = problems.length === 0;
        printResult(context, flags, { ok: isOk, problems, addresses, ...overview }, [
          isOk ? summaryOf(overview) : `not well: ${problems.join('; ')}`,
          usesOf(overview),
          ...addresses.map(({ address, state }) => `${address} ${state}`),
        ]);
        if (!isOk) context.exitCode = ExitCode.retryLater;
      }),
    );
}

/** Each of several addresses; none where there is one, which the command itself is a client of. */
async function probedOf(flags: CheckFlags): Promise<readonly ProbedAddress[]> {
  const dial = dialOptions(flags);
  return 'length' in dial.address ? Promise.all(dial.address.map((one) => probeAddress(dial, one))) : [];
}

function problemOf({ address, state, problem }: ProbedAddress): string[] {
  return state === 'unreachable' ? [`no leader and no standby at ${address}: ${problem}`] : [];
}

function problemsOf(overview: LeaderOverview, flags: CheckFlags): string[] {
  const { counts, workers, refusing, nearQuotas } = overview;
  const atQuota = nearQuotas.filter(({ used, max }) => used >= max);
  const alive = workers.filter(({ liveness }) => liveness === 'alive').length;
  return [
    ...refusing.map(({ code, problem }) => `submits are refused: ${problem} (${code})`),
    ...atQuota.map(
      ({ identity, table, used, max }) =>
        `submits of ${identity} are refused: its quota of ${table} is used, ${used} of ${max}`,
    ),
    ...(alive < flags.workersMin ? [`${alive} workers alive, needed ${flags.workersMin}`] : []),
    ...(counts.queued > (flags.queuedMax ?? COUNT_MAX)
      ? [`${counts.queued} jobs waiting, at most ${flags.queuedMax}`]
      : []),
    ...(counts.dead > (flags.deadMax ?? COUNT_MAX)
      ? [`${counts.dead} dead letters, at most ${flags.deadMax}`]
      : []),
  ];
}

/** `use: jobs 3/2000000, dead 0/100000`: use and limit of every table. */
function usesOf({ tables }: LeaderOverview): string {
  const uses = Object.entries(tables).map(([table, { used, max }]) => `${table} ${used}/${max}`);
  return `use: ${uses.join(', ')}`;
}

function summaryOf({ counts, workers, lsn, log }: LeaderOverview): string {
  const { queued, running, done, dead } = counts;
  const size = `log ${Math.ceil(log.bytes / 1_048_576)} MiB, read in ${log.replayMs} ms at the start`;
  const cut = log.cutBytes === 0 ? '' : `, ${log.cutBytes} bytes cut`;
  const failed = log.failedSnapshots === 0 ? '' : `, ${log.failedSnapshots} snapshots failed`;
  return `ok: ${queued} queued, ${running} running, ${done} done, ${dead} dead, ${workers.length} workers, lsn ${lsn}; ${size}${cut}${failed}`;
}
