import type { TraceContext } from '../job/trace-context.js';
import type { AttemptEnd } from '../protocol/worker/worker-messages.js';

/** An attempt whose handler is about to be called. */
export interface AttemptView {
  readonly jobId: string;
  readonly job: number;
  readonly attempt: number;
  readonly exec: string;
  readonly client: string;
  /** The context that travelled with the job. */
  readonly trace: TraceContext | undefined;
}

/** The trace of one attempt. */
export interface AttemptTrace {
  /** The handler's own context: `trace` of its {@link AttemptContext}. */
  readonly trace: TraceContext | undefined;
  /** Calls the handler. Its promises are made inside, so an async context stays with it. */
  run<T>(call: () => T): T;
  /** Called once. */
  ended(end: AttemptEnd): void;
}

/** Traces the attempts of a worker; `jobTelemetry()` of @troupe/middleware makes one. */
export interface WorkerTracing {
  attempt(view: AttemptView): AttemptTrace;
}
