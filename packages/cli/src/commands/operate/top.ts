import { type Client, connectClient } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import {
  dialOptions,
  type LeaderFlags,
  withLeaderOptions,
} from '../../input/connection/connection-options.js';
import { duration, wholeNumber } from '../../input/option-parsers.js';
import { untilSignal } from '../../signals/process-signals.js';
import { type CommandContext, type JsonFlag, subcommand } from '../../subcommand.js';
import { FullScreen } from '../../top/full-screen.js';
import { leaderProblems } from '../../top/leader-problems.js';
import { LookHistory } from '../../top/look-history.js';
import { TopLooks } from '../../top/top-looks.js';
import { drawTop, textMoves } from '../../top/top-screen.js';
import { afterKey, FIRST_STATE } from '../../top/top-state.js';

interface Flags extends LeaderFlags, JsonFlag {
  readonly every: number;
  readonly count?: number;
}

export function addTop(program: Command, context: CommandContext): void {
  withLeaderOptions(
    subcommand(
      program,
      'top',
      'watch a leader live: rates, depths, workers, problems, jobs',
      'troupe top --every 2s',
      'On a terminal it is a screen with keys; ? lists them. With --json it prints a line for every look.',
    ),
  )
    .option('--every <time>', 'time between two looks', duration(100, 3_600_000), 1_000)
    .option('--count <n>', 'with --json: end after so many looks', wholeNumber(1, 1_000_000_000))
    .action(async (flags: Flags) => {
      if (flags.json !== true && !(process.stdin.isTTY && process.stdout.isTTY))
        throw new CliError('ERR_CLI_USAGE', ExitCode.usage, 'top: this is no terminal; say --json for lines');
      const client = await connectClient({ ...dialOptions(flags), name: 'top' });
      try {
        await (flags.json === true ? printLooks(context, flags, client) : watch(flags, client));
      } finally {
        client.close();
      }
    });
}

async function printLooks({ terminal }: CommandContext, flags: Flags, client: Client): Promise<void> {
  const history = new LookHistory();
  for (let left = flags.count ?? Number.POSITIVE_INFINITY; left > 0; left -= 1) {
    const look = history.add(await client.overview(), performance.now());
    const { acceptedPerS, endedPerS, deadPerS } = look;
    const { counts, delayed, lsn, workers } = look.overview;
    const problems = leaderProblems(look);
    const at = new Date().toISOString();
    terminal.out(
      JSON.stringify({ at, lsn, acceptedPerS, endedPerS, deadPerS, counts, delayed, workers, problems }),
    );
    if (left > 1) await new Promise((resolve) => setTimeout(resolve, flags.every));
  }
}

/** Until a key or a signal ends it. */
async function watch(flags: Flags, client: Client): Promise<void> {
  let state = FIRST_STATE;
  let end: () => void = () => undefined;
  let refuse: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    refuse = reject;
  });
  const looks = new TopLooks(
    client,
    flags.leader,
    () => redraw(),
    (error) => refuse(error),
  );
  const onKey = (key: string): void => {
    const count = textMoves(looks.figures, state, screen.size);
    state = afterKey(state, key, count === undefined ? looks.rowsOf(state) : { count, jobs: [] });
    if (state.isOver) return end();
    looks.stateChanged(state);
    redraw();
  };
  const screen = new FullScreen(process.stdin, process.stdout, onKey, () => redraw());
  const redraw = (): void => screen.draw(drawTop(looks.figures, state, screen.size));
  const timer = setInterval(() => {
    if (!state.isFrozen) looks.look(state);
  }, flags.every);
  looks.look(state);
  redraw();
  try {
    await Promise.race([ended, untilSignal()]);
  } finally {
    clearInterval(timer);
    looks.close();
    screen.close();
  }
}
