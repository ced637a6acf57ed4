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
} from '../job/define-job.js';
export { defineJob } from '../job/define-job.js';
export { jobId } from '../job/job-id.js';
export type { StreamingMode } from '../job/job-policy.js';
export type { TraceContext } from '../job/trace-context.js';
export type {
  CallStatus,
  FeedRefusalCode,
  JobFailure,
  RefusalCode,
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
  SessionRefusedError,
  StreamGapError,
  StreamRefusedError,
  StreamResetError,
  SubmitWaitError,
} from '../jobs-error.js';
export type {
  FeedView,
  JobProgress,
  JobView,
  LeaderOverview,
  LeaderTable,
  QuotaUse,
  TableUse,
  WorkerLiveness,
  WorkerView,
} from '../protocol/admin-messages.js';
export type { FeedEnd } from '../protocol/feed-messages.js';
export type { StreamPosition } from '../protocol/stream-messages.js';
export type { ConnectClientOptions } from '../remote/connect-client.js';
export { connectClient } from '../remote/connect-client.js';
export type { DialOptions } from '../remote/dial-options.js';
export type { Client, ListOptions } from './client.js';
export type { ClientTracing, SubmitEnd, SubmitTrace, SubmitView } from './client-tracing.js';
export type { FeedReceipt } from './feed/client-feed.js';
export type { FeedOptions, JobHandle, SubmitReceipt } from './job-handle.js';
export type { ChunksOptions, ItemsOptions, JobItem, JobStreamEnd } from './stream/job-items.js';
export type { SubmitOptions } from './submit-preparer.js';
export type { WaitOptions } from './wait-limit.js';
