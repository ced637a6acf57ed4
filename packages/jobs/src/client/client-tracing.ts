import type { TraceContext } from '../job/trace-context.js';

/** A submit or a run at its beginning. */
export interface SubmitView {
  readonly exec: string;
  /** A `submit` ends with its receipt, a `run` with the outcome. */
  readonly call: 'submit' | 'run';
  /** More than one in a `submitAll`. */
  readonly jobs: number;
  /** The context that the caller gave. */
  readonly trace: TraceContext | undefined;
}

/** How a submit or a run ended. */
export interface SubmitEnd {
  /** The numbers of its jobs; empty where they are not known. */
  readonly jobs: readonly number[];
  /** Undefined where its promise resolved. */
  readonly error: Error | undefined;
}

/** The trace of one submit or run. */
export interface SubmitTrace {
  /** It travels with the jobs. */
  readonly trace: TraceContext | undefined;
  ended(end: SubmitEnd): void;
}

/** Traces the calls of a client; `jobTelemetry()` of @troupe/middleware makes one. */
export interface ClientTracing {
  /** Called inside the call of the user, so that the active context is the caller's. */
  submit(view: SubmitView): SubmitTrace;
}
