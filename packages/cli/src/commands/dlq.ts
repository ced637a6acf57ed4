import type { Client } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';
import { type AskFlags, withAsk, withClient } from '../input/leader-options.js';
import { wholeNumber } from '../input/number-option.js';
import { plainJob } from '../input/untyped-job.js';
import { ProgressBar } from '../output/progress-bar.js';
import { jobLines, shownJob, table } from '../output/show-job.js';
import { print, type Tools, verb } from '../verb.js';
import { jobsIn } from './job.js';

type Flags = AskFlags;

interface TreatFlags extends Flags {
  readonly all?: boolean;
}

const PAGE = 1_000;

export function addDlq(program: Command, tools: Tools): void {
  const dlq = program.command('dlq').description('dead letters: jobs that ran out of attempts');
  withAsk(verb(dlq, 'ls', 'list dead letters, oldest first', 'troupe dlq ls --max 20'))
    .option('--max <n>', 'at most so many', wholeNumber(1, 1_000_000), 100)
    .action((flags: Flags & { max: number }) => withClient(flags, (client) => list(tools, flags, client)));
  withAsk(
    verb(dlq, 'show <id>', 'show one dead letter and its last error', 'troupe dlq show 2qt6g-1'),
  ).action((id: string, flags: Flags) =>
    withClient(flags, async (client) => {
      const job = shownJob(id, await client.open(plainJob('some.job'), id).inspect());
      if (job.state !== 'dead')
        throw new CliError(
          'ERR_CLI_NOT_DEAD',
          ExitCode.noInput,
          `job ${id}: not a dead letter, it is ${job.state}; see troupe show`,
        );
      print(tools, flags, job, jobLines(job));
    }),
  );
  addTreatment(dlq, tools, 'redrive', 'send dead letters back to wait, with fresh counts');
  addTreatment(dlq, tools, 'purge', 'remove dead letters for good');
}

function addTreatment(dlq: Command, tools: Tools, what: 'redrive' | 'purge', summary: string): void {
  withAsk(verb(dlq, `${what} [ids...]`, summary, `troupe dlq ${what} 2qt6g-1 2qt6g-7`))
    .option('--all', 'all there are now')
    .action((ids: readonly string[], flags: TreatFlags) => {
      if ((ids.length === 0) === (flags.all !== true))
        throw new CliError('ERR_CLI_USAGE', ExitCode.usage, `dlq ${what}: name the ids, or say --all`);
      return withClient(flags, (client) => treat(tools, flags, client, what, ids));
    });
}

async function treat(
  tools: Tools,
  flags: TreatFlags,
  client: Client,
  what: 'redrive' | 'purge',
  named: readonly string[],
): Promise<void> {
  const ids = [...named];
  if (flags.all === true) {
    for await (const view of jobsIn(client, 'dead', Number.MAX_SAFE_INTEGER)) ids.push(client.idOf(view.job));
  }
  const bar = new ProgressBar(tools.terminal, what, ids.length);
  let count = 0;
  for (let at = 0; at < ids.length; at += PAGE) {
    count += await client[what](ids.slice(at, at + PAGE));
    bar.at(Math.min(at + PAGE, ids.length));
  }
  bar.end();
  print(tools, flags, { [what === 'purge' ? 'purged' : 'redriven']: count, asked: ids.length }, [
    `${count} of ${ids.length} ${what === 'purge' ? 'purged' : 'sent back to wait'}`,
  ]);
  if (count < ids.length) tools.exitCode = ExitCode.noInput;
}

async function list(tools: Tools, flags: Flags & { max: number }, client: Client): Promise<void> {
  const rows: string[][] = [];
  for await (const view of jobsIn(client, 'dead', flags.max)) {
    const job = shownJob(client.idOf(view.job), view);
    if (flags.json === true) print(tools, flags, job, []);
    else rows.push([job.id, job.exec, job.reason ?? '', job.endedAt ?? '', job.failure?.message ?? '']);
  }
  if (flags.json === true) return;
  for (const line of table(['ID', 'EXEC', 'REASON', 'ENDED', 'LAST ERROR'], rows)) tools.terminal.out(line);
}
