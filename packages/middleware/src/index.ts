export {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  circuitBreaker,
} from './circuit-breaker/circuit-breaker.js';
export type { CircuitState } from './circuit-breaker/circuit-state.js';
export { NoTelemetrySdkError } from './errors.js';
export { createInstrumentedSystem, type SystemMiddleware } from './instrumented-system.js';
export {
  type JobHooks,
  type JobTelemetry,
  type JobTelemetryOptions,
  jobTelemetry,
  type LogHooks,
} from './jobs/job-telemetry.js';
export type { JobEvent, LeaderOverview, LeaderOverviewSource, LogEvent } from './jobs/leader-events.js';
export { consoleLogger, type Logger, type LogMethod } from './logging/logger.js';
export { type LoggingOptions, logging } from './logging/logging.js';
export type { Metric, MetricSource } from './metric.js';
export { type RateLimit, type RateLimitOptions, rateLimit } from './rate-limit/rate-limit.js';
export { RateLimitRegistry } from './rate-limit/rate-limit-registry.js';
export { type Deadline, type DeadlineOptions, deadline } from './resilience/deadline.js';
export { type Idempotency, type IdempotencyOptions, idempotency } from './resilience/idempotency.js';
export { type Retry, type RetryOptions, retry } from './resilience/retry.js';
export { type Timeout, type TimeoutOptions, timeout } from './resilience/timeout.js';
export { type TelemetryOptions, telemetry } from './telemetry/telemetry.js';
