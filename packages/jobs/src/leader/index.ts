// @troupe/jobs/leader: a process that keeps the log and serves clients and workers.

export { type DumpedDamage, dumpLedger, type LedgerDumpOptions } from '../folder/dump-ledger.js';
export { type LedgerMoment, ledgerAt } from '../folder/ledger-at.js';
export { type LedgerLoadOptions, type LoadedLedger, loadLedger } from '../folder/load-ledger.js';
export { jobId } from '../job/job-id.js';
export type { Payload } from '../job/payload/payload.js';
export { payloadText } from '../job/payload/payload.js';
export type { TraceContext } from '../job/trace-context.js';
export {
  JobDefinitionError,
  JobsError,
  JournalFailedError,
  LedgerCorruptError,
  LedgerLineError,
  LedgerMomentError,
  LedgerVersionError,
  LogDiskTooSmallError,
  SpillFailedError,
} from '../jobs-error.js';
export type { Journal, JournalReader, OpenJournal } from '../journal/journal.js';
export { walJournal } from '../journal/wal-journal.js';
export { decodeRecords } from '../ledger/codec/ledger-record-codec.js';
export { LEDGER_FORMAT, type LedgerFormat } from '../ledger/ledger-format.js';
export type { LedgerRecord } from '../ledger/ledger-record.js';
export type { LedgerLine } from '../ledger/lines/line-field.js';
export type {
  LeaderOverview,
  LeaderTable,
  QuotaUse,
  RunnerWait,
  TableUse,
  WorkerLiveness,
  WorkerView,
} from '../protocol/client/admin-messages.js';
export type { LeaderRenewal, LeaderServerOptions, LeaderSettings } from '../server/leader-server.js';
export { LeaderServer, leaderSettings, startLeader } from '../server/leader-server.js';
export { fileSpill } from '../spill/file-spill.js';
export type { OpenSpill, Spill } from '../spill/spill.js';
export type { JobsEvent, JobsObserver } from './jobs-event.js';
export type { LeaderLimits, LeaderTimes } from './options/leader-limits.js';
