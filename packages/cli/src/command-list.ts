import { Command, type Option } from 'commander';
import { withRequestOptions } from './input/connection/connection-options.js';
import { exampleOf } from './subcommand.js';

/** An option of a command, for docs/cli.md and completion. */
export interface ListedOption {
  /** As its help shows it: `-l, --leader <address>`. */
  readonly flags: string;
  readonly long: string;
  readonly description: string;
  readonly choices: readonly string[];
  readonly defaultText: string;
  /** Of the connection to a leader: described once for all commands. */
  readonly isShared: boolean;
}

export interface ListedCommand {
  /** The words behind `troupe`; empty for the program itself. */
  readonly path: string;
  /** With its arguments: `wal dump <folder>`. */
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  /** Undefined for a family of commands. */
  readonly example: string | undefined;
  readonly options: readonly ListedOption[];
  readonly subcommands: readonly string[];
}

/** Every command below one, itself first, in the order of the help. */
export function commandList(command: Command, path: readonly string[] = []): ListedCommand[] {
  const args = command.registeredArguments.map((argument) => {
    const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  const isConnected = command.options.some(({ long }) => long === '--connect-within');
  const own: ListedCommand = {
    path: path.join(' '),
    usage: [...path, ...args].join(' '),
    summary: command.summary() || command.description(),
    description: command.description(),
    example: exampleOf(command),
    options: command.options
      .filter(({ hidden, long }) => !hidden && long !== undefined)
      .map((option) => listed(option, isConnected)),
    subcommands: command.commands.map((one) => one.name()),
  };
  return [own, ...command.commands.flatMap((one) => commandList(one, [...path, one.name()]))];
}

/** The options that every command with a connection has. */
export function sharedOptions(): readonly ListedOption[] {
  return SHARED.map((option) => listed(option, true));
}

const SHARED = withRequestOptions(new Command()).options;

function listed(option: Option, isConnected: boolean): ListedOption {
  const { flags, long = '', description, argChoices = [], defaultValue } = option;
  const isShown = defaultValue !== undefined && defaultValue !== '' && typeof defaultValue !== 'boolean';
  return {
    flags,
    long,
    description,
    choices: argChoices,
    defaultText: isShown ? String(defaultValue) : '',
    isShared: isConnected && SHARED.some((one) => one.flags === flags && one.description === description),
  };
}
