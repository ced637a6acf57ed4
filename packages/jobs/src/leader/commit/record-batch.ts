import type { CodecName } from '@troupe/wal';
import { ByteWriter } from '../../bytes/byte-writer.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import type { Journal } from '../../journal/journal.js';
import { encodeEntry } from '../../ledger/codec/record-entry.js';
import type { LedgerRecord } from '../../ledger/ledger-record.js';

/** Records are packed into journal entries of about this size, small enough to stay inline in any log. */
const ENTRY_BYTES = 32 * 1024;

/** The entries that the journal takes. */
export type EntryForm = Pick<Journal, 'codec' | 'entryBytesMax'>;

/** Arrays that one large batch has grown beyond this size are dropped. */
const KEPT_RECORDS_MAX = 65_536;

/**
 * Records on their way to the disk, each with its session and its tag. Parallel arrays in the order of the
 * log, reused.
 */
export class RecordBatch<From> {
  size = 0;
  /** Jobs that the records change: those of a list count each. */
  changes = 0;
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
  private readonly codec: CodecName;
  private readonly entryBytesMax: number;
  /** An entry that has reached it takes no further record. */
  private readonly entryBytes: number;

  constructor({ codec = 'binary', entryBytesMax }: EntryForm) {
    this.codec = codec;
    this.entryBytesMax = entryBytesMax;
    this.entryBytes = codec === 'binary' ? Math.min(ENTRY_BYTES, entryBytesMax / 4) : 0;
  }

  get entryCount(): number {
    return this.entryEndBytes.length;
  }

  /** `changes`: the jobs that the record changes. */
  add(record: LedgerRecord, changes: number, from: From | undefined, tag: number): void {
    if (record.type === 'enqueue' && record.payload instanceof StoredPayload) this.addStored(record.payload);
    encodeEntry(record, this.codec, this.writer, this.entryBytesMax);
    const { size } = this;
    this.records[size] = record;
    this.sources[size] = from;
    this.tags[size] = tag;
    this.size = size + 1;
    this.changes += changes;
    if (this.writer.length - this.entryStart >= this.entryBytes) this.endEntry();
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
    this.changes = 0;
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
