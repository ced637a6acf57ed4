import type { RetryPolicy } from './retry.js';

/** The part of a job definition that travels to the leader and is stored there: data only, no schema, no function. */
export interface JobSpec {
  readonly exec: string;
  readonly group: string;
  readonly retry: RetryPolicy;
  /** Silence after which a worker's attempt is taken from it. */
  readonly leaseMs: number;
  readonly limits: {
    /** Run time of one attempt. */
    readonly runMs: number;
    readonly outputBytes: number;
  };
  readonly keep: {
    readonly doneMs: number;
    readonly deadMs: number;
  };
}

/** Equal specs have equal texts; the leader interns by it. */
export function specText(spec: JobSpec): string {
  const { retry, limits, keep } = spec;
  return JSON.stringify([
    spec.exec,
    spec.group,
    [retry.attempts, retry.backoff, retry.baseMs, retry.capMs, retry.jitter, retry.crashes],
    spec.leaseMs,
    [limits.runMs, limits.outputBytes],
    [keep.doneMs, keep.deadMs],
  ]);
}
