// Hot path: one journal append per turn, no promise, no object per record beyond the record itself.

import { Ring } from '../../collections/ring.js';
import { JournalDeposedError, JournalFailedError } from '../../jobs-error.js';
import type { LedgerRecord } from '../../ledger/ledger-record.js';
import type { LeaderEffects } from '../leader-effects.js';
import { TURN_JOBS_MAX } from '../options/leader-limits.js';
import { type EntryForm, RecordBatch } from './record-batch.js';

/** More batches than this at the journal gain nothing: it writes one at a time and joins those that wait. */
const JOURNAL_BATCHES_MAX = 8;

/**
 * The middle of validate → **append → durable** → apply → act. The records of a turn are appended as the turn
 * ends, while earlier batches are still being written; the journal answers in the order of the appends.
 */
export class JournalWriter<From> {
  private filling: RecordBatch<From>;
  /** Batches that are full and not at the journal yet. */
  private readonly full = new Ring<RecordBatch<From>>();
  private readonly atJournal = new Ring<RecordBatch<From>>();
  private readonly spare: RecordBatch<From>[] = [];
  private failed = false;
  /** The position of the latest entry known to be durable. */
  lsn: number;
  private readonly log: Pick<LeaderEffects, 'append'>;
  private readonly form: EntryForm;
  private readonly onDurable: (batch: RecordBatch<From>, firstLsn: number) => void;
  private readonly onFatal: (error: Error) => void;

  constructor(
    log: Pick<LeaderEffects, 'append'>,
    lsn: number,
    form: EntryForm,
    onDurable: (batch: RecordBatch<From>, firstLsn: number) => void,
    onFatal: (error: Error) => void,
  ) {
    this.log = log;
    this.lsn = lsn;
    this.form = form;
    this.filling = new RecordBatch(form);
    this.onDurable = onDurable;
    this.onFatal = onFatal;
  }

  get isIdle(): boolean {
    return this.atJournal.size === 0 && this.full.size === 0 && this.filling.size === 0;
  }

  stage(record: LedgerRecord, from: From | undefined, tag: number): void {
    // A batch is applied in one go when it is durable, so it must not hold too much.
    const changes = 'jobs' in record ? record.jobs.length : 1;
    if (this.filling.size > 0 && this.filling.changes + changes > TURN_JOBS_MAX) {
      this.full.push(this.filling);
      this.filling = this.spare.pop() ?? new RecordBatch(this.form);
    }
    this.filling.add(record, changes, from, tag);
  }

  flush(now: number): void {
    while (this.atJournal.size < JOURNAL_BATCHES_MAX && !this.failed) {
      const batch = this.full.shift() ?? this.filling;
      if (batch.size === 0) return;
      if (batch === this.filling) this.filling = this.spare.pop() ?? new RecordBatch(this.form);
      this.append(batch, now);
    }
  }

  private append(batch: RecordBatch<From>, now: number): void {
    batch.appendedAt = now;
    this.atJournal.push(batch);
    this.log.append(batch.entries(), batch.stored.size === 0 ? undefined : batch.stored);
  }

  /** The oldest batch at the log is durable, or has failed. */
  appended(error: Error | null, firstLsn: number): void {
    const batch = this.atJournal.shift();
    if (this.failed || batch === undefined) return;
    if (error !== null) {
      this.failed = true;
      const isDeposed = error instanceof JournalDeposedError;
      this.onFatal(isDeposed ? error : new JournalFailedError(error.message, { cause: error }));
      return;
    }
    this.lsn = firstLsn + batch.entryCount - 1;
    this.onDurable(batch, firstLsn);
    batch.clear();
    this.spare.push(batch);
  }
}
