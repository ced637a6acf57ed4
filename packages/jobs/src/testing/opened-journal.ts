import { type ActorSystem, createSystem, defineActor } from '@troupe/core';
import { ByteWriter } from '../bytes/byte-writer.js';
import { StoredPayload } from '../job/payload/stored-payload.js';
import type { Journal, JournalReader, OpenJournal } from '../journal/journal.js';
import { decodeRecords, encodeRecord } from '../ledger/codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from '../ledger/codec/ledger-snapshot-codec.js';
import { Ledger } from '../ledger/ledger.js';
import { LEDGER_FORMAT, type LedgerFormat } from '../ledger/ledger-format.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';

interface JournalUserArgs {
  readonly open: OpenJournal;
  readonly reader: JournalReader;
  readonly done: (error: Error | null, journal?: Journal) => void;
}

/** The owner of a journal is an actor: a journal may be a child of it. */
const JournalUser = defineActor('journal-user', {
  state: (args: JournalUserArgs) => args,
  handlers: {},
  started(ctx) {
    const { open, reader, done } = ctx.state;
    open(reader, done, ctx);
  },
});

/** A journal that a test has opened, with the state that was read from it. */
export class OpenedJournal {
  readonly journal: Journal;
  private readonly system: ActorSystem;
  private readonly reading: JournalReading;

  private constructor(journal: Journal, system: ActorSystem, reading: JournalReading) {
    this.journal = journal;
    this.system = system;
    this.reading = reading;
  }

  static async open(open: OpenJournal, format: LedgerFormat = LEDGER_FORMAT): Promise<OpenedJournal> {
    const system = createSystem({ name: 'journal', supervise: { decide: () => 'stop' } });
    const reading = new JournalReading(format);
    try {
      const journal = await new Promise<Journal>((resolve, reject) => {
        const done: JournalUserArgs['done'] = (error, opened) =>
          opened === undefined ? reject(error ?? new Error('no journal and no error')) : resolve(opened);
        system.spawn(JournalUser, { args: { open, reader: reading, done }, name: 'user' });
      });
      return new OpenedJournal(journal, system, reading);
    } catch (error) {
      await system.shutdown();
      throw error;
    }
  }

  /** The state at the opening, as the bytes of its snapshot: equal states have equal bytes. */
  get state(): string {
    return stateOf(this.reading.ledger);
  }

  /** The positions of the entries that were read. */
  get positions(): readonly number[] {
    return this.reading.positions;
  }

  get lastLsn(): number {
    return this.reading.lastLsn;
  }

  /** One entry for each list of records; resolves with the position of the first. */
  append(...entries: readonly (readonly LedgerRecord[])[]): Promise<number> {
    const encoded = entries.map(encodeEntry);
    const stored = new Map(entries.flatMap((records, i) => storedIn(records).map((payload) => [i, payload])));
    return new Promise((resolve, reject) => {
      this.journal.append(encoded, stored.size === 0 ? undefined : stored, {
        tell: { durable: ({ error, firstLsn }) => (error === null ? resolve(firstLsn) : reject(error)) },
      });
    });
  }

  snapshot(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.journal.snapshot((error, lsn) => (error === null ? resolve(lsn) : reject(error)));
    });
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.journal.close((error) => (error === null ? resolve() : reject(error)));
    });
    await this.system.shutdown();
  }

  /** As if its process had been killed: nothing is closed. */
  async abandon(): Promise<void> {
    await this.system.shutdown();
  }
}

class JournalReading implements JournalReader {
  readonly format: LedgerFormat;
  readonly ledger = new Ledger();
  readonly positions: number[] = [];
  lastLsn = 0;

  constructor(format: LedgerFormat) {
    this.format = format;
  }

  snapshot(chunk: Uint8Array, lsn: number): void {
    loadChunk(this.ledger, chunk);
    this.lastLsn = lsn;
  }

  entry(bytes: Uint8Array, lsn: number): void {
    decodeRecords(bytes, (record) => this.ledger.apply(record));
    this.positions.push(lsn);
    this.lastLsn = lsn;
  }
}

/** The state that these records make. */
export function stateAfter(...entries: readonly (readonly LedgerRecord[])[]): string {
  const ledger = new Ledger();
  for (const record of entries.flat()) ledger.apply(record);
  return stateOf(ledger);
}

function stateOf(ledger: Ledger): string {
  return Buffer.concat(Array.from(encodeSnapshot(ledger), (chunk) => new Uint8Array(chunk))).toString('hex');
}

function encodeEntry(records: readonly LedgerRecord[]): Uint8Array {
  const out = new ByteWriter(256);
  for (const record of records) encodeRecord(record, out);
  return out.take();
}

function storedIn(records: readonly LedgerRecord[]): StoredPayload[] {
  return records.flatMap((record) =>
    record.type === 'enqueue' && record.payload instanceof StoredPayload ? [record.payload] : [],
  );
}
