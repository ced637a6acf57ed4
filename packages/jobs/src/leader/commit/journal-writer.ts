// Hot path: one journal append per turn, no promise, no object per record beyond the record itself.

import { Ring } from '../../collections/ring.js';
import { JournalFailedError } from '../../jobs-error.js';
import type { Journal } from '../../journal/journal.js';
import type { LedgerRecord } from '../../ledger/ledger-record.js';
import { RecordBatch } from './record-batch.js';

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
