import type { Command } from 'commander';
import { escapeControlCharacters } from './output/escape-control-characters.js';
import type { Terminal } from './output/terminal.js';

/** Everything that a subcommand is given. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** The exit code, unless the command fails. */
  exitCode: number;
}

export interface JsonFlag {
  readonly json?: boolean;
}

/** A subcommand with the parts that all of them have: --json, and a help text with an example. */
export function subcommand(parent: Command, usage: string, summary: string, example: string): Command {
  return parent
    .command(usage)
    .description(summary)
    .option('--json', 'print JSON Lines')
    .addHelpText('after', `\nExample:\n  $ ${example}\n\nExit codes: docs/cli.md`);
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
