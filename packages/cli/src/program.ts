import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addBackup } from './commands/folder/backup.js';
import { addWal } from './commands/folder/wal.js';
import { addDlq } from './commands/job/dlq.js';
import { addExplain } from './commands/job/explain.js';
import { addFeed } from './commands/job/feed.js';
import { addJobCommands } from './commands/job/jobs.js';
import { addSchedule } from './commands/job/schedule.js';
import { addRun, addStream, addSubmit } from './commands/job/submit.js';
import { addAudit } from './commands/operate/audit.js';
import { addCheck } from './commands/operate/check.js';
import { addClients } from './commands/operate/clients.js';
import { addQueue } from './commands/operate/queue.js';
import { addTop } from './commands/operate/top.js';
import { addTree } from './commands/operate/tree.js';
import { addWorkers } from './commands/operate/workers.js';
import { addDashboard } from './commands/process/dashboard.js';
import { addDev } from './commands/process/dev.js';
import { addLeader } from './commands/process/leader.js';
import { addWorker } from './commands/process/worker.js';
import { addBench } from './commands/tool/bench.js';
import { addCompletion } from './commands/tool/completion.js';
import { addConfig } from './commands/tool/config.js';
import { addKey } from './commands/tool/key.js';
import { exitFailureOf } from './error-exit-code.js';
import { ExitCode } from './exit-code.js';
import type { Terminal } from './output/terminal.js';
import type { CommandContext } from './subcommand.js';

/**
 * Runs one command line; the words behind the program's name. Resolves with the exit code, and never rejects.
 */
export async function runTroupe(words: readonly string[], terminal: Terminal): Promise<number> {
  const context: CommandContext = { terminal, exitCode: ExitCode.ok };
  try {
    await programOf(context, words).parseAsync(words, { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    const failure = exitFailureOf(error);
    if (words.includes('--json')) terminal.err(JSON.stringify({ error: failure }));
    else terminal.err(`troupe: ${failure.message}`);
    if (failure.exitCode === ExitCode.internal && error instanceof Error) terminal.err(error.stack ?? '');
    return failure.exitCode;
  }
}

/** All commands together. */
export function programOf(context: CommandContext, words: readonly string[]): Command {
  const { terminal } = context;
  const program: Command = new Command('troupe')
    .description('a durable job system: leaders, workers, jobs')
    .version(versionOf())
    .exitOverride()
    .showHelpAfterError(false)
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      // One line, as every other error of the command.
      outputError: (text, write) => {
        const plain = text
          .replace(/^error: /, '')
          .replaceAll(/\s*\n\s*/g, ' ')
          .trim();
        const message = `${plain.replace(/\.$/, '')}; see ${subcommandOf(program, words)} --help`;
        const error = { code: 'ERR_CLI_USAGE', exitCode: ExitCode.usage, message };
        write(words.includes('--json') ? JSON.stringify({ error }) : `troupe: ${message}`);
      },
    });
  addLeader(program, context);
  addWorker(program, context);
  addDev(program, context);
  addSubmit(program, context);
  addRun(program, context);
  addStream(program, context);
  addFeed(program, context);
  addJobCommands(program, context);
  addExplain(program, context);
  addDlq(program, context);
  addQueue(program, context);
  addSchedule(program, context);
  addWorkers(program, context);
  addClients(program, context);
  addAudit(program, context);
  addTop(program, context);
  addTree(program, context);
  addCheck(program, context);
  addDashboard(program, context);
  addConfig(program, context);
  addKey(program, context);
  addWal(program, context);
  addBackup(program, context);
  addBench(program, context);
  addCompletion(program, context);
  return program;
}

/** The subcommand that the words name, as far as there is one of that name. */
function subcommandOf(program: Command, words: readonly string[]): string {
  const path = [program.name()];
  let command: Command | undefined = program;
  for (const word of words) {
    command = command.commands.find((one) => one.name() === word);
    if (command === undefined) break;
    path.push(word);
  }
  return path.join(' ');
}

function versionOf(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return manifest.version;
}
