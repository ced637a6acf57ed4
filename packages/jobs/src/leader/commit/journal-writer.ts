// Hot path: one journal append per turn, no promise, no object per record beyond the record itself.

import { ByteWriter } from '../../bytes/byte-writer.js';
import { Ring } from '../../collections/ring.js';
import { StoredPayload } from '../../job/stored-payload.js';
import { JournalFailedError } from '../../jobs-error.js';
import type { Journal } from '../../journal/journal.js';
import { encodeRecord } from '../../ledger/codec/ledger-record-codec.js';
import type { LedgerRecord } from '../../ledger/ledger-record.js';

/** Records are packed into journal entries of about this size, small enough to stay inline in any log. */
const ENTRY_BYTES = 32 * 1024;

/** Arrays that one large batch has grown beyond this size are dropped. */
const KEPT_RECORDS_MAX = 65_536;

/**
 * Records on their way to the disk, each with its session and its tag. Parallel arrays in the order of the
 * log, reused.
 */
export class RecordBatch<From> {
  size = 0;
  private records: (LedgerRecord | undefined)[] = [];
  private sources: (From | undefined)[] = [];
  private tags: number[] = [];
  /** Where each journal entry ends: the number of records before its end, and the byte. */
  private readonly entryEndRecords: number[] = [];
  private readonly entryEndBytes: number[] = [];
  private readonly writer = new ByteWriter();
  /** The stored payload that an entry refers to, by the index of the entry: at most one each. */
  readonly stored = new Map<number, StoredPayload>();
  appendedAt = 0;
  private entryStart = 0;

  get entryCount(): number {
    return this.entryEndBytes.length;
  }

  add(record: LedgerRecord, from: From | undefined, tag: number): void {
    if (record.type === 'enqueue' && record.payload instanceof StoredPayload) this.addStored(record.payload);
    encodeRecord(record, this.writer);
    const { size } = this;
    this.records[size] = record;
    this.sources[size] = from;
    this.tags[size] = tag;
    this.size = size + 1;
    if (this.writer.length - this.entryStart >= ENTRY_BYTES) this.endEntry();
  }

  entries(): Uint8Array[] {
    if (this.writer.length > this.entryStart) this.endEntry();
    const entries: Uint8Array[] = [];
    let start = 0;
    for (const end of this.entryEndBytes) {
      entries.push(this.writer.view(start, end));
      start = end;
    }
    return entries;
  }

  /** Every record with its session, its tag and the position of its journal entry. */
  visit(
    firstLsn: number,
    each: (record: LedgerRecord, from: From | undefined, tag: number, lsn: number) => void,
  ): void {
    let entry = 0;
    for (let i = 0; i < this.size; i += 1) {
      if (i === this.entryEndRecords[entry]) entry += 1;
      each(this.records[i] as LedgerRecord, this.sources[i], this.tags[i] as number, firstLsn + entry);
    }
  }

  clear(): void {
    if (this.size > KEPT_RECORDS_MAX) {
      this.records = [];
      this.sources = [];
      this.tags = [];
    } else {
      // A reused batch must not keep old records and sessions alive.
      this.records.fill(undefined, 0, this.size);
      this.sources.fill(undefined, 0, this.size);
    }
    this.size = 0;
    this.entryEndRecords.length = 0;
    this.entryEndBytes.length = 0;
    this.stored.clear();
    this.entryStart = 0;
    this.writer.reset();
  }

  private addStored(payload: StoredPayload): void {
    if (this.stored.has(this.entryEndBytes.length)) this.endEntry();
    this.stored.set(this.entryEndBytes.length, payload);
  }

  private endEntry(): void {
    this.entryEndBytes.push(this.writer.length);
    this.entryEndRecords.push(this.size);
    this.entryStart = this.writer.length;
  }
}

/** More batches than this at the journal gain nothing: it writes one at a time and joins those that wait. */
const JOURNAL_BATCHES_MAX = 8;

/**
 * The middle of validate → **append → durable** → apply → act. The records of a turn are appended as the turn
 * ends, while earlier batches are still being written; the journal answers in the order of the appends.
 */
export class JournalWriter<From> {
  private filling = new RecordBatch<From>();
  private readonly atJournal = new Ring<RecordBatch<From>>();
  private readonly spare: RecordBatch<From>[] = [];
  private failed = false;
  /** The position of the latest entry known to be durable. */
  lsn: number;
  private readonly journal: Journal;
  private readonly onDurable: (batch: RecordBatch<From>, firstLsn: number) => void;
  private readonly onFatal: (error: Error) => void;

  constructor(
    journal: Journal,
    lsn: number,
    onDurable: (batch: RecordBatch<From>, firstLsn: number) => void,
    onFatal: (error: Error) => void,
  ) {
    this.journal = journal;
    this.lsn = lsn;
    this.onDurable = onDurable;
    this.onFatal = onFatal;
  }

  get isIdle(): boolean {
    return this.atJournal.size === 0 && this.filling.size === 0;
  }

  stage(record: LedgerRecord, from: From | undefined, tag: number): void {
    this.filling.add(record, from, tag);
  }

  flush(now: number): void {
    if (this.filling.size === 0 || this.atJournal.size >= JOURNAL_BATCHES_MAX || this.failed) return;
    const batch = this.filling;
    this.filling = this.spare.pop() ?? new RecordBatch();
    batch.appendedAt = now;
    this.atJournal.push(batch);
    const appended = (error: Error | null, firstLsn: number): void => this.appended(error, firstLsn);
    this.journal.append(batch.entries(), appended, batch.stored.size === 0 ? undefined : batch.stored);
  }

  private appended(error: Error | null, firstLsn: number): void {
    const batch = this.atJournal.shift();
    if (this.failed || batch === undefined) return;
    if (error !== null) {
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
