import postgres, { type Sql } from 'postgres';
import { PostgresLogShortError } from '../postgres-error.js';
import { encodeBatch } from './batch-codec.js';
import type { WriteBatch } from './batch-queue.js';
import { PrimaryDialer } from './primary-dialer.js';

export interface DatabaseOptions {
  /** `postgres://user@host:5432,other:5432/database?target_session_attrs=read-write`. */
  readonly url: string;
  /** The schema of the tables. */
  readonly schema: string;
  /** Another way to the server. Default: the client library, by the url. */
  readonly connect?: ((settings: SessionSettings) => Sql) | undefined;
}

/** The end of the log, and the epoch of its leader. */
export interface LogHead {
  readonly epoch: number;
  readonly lsn: number;
}

const CONNECT_SECONDS = 2;
/** A process that was cut off inside a transaction must not keep its locks. */
const IDLE_TRANSACTION_MS = 2_000;

export interface SessionSettings {
  /** A setting of the session, since that of the server may be weaker. Default 'on'. */
  readonly synchronousCommit?: 'on' | 'off' | undefined;
  readonly onClosed?: (() => void) | undefined;
  /** Aborted when the connection is given up. */
  readonly signal?: AbortSignal | undefined;
}

/** One connection. */
export function connect(database: DatabaseOptions, settings: SessionSettings = {}): Sql {
  const { url, schema } = database;
  if (database.connect !== undefined) return database.connect(settings);
  const { synchronousCommit = 'on', onClosed = () => undefined, signal } = settings;
  return postgres(url, {
    max: 1,
    connect_timeout: CONNECT_SECONDS,
    ...primaryOf(url, signal),
    // Its error, where the connection breaks meanwhile, would have no handler and end the process.
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    onclose: onClosed,
    connection: {
      application_name: 'troupe',
      search_path: schema,
      synchronous_commit: synchronousCommit,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    },
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
}

/** A leader among several hosts is at the primary. */
function primaryOf(url: string, signal: AbortSignal | undefined): object {
  const dialer = new PrimaryDialer(url);
  // Its `read-write` takes a hot standby of PostgreSQL 14, whose transactions are writable by default.
  const attributes = { target_session_attrs: 'primary' };
  if (dialer.hasChoice) return { ...attributes, ...dialer.first, socket: () => dialer.dial(signal) };
  return url.includes('target_session_attrs=read-write') ? attributes : {};
}

/** A parameter for `any` and `all`, with a cast. Its values have no characters that need quotes. */
export function arrayLiteral(values: Iterable<number | string>): string {
  return `{${[...values].join(',')}}`;
}

/**
 * A leader whose connection broke takes a new epoch: it waits for the lock of a statement that may still be
 * under way, so that its outcome is certain afterwards. It may be repeated when its own answer was lost.
 * Undefined: another leader has taken over meanwhile.
 * Throws a PostgresLogShortError where `seen`, the last position that was acknowledged, is not in the log.
 */
export async function takeOverAgain(sql: Sql, leaseId: number, seen: number): Promise<LogHead | undefined> {
  const [taken] = await sql<LogHead[]>`
    update head set epoch = epoch + 1 where lease = ${leaseId} returning epoch, lsn`;
  const head = taken ?? (await headOf(sql));
  assertNotShorter(head, seen);
  return taken;
}

export async function headOf(sql: Sql): Promise<LogHead> {
  const [head] = await sql<LogHead[]>`select epoch, lsn from head`;
  return head as LogHead; // the migration has inserted the row
}

/**
 * Appends behind the position that this leader knows as the last, if the epoch is still its own: one
 * statement, and the lock of one row is the fence. Rows of the outbox that become jobs go with it. False: the
 * head is another one.
 */
export async function appendBatch(sql: Sql, epoch: number, batch: WriteBatch): Promise<boolean> {
  const { firstLsn, entries, rows: taken } = batch;
  const deleted =
    taken.length === 0
      ? sql``
      : sql`, deleted as (
        delete from outbox where id = any (${arrayLiteral(taken)}::bigint[]) and exists (select from fenced)
      )`;
  const rows = await sql`
    with fenced as (
      update head set lsn = ${firstLsn + entries.length - 1}
      where epoch = ${epoch} and lsn = ${firstLsn - 1}
      returning 1
    )${deleted}
    insert into batch (lsn, epoch, entries, bytes)
    select ${firstLsn}, ${epoch}, ${entries.length}, ${encodeBatch(entries)} from fenced`;
  return rows.count === 1;
}

/** A log that ends before a record that was acknowledged must not be led. */
export function assertNotShorter({ lsn }: LogHead, seen: number): void {
  if (lsn < seen) throw new PostgresLogShortError(lsn, seen);
}
