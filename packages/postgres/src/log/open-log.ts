import type { Host, Ref } from '@troupe/core';
import {
  assertLedgerReadable,
  type DurabilityLevel,
  JournalDeposedError,
  type JournalOwner,
  type JournalReader,
  type LedgerFormat,
} from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import type { TakenRows } from '../outbox/taken-rows.js';
import { PostgresLogShortError, PostgresUnreachableError } from '../postgres-error.js';
import { durabilityAtStart, durabilityOf } from '../schema/durability.js';
import { addPartition, migrate, PARTITION_POSITIONS } from '../schema/migrations.js';
import type { SpillTable } from '../spill/spill-table.js';
import { KeptConnection } from './kept-connection.js';
import { type LeaderName, type LeaseView, renewLease, takeOver } from './lease.js';
import { leaseConnection } from './lease-actor.js';
import { LeaseHold } from './lease-hold.js';
import type { DatabaseOptions, LogHead } from './log-database.js';
import { LogFollower } from './log-follower.js';
import { PostgresLogActor, type PostgresLogProtocol } from './postgres-log-actor.js';
import { readEntries, readSnapshot } from './read-log.js';
import { isTransient } from './transient-error.js';

/** The leader that a standby follows. */
export type StandbyLeader = Pick<LeaseView, 'leader' | 'addresses'>;

export interface LogSettings {
  readonly database: DatabaseOptions;
  readonly name: LeaderName;
  readonly leaseMs: number;
  readonly snapshotBytes: number;
  readonly standby: boolean;
  readonly onStandby: (leader: StandbyLeader) => void;
  readonly rows: TakenRows;
  readonly spill: SpillTable;
  readonly host: Host;
}

/** A log that this process leads. */
export interface OpenedLog {
  readonly log: Ref<PostgresLogProtocol>;
  readonly hold: LeaseHold;
  readonly level: DurabilityLevel;
}

/** Takes the log over, at once or as a standby, reads it to its end, and starts its actor. */
export async function openLog(
  settings: LogSettings,
  reader: JournalReader,
  owner: JournalOwner,
): Promise<OpenedLog> {
  const { database } = settings;
  const connection = new KeptConnection(database);
  const lease = leaseConnection(database);
  try {
    await reached(() => durabilityAtStart(connection.sql));
    await migrate(connection.sql, database.schema);
    await keepFormat(connection.sql, reader.format);
    const led = await lead(connection, lease, settings, reader);
    settings.spill.ledBy(led.leaseId, connection);
    const args = { ...settings, ...led, connection, leaseConnection: lease };
    const log = owner.spawn(PostgresLogActor, { args, name: 'log' });
    return { log, hold: led.hold, level: led.level };
  } catch (error) {
    await Promise.all([connection.end(), lease.end()]);
    throw error;
  }
}

/** The first statement of a connection: an error of the network is told as one. */
async function reached<T>(first: () => Promise<T>): Promise<T> {
  try {
    return await first();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (!isTransient(error)) throw error;
    throw new PostgresUnreachableError(`cannot be reached (${code}): ${message}`);
  }
}

/** Read before the epoch is taken: a log of a newer format stays as it is. */
async function keepFormat(sql: Sql, format: LedgerFormat): Promise<void> {
  const [row] = await sql<{ content: LedgerFormat | null }[]>`select content from head`;
  const found = row?.content ?? undefined;
  if (found !== undefined) assertLedgerReadable(found, format);
  if (found?.minor !== format.minor) await sql`update head set content = ${sql.json({ ...format })}`;
}

interface LedLog {
  readonly head: LogHead;
  readonly leaseId: number;
  readonly hold: LeaseHold;
  readonly level: DurabilityLevel;
}

/** The log is taken first and read then: what its last leader has committed is in it. */
async function lead(
  connection: KeptConnection,
  lease: KeptConnection,
  settings: LogSettings,
  reader: JournalReader,
): Promise<LedLog> {
  const { name, leaseMs, host, standby } = settings;
  const request = { name, leaseMs, leaseId: Math.floor(host.random() * 2 ** 52) };
  const startedAt = host.now();
  const taken = standby ? undefined : await takeOver(connection.sql, request, { onlyIfFree: false });
  const after = await readSnapshot(connection.sql, reader);
  const onStandby = (leader: StandbyLeader | undefined): void => {
    reader.following?.(leader && (leader.addresses.split(',')[0] ?? ''));
    if (leader !== undefined) settings.onStandby(leader);
  };
  const follower = new LogFollower(connection, after, reader, request, onStandby, host);
  const { head, tail, takenAt } =
    taken === undefined
      ? await follower.untilFree()
      : { head: taken, tail: { lsn: after, batch: undefined }, takenAt: startedAt };
  const { leaseId } = request;
  // Counted from before the request: the leader never believes in a lease that has ended.
  const hold = new LeaseHold(host, takenAt + leaseMs);
  const renew = async (): Promise<void> => {
    const requestedAt = host.now();
    if (await renewLease(lease.sql, leaseId, leaseMs)) hold.extend(requestedAt + leaseMs);
  };
  const level = await renewing(renew, leaseMs / 4, host, async () => {
    await readEntries(connection.sql, head.lsn, reader, tail);
    if (tail.lsn < head.lsn) throw new PostgresLogShortError(tail.lsn, head.lsn);
    for (const ahead of [0, PARTITION_POSITIONS])
      await addPartition(connection.sql, settings.database.schema, head.lsn + ahead);
    // A standby may have waited for long, and the server may be another one.
    return durabilityOf(connection.sql);
  });
  if (!hold.isHeld) await renew();
  if (!hold.isHeld)
    throw new JournalDeposedError(`another leader has taken the log while ${name.leader} was reading it`);
  return { head, leaseId, hold, level };
}

/** A long log is read for longer than a lease lasts. */
async function renewing<T>(
  renew: () => Promise<unknown>,
  everyMs: number,
  host: Host,
  work: () => Promise<T>,
): Promise<T> {
  const schedule = (): Timer =>
    host.setTimer(everyMs, () => {
      timer = schedule();
      // The renewal behind the reading tells whether the lease is still its own.
      void renew().catch(() => undefined);
    });
  let timer = schedule();
  try {
    return await work();
  } finally {
    timer.cancel();
  }
}

type Timer = ReturnType<Host['setTimer']>;
