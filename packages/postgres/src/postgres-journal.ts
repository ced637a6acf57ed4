import type { Host, Ref } from '@troupe/core';
import { nodeHost } from '@troupe/core';
import { callback, checkOptions, flag, object, rule, text, wholeNumber } from '@troupe/core/option-check';
import {
  assertLedgerReadable,
  type DurabilityLevel,
  type DurableReceiver,
  GOOD_CONDITION,
  type Journal,
  JournalDeposedError,
  type JournalOwner,
  type JournalReader,
  type JournalWatcher,
  type LedgerFormat,
  type OpenJournal,
  type PayloadStore,
} from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import { type LeaderName, type LeaseView, renewLease, takeOver } from './log/lease.js';
import { LeaseHold } from './log/lease-hold.js';
import { connect, type DatabaseOptions, type LogHead } from './log/log-database.js';
import { PostgresLogActor, type PostgresLogProtocol } from './log/postgres-log-actor.js';
import { readEntries, readSnapshot } from './log/read-log.js';
import { followUntilFree } from './log/standby.js';
import { payloadTable } from './payloads/payload-table.js';
import { PostgresLogShortError, PostgresUnreachableError } from './postgres-error.js';
import { durabilityOf } from './schema/durability.js';
import { addPartition, migrate, PARTITION_POSITIONS } from './schema/migrations.js';

const ENTRY_BYTES_MAX = 12 * 1024 * 1024;
const CLOSE_WITHIN_MS = 30_000;
const SNAPSHOT_WITHIN_MS = 3_600_000;

export interface PostgresJournalOptions {
  /** `postgres://user@host:5432/database`; several hosts separated by commas. */
  readonly url: string;
  /** The schema of its tables: one for each leader group. Default `troupe`. */
  readonly schema?: string | undefined;
  /** Names this leader in its lease, for people. Default `leader`. */
  readonly leader?: string | undefined;
  /** Where clients and workers find it: a hint that standbys give. Default: none. */
  readonly addresses?: readonly string[] | undefined;
  /** A leader that cannot renew its lease for so long steps down. Default 1,500. */
  readonly leaseMs?: number | undefined;
  /** A snapshot is made after so many bytes of entries. Default 67,108,864. */
  readonly snapshotBytes?: number | undefined;
  /**
   * Follows the log of another leader, and takes it over when that one has ended or cannot renew its lease.
   * Default false: takes it over at once.
   */
  readonly standby?: boolean | undefined;
  /** Called whenever a standby follows another leader. */
  readonly onStandby?: ((leader: StandbyLeader) => void) | undefined;
  /** Clock. Default: this Node process. */
  readonly host?: Host | undefined;
}

/** The leader that a standby follows. */
export type StandbyLeader = Pick<LeaseView, 'leader' | 'addresses'>;

interface JournalSettings {
  readonly database: DatabaseOptions;
  readonly name: LeaderName;
  readonly leaseMs: number;
  readonly snapshotBytes: number;
  readonly standby: boolean;
  readonly onStandby: (leader: StandbyLeader) => void;
  readonly host: Host;
}

const plainSchema = rule(
  'a name of at most 48 letters, digits and _',
  (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,47}$/.test(value),
);

function readJournalOptions(options: PostgresJournalOptions): JournalSettings {
  const rules = {
    url: text(4_096),
    schema: plainSchema,
    leader: text(200),
    addresses: rule('an array of addresses', Array.isArray),
    leaseMs: wholeNumber(200, 600_000),
    snapshotBytes: wholeNumber(1),
    standby: flag,
    onStandby: callback,
    host: object,
  } satisfies Record<keyof PostgresJournalOptions, unknown>;
  checkOptions('postgresJournal', options, rules, { required: ['url'] });
  const { url, schema = 'troupe', leader = 'leader', addresses = [], host = nodeHost } = options;
  return {
    database: { url, schema },
    name: { leader, addresses: addresses.join(',') },
    leaseMs: options.leaseMs ?? 1_500,
    snapshotBytes: options.snapshotBytes ?? 64 * 1024 * 1024,
    standby: options.standby ?? false,
    onStandby: options.onStandby ?? (() => undefined),
    host,
  };
}

/**
 * The log of a leader in PostgreSQL. Opening takes the log over from any other leader, whose appends fail
 * from then on.
 */
