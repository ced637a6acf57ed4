export type {
  AuditOptions,
  CancelReport,
  CancelWhereOptions,
  GroupOptions,
  RedriveOptions,
  RedriveReport,
  SearchOptions,
} from './client/calls/operator-calls.js';
export type { WaitOptions } from './client/calls/wait-limit.js';
export type { ListOptions } from './client/client.js';
export { Client } from './client/client.js';
export type { ClientTracing, SubmitEnd, SubmitTrace, SubmitView } from './client/client-tracing.js';
export type { FeedReceipt } from './client/feed/client-feed.js';
export type { FeedOptions, InputOptions, SubmitReceipt } from './client/handles/job-handle.js';
export { JobHandle } from './client/handles/job-handle.js';
export type { JobInputView } from './client/handles/job-input-view.js';

export { QueueHandle } from './client/handles/queue-handle.js';
export type { ScheduleListOptions, ScheduleOptions, Schedules } from './client/handles/schedules.js';
export type { StopWorkerOptions, Workers } from './client/handles/workers.js';
export type { ChunksOptions, ItemsOptions, JobItem, JobStreamEnd } from './client/stream/job-items.js';
export { type DetachedSubmit, detachedSubmit } from './client/submit/detached-submit.js';
export type { SubmitOptions } from './client/submit/submit-preparer.js';
export type {
  EmbeddedClientOptions,
  EmbeddedOptions,
  EmbeddedWorker,
  EmbeddedWorkerOptions,
} from './embedded/embedded-jobs.js';
export { EmbeddedJobs, embedded } from './embedded/embedded-jobs.js';
export { type DumpedDamage, dumpLedger, type LedgerDumpOptions } from './folder/dump-ledger.js';
export { type LedgerMoment, ledgerAt } from './folder/ledger-at.js';
export { type LedgerLoadOptions, type LoadedLedger, loadLedger } from './folder/load-ledger.js';
export type {
  ChunkSchema,
  Collect,
  FeedInput,
  HandlerChunk,
  HandlerFeed,
  HandlerInput,
  HandlerOutput,
  JobChunk,
  JobDefinition,
  JobInput,
  JobOptions,
  JobOutput,
} from './job/definition/define-job.js';
export { defineJob } from './job/definition/define-job.js';
export type { JobPolicy, StreamingMode } from './job/definition/job-policy.js';
export type { RetryBackoff, RetryPolicy } from './job/definition/retry-policy.js';
export { DEFAULT_RETRY, retryDelayMs } from './job/definition/retry-policy.js';
export type { StreamPolicy } from './job/definition/stream-policy.js';
export { jobId } from './job/job-id.js';
export { type Payload, payloadText } from './job/payload/payload.js';
export type { QueueLimits, QueueMode, RateLimit } from './job/queue-control.js';
export type { TraceContext } from './job/trace-context.js';
export type { Trailer } from './job/trailer.js';
export type {
  AbortReason,
  CallStatus,
  FeedRefusalCode,
  JobFailure,
  RefusalCode,
  RequestRefusalCode,
  SchemaIssue,
  SessionRefusalCode,
} from './jobs-error.js';
export {
  AttemptAbortedError,
  CallUnsupportedError,
  CallWaitError,
  ClientClosedError,
  FeedRefusedError,
  FeedWaitError,
  ForbiddenError,
  JobCancelledError,
  JobDefinitionError,
  JobFailedError,
  JobForeignError,
  JobRefusedError,
  JobSchemaError,
  JobSnoozedError,
  JobsError,
  JobUnknownError,
  JobWaitError,
  JournalDeposedError,
  JournalFailedError,
  LeaderChangedError,
  LeaderRefusedError,
  LeaderUnreachableError,
  LedgerCorruptError,
  LedgerLineError,
  LedgerMomentError,
  LedgerVersionError,
  LogDiskTooSmallError,
  MessageMalformedError,
  NonRetryableError,
  NotStreamingError,
  RequestRefusedError,
  RunnerLoadError,
  RunnerWaitError,
  SessionRefusedError,
  SpillFailedError,
  StreamGapError,
  StreamRefusedError,
  StreamResetError,
  SubmitWaitError,
} from './jobs-error.js';
export type { Journal, JournalOwner, JournalReader, JournalWatcher, OpenJournal } from './journal/journal.js';
export { walJournal } from './journal/wal-journal.js';
export type { JobsEvent, JobsObserver } from './leader/jobs-event.js';
export type { LeaderLimits, LeaderTimes } from './leader/options/leader-limits.js';
export { scheduleTimes } from './leader/schedules/schedule-times.js';
export type { AttemptEnding, EndedAttempt } from './ledger/attempts/ended-attempt.js';
export { decodeRecords } from './ledger/codec/ledger-record-codec.js';
export { LEDGER_FORMAT, type LedgerFormat } from './ledger/ledger-format.js';
export type { LedgerRecord } from './ledger/ledger-record.js';
export type { LedgerLine } from './ledger/lines/line-field.js';
export type { ScheduleOverlap, ScheduleRule } from './ledger/schedules/schedule-rule.js';
export type { ActorsView, LeaderActors } from './protocol/client/actors-view.js';
export type {
  FeedView,
  JobProgress,
  JobView,
  LeaderOverview,
  LeaderTable,
  QueueView,
  QuotaUse,
  RunnerWait,
  TableUse,
  WorkerLiveness,
  WorkerView,
} from './protocol/client/admin-messages.js';
export type { DurabilityLevel, JobOutcome } from './protocol/client/client-messages.js';
export type { DeadLetterGroup } from './protocol/client/dead-letter-messages.js';
export type { JobExplanation, WaitReason } from './protocol/client/explain-messages.js';
export type {
  AuditView,
  ClientView,
  ExecDepth,
  ExecStatsView,
  ExecTotals,
  FoundJobs,
  LeaderStatsView,
  Quantiles,
} from './protocol/client/operator-messages.js';
export type { ScheduleView } from './protocol/client/schedule-messages.js';
export type { JobFilter } from './protocol/client/search-messages.js';
export type { FeedEnd } from './protocol/feed-messages.js';
export type { StreamPosition } from './protocol/stream-messages.js';
export type { RunnerUse } from './protocol/worker/worker-messages.js';
export type { ConnectClientOptions } from './remote/connect-client.js';
export { connectClient } from './remote/connect-client.js';
export type { DialOptions } from './remote/dial-options.js';
export type { ConnectGroupsOptions, GroupJobView } from './remote/group-client.js';
export { connectGroups, GroupClient } from './remote/group-client.js';
export type { StartGroupWorkerOptions } from './remote/group-worker.js';
export { GroupWorker, startGroupWorker } from './remote/group-worker.js';
export type { LeaderMap } from './remote/leader-map.js';
export type { StartWorkerOptions } from './remote/start-worker.js';
export { RemoteWorker, startWorker } from './remote/start-worker.js';
export type { LeaderRenewal, LeaderServerOptions, LeaderSettings } from './server/leader-server.js';
export { LeaderServer, leaderSettings, startLeader } from './server/leader-server.js';
export { fileSpill } from './spill/file-spill.js';
export type {
  OpenSpill,
  Spill,
  SpillLoaded,
  SpillRead,
  SpillReceiver,
  SpillWrite,
  SpillWritten,
} from './spill/spill.js';
export type { LoadMeter } from './worker/credit/load-meter.js';
export type { JobFeed } from './worker/feed/job-feed.js';
export type { BatchOptions } from './worker/handlers/handle-many.js';
export { handleMany } from './worker/handlers/handle-many.js';
export type {
  AttemptContext,
  HandledJob,
  Handler,
  HandlerFunction,
  HandlerOptions,
  HandlerSetup,
  HandlerStream,
} from './worker/handlers/handler.js';
export { handle } from './worker/handlers/handler.js';
export type { BatchHandler, BatchItem, BatchOutcome } from './worker/handlers/handler-batches.js';
export type { RunnerPoolOptions } from './worker/runners/runner-plan.js';
export type { GivenHandlers, HandlerThreadOptions } from './worker/threads/thread-options.js';
export type { AttemptFailure, StaleAttempt, WorkerSettings } from './worker/worker-options.js';
export type { AttemptTrace, AttemptView, WorkerTracing } from './worker/worker-tracing.js';
