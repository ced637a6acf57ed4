export type { CircuitState } from './circuit-breaker/circuit.js';
export {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  circuitBreaker,
} from './circuit-breaker/circuit-breaker.js';
export { NoTelemetrySdkError } from './errors.js';
export type { ClientTracing, SubmitEnd, SubmitTrace, SubmitView } from './jobs/client-job-spans.js';
export {
  type ClientHooks,
  type JobTelemetry,
  type JobTelemetryOptions,
  jobTelemetry,
  type LeaderHooks,
  type LogHooks,
  type WorkerHooks,
} from './jobs/job-telemetry.js';
export type { JobEvent, LogEvent } from './jobs/leader-events.js';
export type { LeaderOverview, LeaderOverviewSource } from './jobs/leader-overview.js';
export type { AttemptEnd, AttemptTrace, AttemptView, WorkerTracing } from './jobs/worker-job-spans.js';
export { consoleLogger, type Logger, type LogMethod } from './logging/logger.js';
export { type LoggingOptions, logging } from './logging/logging.js';
export type { MessageScope } from './message-scope.js';
export type { Metric, MetricSource } from './metric.js';
export type { LimitBuckets } from './rate-limit/limit-buckets.js';
export { NamedLimits } from './rate-limit/named-limits.js';
export { type RateLimit, type RateLimitOptions, rateLimit } from './rate-limit/rate-limit.js';
export type { Rate } from './rate-limit/token-bucket.js';
export { type Deadline, type DeadlineOptions, deadline } from './resilience/deadline.js';
export { type Idempotency, type IdempotencyOptions, idempotency } from './resilience/idempotency.js';
export { type Retry, type RetryOptions, retry } from './resilience/retry.js';
export { type Timeout, type TimeoutOptions, timeout } from './resilience/timeout.js';
export { type TelemetryOptions, telemetry } from './telemetry/telemetry.js';
export { contextOfTrace, type TraceContext } from './telemetry/trace-context.js';
