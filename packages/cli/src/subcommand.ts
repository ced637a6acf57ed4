import type { Command } from 'commander';
import type { Terminal } from './output/terminal.js';
import { escapeControlCharacters } from './output/text/escape-control-characters.js';

/** Everything that a subcommand is given. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** The exit code, unless the command fails. */
  exitCode: number;
}

export interface JsonFlag {
  readonly json?: boolean;
}

const examples = new WeakMap<Command, string>();

/**
 * A subcommand with the parts that all of them have: --json, and a help text with an example. `details`:
 * sentences behind the summary, in its help and in docs/cli.md.
 */
export function subcommand(
  parent: Command,
  usage: string,
  summary: string,
  example: string,
  details = '',
): Command {
  const command = parent
    .command(usage)
    .summary(summary)
    .description(details === '' ? summary : `${summary}. ${details}`)
    .option('--json', 'print JSON Lines')
    .addHelpText('after', `\nExample:\n  $ ${example}\n\nExit codes: docs/cli.md`);
  examples.set(command, example);
  return command;
}

/** Undefined for a family of commands. */
export function exampleOf(command: Command): string | undefined {
  return examples.get(command);
}

/** Prints one result: JSON for programs, lines for people. */
export function printResult(
  context: CommandContext,
  flags: JsonFlag,
  value: unknown,
  lines: readonly string[],
): void {
  if (flags.json === true) context.terminal.out(JSON.stringify(value));
  else for (const line of lines) context.terminal.out(escapeControlCharacters(line));
}
