import postgres, { type Sql } from 'postgres';
import { PostgresLogShortError } from '../postgres-error.js';
import { encodeBatch } from './batch-codec.js';
import type { WriteBatch } from './batch-queue.js';

export interface DatabaseOptions {
  /** `postgres://user@host:5432,other:5432/database?target_session_attrs=read-write`. */
  readonly url: string;
  /** The schema of the tables. */
  readonly schema: string;
}

/** The end of the log, and the epoch of its leader. */
export interface LogHead {
  readonly epoch: number;
  readonly lsn: number;
}

const CONNECT_SECONDS = 5;

/** One connection. `synchronous_commit` is a setting of the session: that of the server may be weaker. */
export function connect({ url, schema }: DatabaseOptions, commit: 'on' | 'off' = 'on'): Sql {
  return postgres(url, {
    max: 1,
    connect_timeout: CONNECT_SECONDS,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: {
      application_name: 'troupe',
      search_path: schema,
      synchronous_commit: commit,
    },
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
}

/**
 * A leader whose connection broke takes a new epoch: it waits for the lock of a statement that may still be
 * under way, so that its outcome is certain afterwards. Undefined: another leader has taken over meanwhile.
 */
export async function takeOverFrom(sql: Sql, epoch: number): Promise<LogHead | undefined> {
  const [head] = await sql<LogHead[]>`
    update head set epoch = epoch + 1 where epoch = ${epoch} returning epoch, lsn`;
  return head;
}

/**
 * Appends behind the position that this leader knows as the last, if the epoch is still its own: one
 * statement, and the lock of one row is the fence. False: the leader is deposed.
 */
export async function appendBatch(sql: Sql, epoch: number, batch: WriteBatch): Promise<boolean> {
  const { firstLsn, entries } = batch;
  const rows = await sql`
    with fenced as (
      update head set lsn = ${firstLsn + entries.length - 1}
      where epoch = ${epoch} and lsn = ${firstLsn - 1}
      returning 1
    )
    insert into batch (lsn, epoch, entries, bytes)
    select ${firstLsn}, ${epoch}, ${entries.length}, ${encodeBatch(entries)} from fenced`;
  return rows.count === 1;
}

/** A log that ends before a record that was acknowledged must not be led. */
export function assertNotShorter({ lsn }: LogHead, seen: number): void {
  if (lsn < seen) throw new PostgresLogShortError(lsn, seen);
}
