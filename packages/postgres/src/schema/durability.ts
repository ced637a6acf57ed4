import type { DurabilityLevel } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import { PostgresUnreachableError, PostgresUnsafeError } from '../postgres-error.js';

interface Settings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly standbys: string;
  /** Synchronous standbys that are connected; each that is, for a user who may not see more. */
  readonly connected: number;
}

/**
 * The durability of a commit on this server. Settings by which a commit could be lost are refused: a receipt
 * must mean what it says.
 */
export async function durabilityOf(sql: Sql): Promise<DurabilityLevel> {
  return levelOf(await settingsOf(sql));
}

/** At the start: commits that would wait for a standby that is not there are no start. */
export async function durabilityAtStart(sql: Sql): Promise<DurabilityLevel> {
  const settings = await settingsOf(sql);
  const level = levelOf(settings);
  if (level === 'replicated' && settings.connected === 0)
    throw new PostgresUnreachableError(
      `no synchronous standby is connected (synchronous_standby_names is '${settings.standbys}'), so no commit would end`,
    );
  return level;
}

/** After a reconnect the server may be another one: its commits must be worth what receipts have said. */
export async function assertDurable(sql: Sql, level: DurabilityLevel): Promise<void> {
  const present = await durabilityOf(sql);
  if (level === 'replicated' && present !== level)
    throw new PostgresUnsafeError(
      'synchronous_standby_names',
      'commits wait for no standby any more, as those before did',
    );
}

async function settingsOf(sql: Sql): Promise<Settings> {
  const [settings] = await sql<Settings[]>`
    select current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_standby_names') as standbys,
      (select count(*)::integer from pg_stat_replication
        where coalesce(sync_state, 'sync') in ('sync', 'quorum')) as connected`;
  if (settings === undefined) throw new PostgresUnsafeError('fsync', 'its settings cannot be read');
  return settings;
}

function levelOf({ fsync, full_page_writes, standbys }: Settings): DurabilityLevel {
  if (fsync !== 'on')
    throw new PostgresUnsafeError('fsync', 'fsync is off, so commits are lost with a crash of the machine');
  if (full_page_writes !== 'on')
    throw new PostgresUnsafeError('full_page_writes', 'full_page_writes is off, so pages may be torn');
  return standbys === '' ? 'fsync' : 'replicated';
}
