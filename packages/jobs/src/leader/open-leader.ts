import type { DurableWrite } from '@troupe/wal';
import { LedgerCorruptError, SpillFailedError } from '../jobs-error.js';
import type { JobsClock } from '../jobs-host.js';
import type { Journal, JournalOwner, OpenJournal } from '../journal/journal.js';
import { decodeRecords } from '../ledger/codec/ledger-record-codec.js';
import { loadChunk } from '../ledger/codec/ledger-snapshot-codec.js';
import { Ledger } from '../ledger/ledger.js';
import { LEDGER_FORMAT } from '../ledger/ledger-format.js';
import type { LedgerLimits } from '../ledger/ledger-limits.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';
import { type Defaulted, withDefaults } from '../option-check.js';
import type { OpenSpill, Spill } from '../spill/spill.js';
import { RecordBatch } from './commit/record-batch.js';
import type { JobsObserver } from './jobs-event.js';
import { type FoundFile, Leader } from './leader.js';
import type { LeaderState } from './leader-context.js';
import type { LeaderEffects } from './leader-effects.js';
import {
  DEFAULT_LEADER_LIMITS,
  DEFAULT_LEADER_TIMES,
  type LeaderLimits,
  type LeaderTimes,
} from './options/leader-limits.js';
import { scanBlocks } from './streams/spill-block.js';

export interface LeaderOptions {
  readonly clock: JobsClock;
  readonly openJournal: OpenJournal;
  /** Files for chunks of streams. Absent: chunks stay in memory. */
  readonly openSpill?: OpenSpill | undefined;
  readonly owner: JournalOwner;
  /** The effects of the leader, once its journal and its spill are open. */
  readonly effects: (journal: Journal, spill: Spill | undefined) => LeaderEffects;
  /** Its journal follows the leader at this address, which is empty where it is not known. */
  readonly onFollowing?: ((address: string | undefined) => void) | undefined;
  /** The spill cannot be used, and no durable stream is under way: the leader goes on without it. */
  readonly onSpillFailed: (error: Error) => void;
  /** Schedules the next slice of a long restore. */
  readonly later: (run: () => void) => void;
  readonly limits?: Defaulted<LeaderLimits> | undefined;
  readonly times?: Defaulted<LeaderTimes> | undefined;
  /** The labels that jobs may require. Absent: any. */
  readonly labels?: readonly string[] | undefined;
  readonly observe?: JobsObserver | undefined;
}

/** Reads the journal to its end, then starts: recovery is over before the first request is taken. */
export function openLeader(
  options: LeaderOptions,
  done: (error: Error | null, leader?: Leader) => void,
): void {
  const limits = withDefaults(DEFAULT_LEADER_LIMITS, options.limits);
  const times = withDefaults(DEFAULT_LEADER_TIMES, options.times);
  const ledger = new Ledger<LeaderState>();
  let lastLsn = 0;
  const reader = {
    format: LEDGER_FORMAT,
    following: (address: string | undefined): void => options.onFollowing?.(address),
    snapshot(chunk: Uint8Array, lsn: number): void {
      loadChunk(ledger, chunk);
      lastLsn = lsn;
    },
    entry(bytes: Uint8Array, lsn: number): void {
      decodeRecords(bytes, (record) => ledger.apply(record));
      lastLsn = lsn;
    },
  };
  const { clock, observe, labels } = options;
  const openedAt = clock.now();
  let replayMs = 0;
  const start = (journal: Journal, spill: Spill | undefined, found: readonly FoundFile[]): void => {
    const effects = options.effects(journal, spill);
    const leader = new Leader({
      ledger,
      journal,
      lsn: lastLsn,
      replayMs,
      clock,
      effects,
      limits,
      times,
      labels,
      hasSpill: spill !== undefined,
      observe,
    });
    const restore = (): void => {
      if (leader.restoreSlice()) return options.later(restore);
      leader.restoreSpill(found);
      done(null, leader);
    };
    restore();
  };
  const startWithSpill = (journal: Journal): void =>
    openFoundFiles(options, ledger, (error, spill, found) => {
      if (spill !== undefined || !hasDurableStreams(ledger)) {
        if (error !== null) options.onSpillFailed(error);
        return start(journal, spill, found);
      }
      const problem = error === null ? 'this leader has none' : error.message;
      journal.close((failed) =>
        done(failed ?? new SpillFailedError(problem, error === null ? undefined : { cause: error })),
      );
    });
  options.openJournal(
    reader,
    (error, journal) => {
      if (journal === undefined) return done(error);
      replayMs = Math.round(clock.now() - openedAt);
      if (!ledger.balanced) {
        return journal.close((failed) =>
          done(failed ?? new LedgerCorruptError('the jobs of the folder do not add up')),
        );
      }
      const records = startRecords(ledger, limits, clock);
      if (records.length === 0) return startWithSpill(journal);
      const batch = new RecordBatch(journal);
      for (const record of records) batch.add(record, 0, undefined, 0);
      const durable = ({ error: failed, firstLsn }: DurableWrite): void => {
        if (failed !== null) return done(failed);
        for (const record of records) ledger.apply(record);
        lastLsn = firstLsn + batch.entryCount - 1;
        startWithSpill(journal);
      };
      journal.append(batch.entries(), undefined, { tell: { durable } });
    },
    options.owner,
  );
}

/** Without a spill their chunks would wait for ever; those of other streams are gaps, or stay in memory. */
function hasDurableStreams({ policies }: Ledger): boolean {
  for (const { stream, queued, running } of policies.values())
    if (stream?.durable === true && queued + running > 0) return true;
  return false;
}

function openFoundFiles(
  { openSpill, owner }: Pick<LeaderOptions, 'openSpill' | 'owner'>,
  ledger: Ledger,
  done: (error: Error | null, spill: Spill | undefined, found: readonly FoundFile[]) => void,
): void {
  if (openSpill === undefined) return done(null, undefined, []);
  const found: FoundFile[] = [];
  openSpill(
    ledger.spillFiles,
    (file, bytes) => found.push({ file, bytes: bytes.length, blocks: [...scanBlocks(bytes)] }),
    (error, spill) => done(error, spill, spill === undefined ? [] : found),
    owner,
  );
}

/**
 * Records that come before the first request: the tag of a new folder, and the limits if they have changed.
 */
function startRecords(ledger: Ledger, limits: LedgerLimits, clock: JobsClock): LedgerRecord[] {
  const at = Math.max(ledger.now, clock.wallNow());
  const records: LedgerRecord[] = [];
  const isNew = ledger.tag === '';
  if (isNew) {
    const tag = Math.floor(36 ** 4 + clock.random() * (36 ** 5 - 36 ** 4)).toString(36);
    records.push({ type: 'genesis', at, tag });
  }
  const { resultsMax, resultsBytesMax, keyWindowMs } = limits;
  const isSame =
    ledger.limits.resultsMax === resultsMax &&
    ledger.limits.resultsBytesMax === resultsBytesMax &&
    ledger.limits.keyWindowMs === keyWindowMs;
  if (isNew || !isSame) records.push({ type: 'limits', at, resultsMax, resultsBytesMax, keyWindowMs });
  return records;
}
