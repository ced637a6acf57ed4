import { ByteWriter } from '../bytes/byte-writer.js';
import type { JobsHost } from '../host.js';
import { LedgerCorruptError } from '../jobs-error.js';
import type { Journal, OpenJournal } from '../journal/journal.js';
import { Ledger } from '../ledger/ledger.js';
import type { LedgerLimits } from '../ledger/ledger-limits.js';
import type { LedgerRecord } from '../ledger/record.js';
import { decodeRecords, encodeRecord } from '../ledger/record-codec.js';
import { loadChunk } from '../ledger/snapshot-codec.js';
import { withDefaults } from '../option-check.js';
import type { JobsObserver } from './jobs-event.js';
import { Leader } from './leader.js';
import {
  DEFAULT_LEADER_LIMITS,
  DEFAULT_LEADER_TIMES,
  type LeaderLimits,
  type LeaderTimes,
} from './leader-limits.js';

export interface LeaderOptions {
  readonly host: JobsHost;
  readonly openJournal: OpenJournal;
  readonly limits?: Partial<LeaderLimits>;
  readonly times?: Partial<LeaderTimes>;
  readonly observe?: JobsObserver;
  /** The journal failed: nothing more is acknowledged. The process should end. */
  readonly onFatal: (error: Error) => void;
}

/** Reads the journal to its end, then starts: recovery is over before the first request is taken (B10). */
export function openLeader(
  options: LeaderOptions,
  done: (error: Error | undefined, leader?: Leader) => void,
): void {
  const limits = withDefaults(DEFAULT_LEADER_LIMITS, options.limits);
  const times = withDefaults(DEFAULT_LEADER_TIMES, options.times);
  const ledger = new Ledger();
  let lastLsn = 0;
  const reader = {
    snapshot(chunk: Uint8Array, lsn: number): void {
      loadChunk(ledger, chunk);
      lastLsn = lsn;
    },
    entry(bytes: Uint8Array, lsn: number): void {
      decodeRecords(bytes, (record) => ledger.apply(record));
      lastLsn = lsn;
    },
  };
  const { host, observe, onFatal } = options;
  const start = (journal: Journal): void => {
    const setup = { ledger, journal, lsn: lastLsn, host, limits, times, onFatal };
    done(undefined, new Leader(observe === undefined ? setup : { ...setup, observe }));
  };
  options.openJournal(reader, (error, journal) => {
    if (error !== undefined || journal === undefined) return done(error);
    if (!ledger.balanced) {
      return journal.close((failed) =>
        done(failed ?? new LedgerCorruptError('the jobs of the folder do not add up')),
      );
    }
    const news = newsOf(ledger, limits, host);
    if (news.length === 0) return start(journal);
    const out = new ByteWriter(256);
    for (const record of news) encodeRecord(record, out);
    journal.append([out.take()], (failed, lsn) => {
      if (failed !== undefined) return done(failed);
      for (const record of news) ledger.apply(record);
      lastLsn = lsn;
      start(journal);
    });
  });
}

/** What the folder must know before anybody is served: its tag, decided once, and the limits if they have changed. */
function newsOf(ledger: Ledger, limits: LedgerLimits, host: JobsHost): LedgerRecord[] {
  const at = Math.max(ledger.now, host.wallNow());
  const news: LedgerRecord[] = [];
  const isNew = ledger.tag === '';
  if (isNew) {
    const tag = Math.floor(36 ** 4 + host.random() * (36 ** 5 - 36 ** 4)).toString(36);
    news.push({ type: 'genesis', at, tag });
  }
  const { resultsMax, resultsBytesMax, keyWindowMs } = limits;
  const same =
    ledger.limits.resultsMax === resultsMax &&
    ledger.limits.resultsBytesMax === resultsBytesMax &&
    ledger.limits.keyWindowMs === keyWindowMs;
  if (isNew || !same) news.push({ type: 'limits', at, resultsMax, resultsBytesMax, keyWindowMs });
  return news;
}
