import type { Host, Ref } from '@troupe/core';
import { nodeHost } from '@troupe/core';
import { callback, checkOptions, flag, object, rule, text, wholeNumber } from '@troupe/core/option-check';
import {
  type DurabilityLevel,
  type DurableReceiver,
  GOOD_CONDITION,
  type Journal,
  type JournalOwner,
  type JournalWatcher,
  type OpenJournal,
  type OpenSpill,
  type PayloadStore,
} from '@troupe/jobs/journal';
import { KeptConnection } from './log/kept-connection.js';
import type { LeaseHold } from './log/lease-hold.js';
import { type LogSettings, type OpenedLog, openLog, type StandbyLeader } from './log/open-log.js';
import type { PostgresLogProtocol } from './log/postgres-log-actor.js';
import { TakenRows } from './outbox/taken-rows.js';
import { payloadTable } from './payloads/payload-table.js';
import { SpillTable } from './spill/spill-table.js';

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
  /** A leader that cannot renew its lease for so long steps down. Default 1,000. */
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

const plainSchema = rule(
  'a name of at most 48 letters, digits and _',
  (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,47}$/.test(value),
);

function readJournalOptions(options: PostgresJournalOptions): LogSettings {
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
    leaseMs: options.leaseMs ?? 1_000,
    snapshotBytes: options.snapshotBytes ?? 64 * 1024 * 1024,
    standby: options.standby ?? false,
    onStandby: options.onStandby ?? (() => undefined),
    rows: new TakenRows(),
    spill: new SpillTable({ url, schema }, host),
    host,
  };
}

/**
 * The log of a leader in PostgreSQL. Opening takes the log over from any other leader, whose appends fail
 * from then on.
 */
export function postgresJournal(options: PostgresJournalOptions): OpenPostgresJournal {
  const settings = readJournalOptions(options);
  const opening: OpenJournal = (reader, done, owner) => {
    openLog(settings, reader, owner).then(
      (opened) => done(null, new PostgresJournal(opened, owner, new KeptConnection(settings.database))),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return Object.assign(opening, { rows: settings.rows, spill: settings.spill.open, handsOver: true });
}

/**
 * An {@link OutboxRelay} that is given it takes rows in the transactions that append their jobs. Chunks of
 * streams are kept beside the log.
 */
export type OpenPostgresJournal = OpenJournal & {
  readonly rows: TakenRows;
  readonly spill: OpenSpill;
  readonly handsOver: boolean;
};

class PostgresJournal implements Journal {
  readonly level: DurabilityLevel;
  readonly entryBytesMax = ENTRY_BYTES_MAX;
  readonly condition = GOOD_CONDITION;
  readonly payloads: PayloadStore;
  private readonly log: Ref<PostgresLogProtocol>;
  private readonly owner: JournalOwner;
  private readonly hold: LeaseHold;
  private readonly payloadConnection: KeptConnection;

  constructor({ log, hold, level }: OpenedLog, owner: JournalOwner, payloadConnection: KeptConnection) {
    this.log = log;
    this.owner = owner;
    this.hold = hold;
    this.level = level;
    this.payloadConnection = payloadConnection;
    this.payloads = payloadTable(payloadConnection);
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
    Promise.all([closing, this.payloadConnection.end()]).then(
      () => done(null),
      (error: Error) => done(error),
    );
  }
}
