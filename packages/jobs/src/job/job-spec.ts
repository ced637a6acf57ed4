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

/** The most a result may have: it is one record, and any log holds that inline, with its framing. */
export const OUTPUT_BYTES_MAX = 11 * 1024 * 1024;

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

/** Why a spec that came from outside cannot be kept. The bounds are those of `defineJob`. */
export function specProblem(spec: JobSpec): string | undefined {
  if (!/^[\w-]+(\.[\w-]+)*$/.test(spec.exec) || spec.exec.length > 200)
    return `'${spec.exec}' is no name of a job`;
  if (!/^[\w-]{1,200}$/.test(spec.group)) return `'${spec.group}' is no group`;
  const { retry, limits, keep } = spec;
  if (!['constant', 'linear', 'exponential'].includes(retry.backoff))
    return `back-off '${retry.backoff}' is unknown`;
  const numbers = {
    attempts: retry.attempts,
    crashes: retry.crashes,
    baseMs: retry.baseMs,
    capMs: retry.capMs,
  };
  const rest = { leaseMs: spec.leaseMs, ...limits, ...keep, jitter: retry.jitter };
  for (const [name, value] of Object.entries({ ...numbers, ...rest })) {
    if (!(typeof value === 'number' && value >= 0 && value <= MS_MAX)) return `${name} of ${String(value)}`;
  }
  if (limits.outputBytes > OUTPUT_BYTES_MAX)
    return `outputBytes of ${limits.outputBytes}, at most ${OUTPUT_BYTES_MAX}`;
  return retry.attempts >= 1 && retry.crashes >= 1 ? undefined : 'no attempt is allowed';
}

/** A year in milliseconds; nothing in a spec is larger. */
const MS_MAX = 366 * 24 * 3_600_000;
