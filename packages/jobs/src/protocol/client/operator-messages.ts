import type { JobView } from './admin-messages.js';

/** A page of a search. */
export interface FoundJobs {
  /** In the order of their numbers. */
  readonly jobs: readonly JobView[];
  /** The `after` of the next page; 0: there is none. */
  readonly next: number;
}

/** One act of a client or an operator. */
export interface AuditView {
  /** Counts from 1. */
  readonly no: number;
  /** When, on the leader's clock. */
  readonly at: number;
  /** The client: identity and name, and behind them the principal that it acted for. */
  readonly by: string;
  /** Such as `cancel`, `redrive`, `schedule-set`, `worker-stop`. */
  readonly action: string;
  /** A job, a schedule, a queue or a worker. */
  readonly target: string;
  /** A reason, ids, a rule. */
  readonly detail: string;
}

/** A client that is connected. */
export interface ClientView {
  /** Identity and name. */
  readonly client: string;
  /** When its connection began, on the leader's clock. */
  readonly since: number;
  /** Submits of it that are not on the disk yet. */
  readonly unanswered: number;
  /** The most submits that it may have unanswered. */
  readonly unansweredMax: number;
  /** Attempts of its jobs that run. */
  readonly running: number;
  /** The most attempts that may run at once. */
  readonly runningMax: number;
  /** Queued and running jobs of its identity. */
  readonly jobs: number;
  /** The most that its identity may have. */
  readonly jobsMax: number;
  /** Submits of this connection that were refused, by code. */
  readonly refusals: Readonly<Record<string, number>>;
}

/** Milliseconds that half and 99 of 100 are not above; of the last five to ten minutes. */
export interface Quantiles {
  /** Half. */
  readonly p50: number;
  /** 99 of 100. */
  readonly p99: number;
}

/** The jobs of one definition that have not ended. */
export interface ExecDepth {
  /** The name of the definition. */
  readonly exec: string;
  /** Jobs that wait. */
  readonly queued: number;
  /** Jobs that run. */
  readonly running: number;
  /** How long the oldest queued job has waited since it was due. */
  readonly oldestMs: number;
  /** Jobs that wait, by priority. */
  readonly queuedByPriority: Readonly<Record<string, number>>;
  /** Jobs that wait and that no connected worker may take. Absent: of a leader that does not know it. */
  readonly unserved?: number | undefined;
}

/** The jobs of one definition. Rates are of the last minute. */
export interface ExecStatsView extends ExecDepth {
  /** Submits. */
  readonly acceptedPerSecond: number;
  /** Jobs with an output. */
  readonly donePerSecond: number;
  /** Attempts that failed. */
  readonly failedPerSecond: number;
  /** Jobs that became dead letters. */
  readonly deadPerSecond: number;
  /** From being due to being assigned. */
  readonly waitMs: Quantiles;
  /** From being assigned to the end of the attempt. */
  readonly runMs: Quantiles;
  /** Events since the leader started. Absent: of a leader that does not show them. */
  readonly totals?: ExecTotals | undefined;
}

/** Events of the jobs of one definition. */
export interface ExecTotals {
  /** Submits. */
  readonly accepted: number;
  /** Jobs with an output. */
  readonly done: number;
  /** Jobs that became dead letters. */
  readonly dead: number;
  /** Jobs that were cancelled, or did not begin in time. */
  readonly cancelled: number;
  /** Attempts that failed, ran out of time or lost their worker. */
  readonly failed: number;
}

export interface LeaderStatsView {
  /** When, on the leader's clock. */
  readonly at: number;
  /** The deepest queue first. */
  readonly execs: readonly ExecStatsView[];
}
