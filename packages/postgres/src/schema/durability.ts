import type { DurabilityLevel } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import { PostgresUnsafeError } from '../postgres-error.js';

interface Settings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly standbys: string;
}

/**
 * The durability of a commit on this server. Settings by which a commit could be lost are refused: a receipt
 * must mean what it says.
 */
export async function durabilityOf(sql: Sql): Promise<DurabilityLevel> {
  const [settings] = await sql<Settings[]>`
    select current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_standby_names') as standbys`;
  if (settings === undefined) throw new PostgresUnsafeError('fsync', 'its settings cannot be read');
  if (settings.fsync !== 'on')
    throw new PostgresUnsafeError('fsync', 'fsync is off, so commits are lost with a crash of the machine');
  if (settings.full_page_writes !== 'on')
    throw new PostgresUnsafeError('full_page_writes', 'full_page_writes is off, so pages may be torn');
  return settings.standbys === '' ? 'fsync' : 'replicated';
}
