import { rule } from '@troupe/core/option-check';
import { formatAddresses } from '@troupe/transport';
import { JobDefinitionError } from '../jobs-error.js';
import type { DialOptions } from './dial-options.js';

/** The leader of each group, by its addresses. `*`: the leader of every group that is not named. */
export type LeaderMap = Readonly<Record<string, DialOptions['address']>>;

export const leaderMap = rule(
  'a map from groups, or *, to addresses',
  (value) => typeof value === 'object' && value !== null && Object.keys(value).length > 0,
);

const ALL_OTHERS = '*';

/** Throws where the group has no leader. */
export function mustHaveLeader(leaders: LeaderMap, group: string): void {
  if ((leaders[group] ?? leaders[ALL_OTHERS]) === undefined) throw noLeader(group);
}

/** One connection for each leader, however many groups it has. */
export class LeaderRoutes<Connection> {
  /** By the name of the group. */
  private readonly groups: ReadonlyMap<string, Connection>;
  readonly all: readonly Connection[];

  private constructor(groups: ReadonlyMap<string, Connection>) {
    this.groups = groups;
    this.all = [...new Set(groups.values())];
  }

  /** If one cannot be opened, the others are closed. `isOfLeader`: of a group, whether that leader has it. */
  static async open<Connection>(
    leaders: LeaderMap,
    connect: (address: DialOptions['address'], isOfLeader: (group: string) => boolean) => Promise<Connection>,
    close: (connection: Connection) => void | Promise<void>,
  ): Promise<LeaderRoutes<Connection>> {
    const leaderOf = (group: string): string => placeOf(leaders[group] ?? leaders[ALL_OTHERS]);
    const opening = new Map<string, Promise<Connection>>();
    for (const address of Object.values(leaders)) {
      const place = placeOf(address);
      if (!opening.has(place))
        opening.set(
          place,
          connect(address, (group) => leaderOf(group) === place),
        );
    }
    const outcomes = await Promise.allSettled(opening.values());
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      for (const other of outcomes) if (other.status === 'fulfilled') await close(other.value);
      throw outcome.reason;
    }
    const groups = new Map<string, Connection>();
    for (const [group, address] of Object.entries(leaders))
      groups.set(group, await (opening.get(placeOf(address)) as Promise<Connection>)); // each address has one
    return new LeaderRoutes(groups);
  }

  /** Throws where the group has no leader. */
  of(group: string): Connection {
    const connection = this.groups.get(group) ?? this.groups.get(ALL_OTHERS);
    if (connection === undefined) throw noLeader(group);
    return connection;
  }
}

function placeOf(address: DialOptions['address'] | undefined): string {
  return address === undefined ? '' : formatAddresses(address);
}

function noLeader(group: string): JobDefinitionError {
  return new JobDefinitionError(`group '${group}'`, 'it has no leader in the map');
}
