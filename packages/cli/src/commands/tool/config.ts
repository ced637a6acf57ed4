import { leaderSettings } from '@troupe/jobs';
import type { Command } from 'commander';
import { type RequestFlags, withRequestOptions } from '../../input/connection/connection-options.js';
import { readLeaderConfig } from '../../input/files/leader-config.js';
import { printTable } from '../../output/text/text-table.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';

/** A setting, its value, and where the value comes from. */
interface Setting {
  readonly name: string;
  readonly value: unknown;
  readonly from: string;
}

export function addConfig(program: Command, context: CommandContext): void {
  withRequestOptions(
    subcommand(
      program,
      'config [file]',
      'show the settings of this command, or check a config file of a leader',
      'troupe config leader.json',
      'Without a file: how this command would connect, and whether that comes from a flag, the environment or a default. With the file of troupe leader --config: every limit and time that the leader would have; a bad file is refused as the leader would refuse it.',
    ),
  ).action((file: string | undefined, flags: RequestFlags, command: Command) => {
    const settings = file === undefined ? ownSettings(command, flags) : settingsOfFile(file);
    if (flags.json === true) for (const one of settings) printResult(context, flags, one, []);
    else {
      const rows = settings.map(({ name, value, from }) => [name, textOf(value), from]);
      printTable(context.terminal, ['SETTING', 'VALUE', 'FROM'], rows);
    }
  });
}

/** The variables that options of the connection read. */
const SOURCES: Readonly<Record<string, string>> = { cli: 'flag', default: 'default' };

function ownSettings(command: Command, flags: RequestFlags): Setting[] {
  const values = flags as unknown as Readonly<Record<string, unknown>>;
  return command.options
    .filter(({ long }) => long !== '--json')
    .map((option) => {
      const name = option.attributeName();
      const source = command.getOptionValueSource(name) ?? 'default';
      const from = source === 'env' ? (option.envVar ?? source) : (SOURCES[source] ?? source);
      return { name: option.long ?? name, value: values[name] ?? null, from };
    });
}

function settingsOfFile(file: string): Setting[] {
  const config = readLeaderConfig(file);
  const { limits, times, transportLimits } = leaderSettings(config);
  const { limits: ownLimits, times: ownTimes, transportLimits: ownTransport, ...others } = config;
  return [
    ...Object.entries(others).map(([name, value]) => ({ name, value, from: file })),
    ...group('limits', limits, ownLimits, file),
    ...group('times', times, ownTimes, file),
    ...group('transportLimits', transportLimits, ownTransport, file),
  ];
}

function group(prefix: string, all: object, own: object | undefined, file: string): Setting[] {
  const given = new Set(Object.keys(own ?? {}));
  return Object.entries(all).map(([name, value]) => ({
    name: `${prefix}.${name}`,
    value: value as unknown,
    from: given.has(name) ? file : 'default',
  }));
}

function textOf(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
