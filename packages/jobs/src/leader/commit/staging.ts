// Hot path: one journal append per turn, no promise, no object per record beyond the record itself.

import { ByteWriter } from '../../bytes/byte-writer.js';
import { Ring } from '../../collections/ring.js';
import { StoredPayload } from '../../job/stored-payload.js';
import { JournalFailedError } from '../../jobs-error.js';
import type { Journal } from '../../journal/journal.js';
import type { LedgerRecord } from '../../ledger/record.js';
import { encodeRecord } from '../../ledger/record-codec.js';

/** Records are packed into journal entries of about this size: small enough to stay inline in any log. */
const ENTRY_BYTES = 32 * 1024;

/** Arrays that one large batch has blown up beyond this are let go. */
const KEPT_RECORDS_MAX = 65_536;

/** Records on their way to the disk, with who is to be told. Parallel arrays, in the order of the log, used again and again. */
export class Batch<From> {
  size = 0;
  private records: (LedgerRecord | undefined)[] = [];
  private senders: (From | undefined)[] = [];
  private tags: number[] = [];
  /** Behind which record each journal entry ends, and at which byte. */
  private readonly lastRecords: number[] = [];
  private readonly cuts: number[] = [];
  private readonly writer = new ByteWriter();
  /** What an entry names beside the log: at most one each. */
  readonly stored = new Map<number, StoredPayload>();
  appendedAt = 0;
  private entryStart = 0;

  get entryCount(): number {
    return this.cuts.length;
  }

  add(record: LedgerRecord, from: From | undefined, tag: number): void {
    if (record.type === 'enqueue' && record.payload instanceof StoredPayload) this.refer(record.payload);
    encodeRecord(record, this.writer);
    const { size } = this;
    this.records[size] = record;
    this.senders[size] = from;
    this.tags[size] = tag;
    this.size = size + 1;
    if (this.writer.length - this.entryStart >= ENTRY_BYTES) this.cut();
  }

  entries(): Uint8Array[] {
    if (this.writer.length > this.entryStart) this.cut();
    const entries: Uint8Array[] = [];
    let start = 0;
    for (const end of this.cuts) {
      entries.push(this.writer.view(start, end));
      start = end;
    }
    return entries;
  }

  /** Every record with its sender, its tag and the position of its journal entry. */
  visit(
    firstLsn: number,
    each: (record: LedgerRecord, from: From | undefined, tag: number, lsn: number) => void,
  ): void {
    let entry = 0;
    for (let i = 0; i < this.size; i += 1) {
      if (i === this.lastRecords[entry]) entry += 1;
      each(this.records[i] as LedgerRecord, this.senders[i], this.tags[i] as number, firstLsn + entry);
    }
  }

  clear(): void {
    if (this.size > KEPT_RECORDS_MAX) {
      this.records = [];
      this.senders = [];
      this.tags = [];
    } else {
      // Nothing that was told stays alive through here.
      this.records.fill(undefined, 0, this.size);
      this.senders.fill(undefined, 0, this.size);
    }
    this.size = 0;
    this.lastRecords.length = 0;
    this.cuts.length = 0;
    this.stored.clear();
    this.entryStart = 0;
    this.writer.reset();
  }

  private refer(payload: StoredPayload): void {
    if (this.stored.has(this.cuts.length)) this.cut();
    this.stored.set(this.cuts.length, payload);
  }

  private cut(): void {
    this.cuts.push(this.writer.length);
    this.lastRecords.push(this.size);
    this.entryStart = this.writer.length;
  }
}

/** More turns than this at the journal gain nothing: it writes one batch at a time and joins what waits. */
const AT_JOURNAL_MAX = 8;

/**
 * validate → **append → durable** → apply → act. Each turn is appended as it ends, while earlier ones are still being written; the
 * journal answers in the order of the appends.
 */
export class Staging<From> {
  private filling = new Batch<From>();
  private readonly atJournal = new Ring<Batch<From>>();
  private readonly spare: Batch<From>[] = [];
  private failed = false;
  /** The position of the latest entry known to be durable. */
  lsn: number;
  private readonly journal: Journal;
  private readonly onDurable: (batch: Batch<From>, firstLsn: number) => void;
  private readonly onFatal: (error: Error) => void;

  constructor(
    journal: Journal,
    lsn: number,
    onDurable: (batch: Batch<From>, firstLsn: number) => void,
    onFatal: (error: Error) => void,
  ) {
    this.journal = journal;
    this.lsn = lsn;
    this.onDurable = onDurable;
    this.onFatal = onFatal;
  }

  get idle(): boolean {
    return this.atJournal.size === 0 && this.filling.size === 0;
  }

  stage(record: LedgerRecord, from: From | undefined, tag: number): void {
    this.filling.add(record, from, tag);
  }

  flush(now: number): void {
    if (this.filling.size === 0 || this.atJournal.size >= AT_JOURNAL_MAX || this.failed) return;
    const batch = this.filling;
    this.filling = this.spare.pop() ?? new Batch();
    batch.appendedAt = now;
    this.atJournal.push(batch);
    const appended = (error: Error | undefined, firstLsn: number): void => this.appended(error, firstLsn);
    this.journal.append(batch.entries(), appended, batch.stored.size === 0 ? undefined : batch.stored);
  }

  private appended(error: Error | undefined, firstLsn: number): void {
    const batch = this.atJournal.shift();
    if (this.failed || batch === undefined) return;
    if (error !== undefined) {
      this.failed = true;
      this.onFatal(new JournalFailedError(error.message, { cause: error }));
      return;
    }
    this.lsn = firstLsn + batch.entryCount - 1;
    this.onDurable(batch, firstLsn);
    batch.clear();
    this.spare.push(batch);
  }
}
