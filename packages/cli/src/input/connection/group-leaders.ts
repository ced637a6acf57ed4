import type { LeaderMap } from '@troupe/jobs';
import { type Command, Option } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { type LeaderFlags, withRequestOptions } from './connection-options.js';
import { parseAddresses } from './leader-address.js';

/** Flags of commands whose groups may have leaders of their own. */
export interface GroupFlags {
  readonly groupLeader?: readonly string[];
}

type Flags = LeaderFlags & GroupFlags;

const ALL_OTHERS = '*';

export function withGroupOptions(command: Command): Command {
  return command.addOption(
    new Option(
      '--group-leader <group=address>',
      'where the leader of a group listens, in place of --leader; may be given several times, * is every other group',
    )
      .env('TROUPE_GROUP_LEADERS')
      .argParser(several),
  );
}

export function withGroupRequestOptions(command: Command): Command {
  return withGroupOptions(withRequestOptions(command));
}

/** The variable has several, separated by blanks. */
function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(/\s+/).filter((one) => one !== '')];
}

/** The map of the flags; undefined without any. */
export function leaderMapOf(flags: GroupFlags): LeaderMap | undefined {
  if (flags.groupLeader === undefined) return undefined;
  const entries = [...placesOf(flags.groupLeader)];
  return Object.fromEntries(entries.map(([group, place]) => [group, parseAddresses(place)]));
}

/** The flags for the leader of that group. */
export function ofGroup<F extends Flags>(flags: F, group: string): F {
  if (flags.groupLeader === undefined) return flags;
  const places = placesOf(flags.groupLeader);
  const leader = places.get(group) ?? places.get(ALL_OTHERS);
  if (leader === undefined)
    throw usage(`group ${group} has no leader: give --group-leader ${group}=host:port or *=host:port`);
  return { ...flags, leader };
}

/** The flags for each leader, however many groups it has. */
export function ofEachLeader<F extends LeaderFlags & Partial<GroupFlags>>(flags: F): readonly F[] {
  if (flags.groupLeader === undefined) return [flags];
  return [...new Set(placesOf(flags.groupLeader).values())].map((leader) => ({ ...flags, leader }));
}

function placesOf(given: readonly string[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const flag of given) {
    const [, group, place] = /^([^=\s]+)=(.+)$/.exec(flag) ?? [];
    if (group === undefined || place === undefined)
      throw usage(`--group-leader ${flag}: write group=host:port, several addresses with commas`);
    if (places.has(group)) throw usage(`--group-leader ${group}: is given twice`);
    places.set(group, place);
  }
  return places;
}

function usage(problem: string): CliError {
  return new CliError('ERR_CLI_USAGE', ExitCode.usage, problem);
}
