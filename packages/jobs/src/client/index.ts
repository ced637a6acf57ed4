// @troupe/jobs/client: a process that submits jobs. Loads no log and no leader.
export type {
  ChunkSchema,
  Collect,
  FeedInput,
  JobChunk,
  JobDefinition,
  JobInput,
  JobOptions,
  JobOutput,
} from '../job/definition/define-job.js';
export { defineJob } from '../job/definition/define-job.js';
export type { StreamingMode } from '../job/definition/job-policy.js';
export { jobId } from '../job/job-id.js';
export type { QueueLimits, QueueMode, RateLimit } from '../job/queue-control.js';
export type { TraceContext } from '../job/trace-context.js';
export type {
  CallStatus,
  FeedRefusalCode,
  JobFailure,
  RefusalCode,
  RequestRefusalCode,
  SchemaIssue,
  SessionRefusalCode,
} from '../jobs-error.js';
export {
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
  JobsError,
  JobUnknownError,
  JobWaitError,
  LeaderChangedError,
  LeaderRefusedError,
  LeaderUnreachableError,
  MessageMalformedError,
  RequestRefusedError,
  SessionRefusedError,
  StreamGapError,
  StreamRefusedError,
  StreamResetError,
  SubmitWaitError,
} from '../jobs-error.js';
export type { AttemptEnding, EndedAttempt } from '../ledger/attempts/ended-attempt.js';
export type { ScheduleOverlap, ScheduleRule } from '../ledger/schedules/schedule-rule.js';
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
} from '../protocol/client/admin-messages.js';
export type { DeadLetterGroup } from '../protocol/client/dead-letter-messages.js';
export type { JobExplanation, WaitReason } from '../protocol/client/explain-messages.js';
export type {
  AuditView,
  ClientView,
  ExecDepth,
  ExecStatsView,
  ExecTotals,
  FoundJobs,
  LeaderStatsView,
  Quantiles,
} from '../protocol/client/operator-messages.js';
export type { ScheduleView } from '../protocol/client/schedule-messages.js';
export type { JobFilter } from '../protocol/client/search-messages.js';
export type { FeedEnd } from '../protocol/feed-messages.js';
export type { StreamPosition } from '../protocol/stream-messages.js';
export type { ConnectClientOptions } from '../remote/connect-client.js';
export { connectClient } from '../remote/connect-client.js';
export type { DialOptions } from '../remote/dial-options.js';
export type { ConnectGroupsOptions, GroupJobView } from '../remote/group-client.js';
export { connectGroups, GroupClient } from '../remote/group-client.js';
export type { LeaderMap } from '../remote/leader-map.js';
export type {
  AuditOptions,
  CancelReport,
  CancelWhereOptions,
  GroupOptions,
  RedriveOptions,
  RedriveReport,
  SearchOptions,
} from './calls/operator-calls.js';
export type { WaitOptions } from './calls/wait-limit.js';
export type { Client, ListOptions } from './client.js';
export type { ClientTracing, SubmitEnd, SubmitTrace, SubmitView } from './client-tracing.js';
export type { FeedReceipt } from './feed/client-feed.js';
export type { FeedOptions, JobHandle, SubmitReceipt } from './handles/job-handle.js';
export type { QueueHandle } from './handles/queue-handle.js';
export type { ScheduleListOptions, ScheduleOptions, Schedules } from './handles/schedules.js';
export type { StopWorkerOptions, Workers } from './handles/workers.js';
export type { ChunksOptions, ItemsOptions, JobItem, JobStreamEnd } from './stream/job-items.js';
export type { SubmitOptions } from './submit/submit-preparer.js';
