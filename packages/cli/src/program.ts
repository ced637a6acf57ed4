import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addBackup } from './commands/backup.js';
import { addBench } from './commands/bench.js';
import { addCompletion } from './commands/completion.js';
import { addDlq } from './commands/dlq.js';
import { addFleet } from './commands/fleet.js';
import { addJobVerbs } from './commands/job.js';
import { addKey } from './commands/key.js';
import { addLeader } from './commands/leader.js';
import { addRun, addSubmit } from './commands/submit.js';
import { addWal } from './commands/wal.js';
import { addWorker } from './commands/worker.js';
import { ExitCode } from './exit-code.js';
import { failureOf } from './failure.js';
import type { Terminal } from './output/terminal.js';
import type { Tools } from './verb.js';

/** Runs one command line; the words behind the program's name. Resolves with the exit code, and never rejects. */
export async function runTroupe(words: readonly string[], terminal: Terminal): Promise<number> {
  const tools: Tools = { terminal, exitCode: ExitCode.ok };
  try {
    await programOf(tools, words).parseAsync(words, { from: 'user' });
    return tools.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    const failure = failureOf(error);
    if (words.includes('--json')) terminal.err(JSON.stringify({ error: failure }));
    else terminal.err(`troupe: ${failure.message}`);
    if (failure.exitCode === ExitCode.internal && error instanceof Error) terminal.err(error.stack ?? '');
    return failure.exitCode;
  }
}

function programOf(tools: Tools, words: readonly string[]): Command {
  const { terminal } = tools;
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
        const message = `${plain.replace(/\.$/, '')}; see ${verbOf(program, words)} --help`;
        const error = { code: 'ERR_CLI_USAGE', exitCode: ExitCode.usage, message };
        write(words.includes('--json') ? JSON.stringify({ error }) : `troupe: ${message}`);
      },
    });
  addLeader(program, tools);
  addWorker(program, tools);
  addSubmit(program, tools);
  addRun(program, tools);
  addJobVerbs(program, tools);
  addDlq(program, tools);
  addFleet(program, tools);
  addKey(program, tools);
  addWal(program, tools);
  addBackup(program, tools);
  addBench(program, tools);
  addCompletion(program, tools);
  return program;
}

/** The verb that was meant, as far as there is one of that name. */
function verbOf(program: Command, words: readonly string[]): string {
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
