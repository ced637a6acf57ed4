import type { Command } from 'commander';
import { plainText } from './output/plain-text.js';
import type { Terminal } from './output/terminal.js';

/** What every verb is given. */
export interface Tools {
  readonly terminal: Terminal;
  /** What the command will end with, where it is not an error. */
  exitCode: number;
}

export interface JsonFlag {
  readonly json?: boolean;
}

/** A verb with what all of them have: --json, and a help with an example that can be typed. */
export function verb(parent: Command, usage: string, summary: string, example: string): Command {
  return parent
    .command(usage)
    .description(summary)
    .option('--json', 'print JSON Lines')
    .addHelpText('after', `\nExample:\n  $ ${example}\n\nExit codes: docs/cli.md`);
}

/** One result: JSON for programs, lines for people. */
export function print(tools: Tools, flags: JsonFlag, value: unknown, lines: readonly string[]): void {
  if (flags.json === true) tools.terminal.out(JSON.stringify(value));
  else for (const line of lines) tools.terminal.out(plainText(line));
}
