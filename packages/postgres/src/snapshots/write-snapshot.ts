import { ledgerContents } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import { arrayLiteral } from '../log/log-database.js';
import { type LogTail, readEntries, readSnapshot } from '../log/read-log.js';
import { oldPartitions } from '../schema/migrations.js';

/** A payload that was finished so short a time ago may be named by a record that is still on its way. */
const PAYLOAD_AGE = '1 hour';
/** A drop waits behind readers of the table and would stop appends behind itself: it gives up soon. */
const DROP_LOCK_MS = 200;

/**
 * Folds the log into a snapshot, and removes what it replaces: older snapshots but one, partitions below
 * them, payloads that no job needs. Resolves with its position; 0 if there is nothing new.
 */
export async function writeSnapshot(sql: Sql, schema: string, epoch: number): Promise<number> {
  const contents = ledgerContents();
  const visitor = {
    snapshot: (chunk: Uint8Array) => contents.restore(chunk),
    entry: (bytes: Uint8Array) => contents.apply(bytes),
  };
  const [head] = await sql<{ lsn: number }[]>`select lsn from head`;
  const before = await readSnapshot(sql, visitor);
  const tail: LogTail = { lsn: before, batch: undefined };
  await readEntries(sql, head?.lsn ?? 0, visitor, tail);
  const { lsn } = tail;
  if (lsn === before) return before;
  await sql`delete from snapshot_part where lsn = ${lsn}`;
  const parts = await writeParts(sql, lsn, contents.save());
  // A leader that was deposed meanwhile leaves the snapshots to the other one.
  const made = await sql`
    insert into snapshot (lsn, parts) select ${lsn}, ${parts} from head where epoch = ${epoch}
    on conflict (lsn) do nothing`;
  if (made.count === 1)
    await trim(
      sql,
      schema,
      Array.from(contents.payloads(), ({ sha256 }) => sha256),
    );
  return lsn;
}

async function writeParts(sql: Sql, lsn: number, chunks: Iterable<Uint8Array>): Promise<number> {
  let part = 0;
  for (const chunk of chunks) {
    await sql`insert into snapshot_part (lsn, part, bytes) values (${lsn}, ${part}, ${Buffer.from(chunk)})`;
    part += 1;
  }
  return part;
}

/** The snapshot before the latest stays, so that a damaged one is not the end of the log. */
async function trim(sql: Sql, schema: string, payloads: readonly string[]): Promise<void> {
  const kept = await sql<{ lsn: number }[]>`select lsn from snapshot order by lsn desc limit 2`;
  const oldest = kept.at(-1)?.lsn ?? 0;
  await sql`delete from snapshot where lsn < ${oldest}`;
  await sql`delete from snapshot_part where lsn < ${oldest}`;
  await sql`
    delete from payload
    where used_at < now() - ${PAYLOAD_AGE}::interval and (sha256 is null or sha256 <> all (${arrayLiteral(payloads)}::text[]))`;
  for (const partition of await oldPartitions(sql, schema, oldest))
    await dropPartition(sql, schema, partition);
}

/** One that is in use stays until the next snapshot. */
async function dropPartition(sql: Sql, schema: string, partition: string): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = ${DROP_LOCK_MS}`);
      await tx.unsafe(`drop table "${schema}"."${partition}"`);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
