import type { TraceContext } from '../telemetry/trace-context.js';

/**
 * The events of a leader of @troupe/jobs, as far as they are counted here. The type is structural: this
 * package does not depend on that one, and ignores events of an unknown kind and unknown fields.
 */
export interface JobEvent {
  readonly kind: string;
  readonly job?: number | undefined;
  readonly exec?: string | undefined;
  readonly attempt?: number | undefined;
  /** Time from due to assigned. */
  readonly waitedMs?: number | undefined;
  readonly sinceSubmitMs?: number | undefined;
  readonly delayMs?: number | undefined;
  /** Time from the append of a batch until it is durable. */
  readonly tookMs?: number | undefined;
  readonly records?: number | undefined;
  readonly cause?: string | undefined;
  readonly reason?: string | undefined;
  readonly code?: string | undefined;
  readonly liveness?: string | undefined;
  /** The context that the job was submitted with. */
  readonly trace?: TraceContext | undefined;
}

/** The events of the leader's log. */
export interface LogEvent {
  readonly kind: string;
  readonly ms?: number | undefined;
  readonly bytes?: number | undefined;
}
