import { type DumpedEntry, dumpWal, type Storage } from '@troupe/wal';
import { jobId } from '../job/job-id.js';
import { LedgerCorruptError, LedgerMomentError } from '../jobs-error.js';
import { decodeRecords } from '../ledger/codec/ledger-record-codec.js';
import { loadChunk } from '../ledger/codec/ledger-snapshot-codec.js';
import type { JobState } from '../ledger/jobs/job.js';
import { Ledger } from '../ledger/ledger.js';
import type { LedgerLine } from '../ledger/lines/line-field.js';
import { lineOfRecord } from '../ledger/lines/record-line.js';
import { stateLines } from '../ledger/lines/state-line.js';

/** All jobs as they were after one record of the log. */
export interface LedgerMoment {
  /** The record. */
  readonly lsn: number;
  /** The time of the latest record, in milliseconds since 1970. */
  readonly at: number;
  /** Jobs by state. */
  readonly counts: Readonly<Record<JobState, number>>;
  /** Jobs accepted in all. */
  readonly accepted: number;
  /** Ended jobs whose retention was over. */
  readonly dropped: number;
  /** The lines of the record itself: it may hold several. */
  readonly records: readonly LedgerLine[];
  /** The whole state as lines, which `loadLedger` reads. */
  state(): Generator<LedgerLine>;
  /** The line of one job by its id; undefined if it was not there. */
  job(id: string): LedgerLine | undefined;
}

/**
 * Folds the records of a leader's folder up to one of them. Rejects with LedgerMomentError where the log does
 * not reach to it, or begins after it.
 */
export async function ledgerAt(dir: string | Storage, lsn: number): Promise<LedgerMoment> {
  const ledger = new Ledger();
  const records: LedgerLine[] = [];
  let first = 0;
  let last = 0;
  const visit = (entry: DumpedEntry): void => {
    if (entry.kind === 'damage')
      throw new LedgerCorruptError(`${entry.file} at byte ${entry.offset}: ${entry.reason}`);
    if (first === 0) first = entry.lsn;
    if (first > lsn) return;
    last = entry.lsn;
    if (entry.kind === 'state') return void loadChunk(ledger, entry.chunk);
    decodeRecords(entry.payload, (record) => {
      ledger.apply(record);
      if (entry.lsn === lsn) records.push({ lsn, ...lineOfRecord(record) });
    });
  };
  await dumpWal(dir, visit, { to: lsn, withState: true });
  if (first > lsn) throw new LedgerMomentError(lsn, `the log begins at record ${first}`);
  if (last !== lsn) throw new LedgerMomentError(lsn, `the last record is ${last}`);
  return momentOf(ledger, lsn, records);
}

function momentOf(ledger: Ledger, lsn: number, records: readonly LedgerLine[]): LedgerMoment {
  const { now: at, counts, accepted, dropped, tag } = ledger;
  return {
    lsn,
    at,
    counts: { ...counts },
    accepted,
    dropped,
    records,
    *state() {
      for (const line of stateLines(ledger)) yield { lsn, ...line };
    },
    job(id) {
      for (const line of stateLines(ledger))
        if (line['type'] === 'state_job' && jobId(tag, Number(line['job'])) === id) return { lsn, ...line };
      return undefined;
    },
  };
}