export function postgresJournal(options: PostgresJournalOptions): OpenJournal {
  const settings = readJournalOptions(options);
  return (reader, done, owner) => {
    open(settings, reader, owner).then(
      (journal) => done(null, journal),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
}

async function open(
  settings: JournalSettings,
  reader: JournalReader,
  owner: JournalOwner,
): Promise<PostgresJournal> {
  const { database } = settings;
  const sql = connect(database);
  const leaseSql = connect(database, 'off');
  const payloadSql = connect(database);
  const end = (): Promise<unknown> =>
    Promise.all([sql, leaseSql, payloadSql].map((one) => one.end({ timeout: 0 })));
  try {
    const level = await reached(() => durabilityOf(sql));
    await migrate(sql, database.schema);
    await keepFormat(sql, reader.format);
    const { head, hold } = await lead(sql, leaseSql, settings, reader);
    for (const ahead of [0, PARTITION_POSITIONS]) await addPartition(sql, database.schema, head.lsn + ahead);
    const log = owner.spawn(PostgresLogActor, {
      args: { ...settings, head, sql, leaseSql, hold },
      name: 'log',
    });
    return new PostgresJournal(log, owner, hold, level, payloadSql);
  } catch (error) {
    await end();
    throw error;
  }
}

/** The first statement of a connection: an error of the network is told as one. */
async function reached<T>(first: () => Promise<T>): Promise<T> {
  try {
    return await first();
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    if (!/^(E[A-Z]+|CONNECT\w*)$/.test(code) || code.startsWith('ERR_')) throw error;
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

/** The log is taken first and read then: what its last leader has committed is in it. */
async function lead(
  sql: Sql,
  leaseSql: Sql,
  settings: JournalSettings,
  reader: JournalReader,
): Promise<{ readonly head: LogHead; readonly hold: LeaseHold }> {
  const { name, leaseMs, host, standby } = settings;
  const taken = standby ? undefined : await takeOverNow(sql, settings);
  const after = await readSnapshot(sql, reader);
  const following = taken ?? (await followUntilFree(sql, after, reader, settings));
  const { head, read } = following;
  const last = await renewing(leaseSql, head.epoch, leaseMs, () =>
    readEntries(sql, Math.max(read, after), head.lsn, reader),
  );
  if (last < head.lsn) throw new PostgresLogShortError(last, head.lsn);
  // Counted from before the request: the leader never believes in a lease that has ended.
  const requestedAt = host.now();
  if (!(await renewLease(sql, head.epoch, leaseMs)))
    throw new JournalDeposedError(`another leader has taken the log while ${name.leader} was reading it`);
  return { head, hold: new LeaseHold(host, requestedAt + leaseMs) };
}

/** A long log is read for longer than a lease lasts. */
async function renewing<T>(sql: Sql, epoch: number, leaseMs: number, work: () => Promise<T>): Promise<T> {
  // The renewal behind the reading tells whether the lease is still its own.
  const timer = setInterval(() => void renewLease(sql, epoch, leaseMs).catch(() => undefined), leaseMs / 4);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function takeOverNow(sql: Sql, { name, leaseMs }: JournalSettings) {
  const head = await takeOver(sql, name, leaseMs, { onlyIfFree: false });
  return { head: head as LogHead, read: 0 }; // it is taken whether free or not
}

class PostgresJournal implements Journal {
  readonly level: DurabilityLevel;
  readonly entryBytesMax = ENTRY_BYTES_MAX;
  readonly condition = GOOD_CONDITION;
  readonly payloads: PayloadStore;
  private readonly log: Ref<PostgresLogProtocol>;
  private readonly owner: JournalOwner;
  private readonly hold: LeaseHold;
  private readonly payloadSql: Sql;

  constructor(
    log: Ref<PostgresLogProtocol>,
    owner: JournalOwner,
    hold: LeaseHold,
    level: DurabilityLevel,
    payloadSql: Sql,
  ) {
    this.log = log;
    this.owner = owner;
    this.hold = hold;
    this.level = level;
    this.payloadSql = payloadSql;
    this.payloads = payloadTable(payloadSql);
  }

  append(entries: readonly Uint8Array[], _stored: unknown, to: DurableReceiver): void {
    this.log.tell.write({ entries, to });
  }

  watch(watcher: JournalWatcher): void {
    this.log.tell.watch(watcher);
  }

  isOwner(): boolean {
    return this.hold.isHeld;
  }

  snapshot(done: (error: Error | null, lsn: number) => void): void {
    this.owner
      .ask(this.log, { withinMs: SNAPSHOT_WITHIN_MS })
      .snapshot()
      .then(
        (lsn) => done(null, lsn),
        (error: Error) => done(error, 0),
      );
  }

  close(done: (error: Error | null) => void): void {
    const closing = this.owner.ask(this.log, { withinMs: CLOSE_WITHIN_MS }).close();
    Promise.all([closing, this.payloadSql.end({ timeout: 1 })]).then(
      () => done(null),
      (error: Error) => done(error),
    );
  }
}
