export type { CircuitState } from './circuit-breaker/circuit.js';
export {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  circuitBreaker,
} from './circuit-breaker/circuit-breaker.js';
export { createEquippedSystem, type Equipment } from './equip.js';
export { NoTelemetrySdkError } from './errors.js';
export type { Figure, Measured } from './figure.js';
export type { JobEvent, JobsOverview, JobsSource, LogEvent } from './jobs/job-event.js';
export {
  type JobHooks,
  type JobTelemetry,
  type JobTelemetryOptions,
  jobTelemetry,
  type LogHooks,
} from './jobs/job-telemetry.js';
export { type LoggingOptions, logging } from './logging/logging.js';
export { consoleSink, type Sink, type SinkLine } from './logging/sink.js';
export { type RateLimit, type RateLimitOptions, rateLimit } from './rate-limit/rate-limit.js';
export { RateLimits } from './rate-limit/rate-limits.js';
export { type Deadline, type DeadlineOptions, deadline } from './resilience/deadline.js';
export { type Idempotency, type IdempotencyOptions, idempotency } from './resilience/idempotency.js';
export { type Retry, type RetryOptions, retry } from './resilience/retry.js';
export { type Timeout, type TimeoutOptions, timeout } from './resilience/timeout.js';
export { type TelemetryOptions, telemetry } from './telemetry/telemetry.js';
