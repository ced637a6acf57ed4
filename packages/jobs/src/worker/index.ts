// @troupe/jobs/worker: a process that runs handlers. Loads no log and no leader.
export type {
  ChunkSchema,
  Collect,
  HandlerChunk,
  HandlerFeed,
  HandlerInput,
  HandlerOutput,
  JobDefinition,
  JobOptions,
} from '../job/definition/define-job.js';
export { defineJob } from '../job/definition/define-job.js';
export type { TraceContext } from '../job/trace-context.js';
export type { Trailer } from '../job/trailer.js';
export type { AbortReason, JobFailure, SchemaIssue, SessionRefusalCode } from '../jobs-error.js';
export {
  AttemptAbortedError,
  JobDefinitionError,
  JobSchemaError,
  JobSnoozedError,
  JobsError,
  LeaderRefusedError,
  LeaderUnreachableError,
  MessageMalformedError,
  NonRetryableError,
  NotStreamingError,
  RunnerLoadError,
  RunnerWaitError,
  SessionRefusedError,
} from '../jobs-error.js';
export type { DialOptions } from '../remote/dial-options.js';
export type { StartGroupWorkerOptions } from '../remote/group-worker.js';
export { GroupWorker, startGroupWorker } from '../remote/group-worker.js';
export type { LeaderMap } from '../remote/leader-map.js';
export type { RemoteWorker, StartWorkerOptions } from '../remote/start-worker.js';
export { startWorker } from '../remote/start-worker.js';
export type { JobFeed } from './feed/job-feed.js';
export type { BatchOptions } from './handlers/handle-many.js';
export { handleMany } from './handlers/handle-many.js';
export type {
  AttemptContext,
  HandledJob,
  Handler,
  HandlerFunction,
  HandlerOptions,
  HandlerSetup,
  HandlerStream,
} from './handlers/handler.js';
export { handle } from './handlers/handler.js';
export type { BatchHandler, BatchItem, BatchOutcome } from './handlers/handler-batches.js';
export type { RunnerPoolOptions } from './runners/runner-plan.js';
export type { GivenHandlers, HandlerThreadOptions } from './threads/thread-options.js';
export type { AttemptFailure, StaleAttempt, WorkerSettings } from './worker-options.js';
export type { AttemptTrace, AttemptView, WorkerTracing } from './worker-tracing.js';
