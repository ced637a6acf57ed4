import type { QueueLimits, QueueMode } from '../../job/queue-control.js';
import type { JobFailure, RefusalCode, RequestRefusalCode } from '../../jobs-error.js';
import type { EndedAttempt } from '../../ledger/attempts/ended-attempt.js';
import type { JobState } from '../../ledger/jobs/job.js';
import type { RunnerUse } from '../worker/worker-messages.js';
import type { LeaderActors } from './actors-view.js';
import type { DeadLetterGroup } from './dead-letter-messages.js';
import type { JobExplanation } from './explain-messages.js';
import type { ForPrincipal } from './for-principal.js';
import type {
  AuditView,
  ClientView,
  ExecDepth,
  FoundJobs,
  LeaderStatsView,
  Quantiles,
} from './operator-messages.js';
import type { ScheduleRequest, ScheduleView } from './schedule-messages.js';
import type { OperatorRequest } from './search-messages.js';

export type AdminRequest = ForPrincipal & AnyRequest;

type AnyRequest =
  | CancelRequest
  | { readonly kind: 'inspect'; readonly job: number }
  /** A part of the input of a job. */
  | { readonly kind: 'input'; readonly job: number; readonly from: number; readonly max: number }
  /** The job of an idempotency key of this client's identity. */
  | { readonly kind: 'find-key'; readonly exec: string; readonly key: string }
  | ReleaseKeys
  | { readonly kind: 'overview' }
  /** The actors of the leader's process. */
  | { readonly kind: 'actors' }
  | { readonly kind: 'list'; readonly state: JobState; readonly after: number; readonly max: number }
  /** The dead ones among these jobs, with the attempt of their death. */
  | { readonly kind: 'dead-attempts'; readonly jobs: readonly number[] }
  /** With `attempts`, one for each job, only jobs that are dead since that attempt are changed. */
  | {
      readonly kind: 'redrive' | 'purge';
      readonly jobs: readonly number[];
      readonly attempts?: readonly number[] | undefined;
    }
  /** The queues with jobs or with something that an operator has set. */
  | { readonly kind: 'queues' }
  /** `queue`: `group/exec`, an exec, or `*`. In place of earlier limits. */
  | { readonly kind: 'queue-limits'; readonly queue: string; readonly limits: QueueLimits }
  | { readonly kind: 'queue-mode'; readonly queue: string; readonly mode: QueueMode }
  /** Why a job does not run. */
  | { readonly kind: 'explain'; readonly job: number }
  | ScheduleRequest
  | OperatorRequest;

export interface CancelRequest extends ForPrincipal {
  readonly kind: 'cancel';
  readonly job: number;
  readonly reason: string;
}

/** Keys of submits that hold them expire with the key window from now on. */
export interface ReleaseKeys {
  readonly kind: 'release-keys';
  readonly exec: string;
  readonly keys: readonly string[];
}

/** A queue as `queues` shows it. */
export interface QueueView {
  /** `group/exec`, or `*` for all together. */
  readonly queue: string;
  /** Whether its jobs begin, and whether it takes submits. */
  readonly mode: QueueMode;
  /** As an operator has set them. */
  readonly limits: QueueLimits;
  /** When an operator last changed it; 0: never. */
  readonly changedAt: number;
  /** The client that did, and behind its name the principal that it acted for. */
  readonly by: string;
  /** Jobs that may begin now, or that wait for others of their order key. */
  readonly waiting: number;
  /** Jobs among `waiting` that wait for others of their order key. */
  readonly behindKeys: number;
  /** Attempts at once. */
  readonly running: number;
}

/** A dead letter, and the attempt of its death: a redriven job that dies again has a later one. */
export interface DeadAttempt {
  readonly job: number;
  readonly attempt: number;
}

/** A job as `inspect` and `list` show it. */
export interface JobView {
  /** Its number; `jobId` makes the id. */
  readonly job: number;
  /** The name of its definition. */
  readonly exec: string;
  /** Its group, a part of its subjects. */
  readonly group: string;
  /** The submitter: identity and name. */
  readonly client: string;
  /** Where it is in its life. */
  readonly state: JobState;
  /** The number of its last attempt; 0 before the first. */
  readonly attempt: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Workers that were lost with it. */
  readonly crashes: number;
  /** Milliseconds since 1970, on the leader's clock. */
  readonly submittedAt: number;
  /** When it may run next, on the same clock. */
  readonly dueAt: number;
  /** The worker of its last attempt; empty before the first. */
  readonly worker: string;
  /** When it ended; 0 before. */
  readonly endedAt: number;
  /** Why it was cancelled or is dead. */
  readonly reason: string;
  /** The last failure. */
  readonly failure: JobFailure | undefined;
  /** The size of its input. */
  readonly payloadBytes: number;
  /** Its idempotency key. */
  readonly key?: string | undefined;
  /** Its order key, unless it is done or cancelled. */
  readonly orderKey?: string | undefined;
  /** From 0 to 9. Absent: 4. */
  readonly priority?: number | undefined;
  /** Its tags. */
  readonly tags?: readonly string[] | undefined;
  /** Of `inspect`, where its handler has said something. */
  readonly progress?: JobProgress | undefined;
  /**
   * Of `inspect`, where an attempt ended without an output: the latest 20, oldest first. They are in the
   * log; of all jobs together about 16 MiB of them are kept, those of the latest ends.
   */
  readonly attempts?: readonly EndedAttempt[] | undefined;
  /** Of `inspect`: when the running attempt was assigned. Absent: by a leader of an earlier version. */
  readonly startedAt?: number | undefined;
  /** The warm runner that it waits for: all instances are taken, or its worker loads one. */
  readonly waitsForRunner?: string | undefined;
  /** Of a job that was fed. */
  readonly feed?: FeedView | undefined;
  /** Of its worker, while it runs. */
  readonly liveness?: WorkerLiveness | undefined;
  /** How long the event loop of its worker has been blocked. */
  readonly blockedMs?: number | undefined;
}

/** The feed of a job as `inspect` shows it. */
export interface FeedView {
  /** Items that clients have fed. */
  readonly items: number;
  /** Items that the handler of the running attempt has taken. */
  readonly taken: number;
  /** Bytes of items that the leader keeps, with 16 bytes for each. */
  readonly keptBytes: number;
  /** How it ended; empty while it is open. */
  readonly end: 'final' | 'abandoned' | '';
  /** False: it was longer than `feedBytesMax`, its beginning is dropped, and the job is not tried again. */
  readonly isReplayable: boolean;
}

/** How far the latest attempt of a job is, by its handler. Not durable: a restart of the leader loses it. */
export interface JobProgress {
  /** The attempt that it is of. */
  readonly attempt: number;
  /** From 0 to 1; undefined before the first call of `progress`. */
  readonly share: number | undefined;
  /** The latest note; empty: none. */
  readonly note: string;
  /** The latest log lines, oldest first, and when the leader got them. */
  readonly lines: readonly { readonly at: number; readonly text: string }[];
  /** Lines before these that are not kept. */
  readonly dropped: number;
  /** When the leader last heard of it. */
  readonly at: number;
}

/** `blocked`: the process is alive, but its event loop does not run. */
export type WorkerLiveness = 'alive' | 'blocked' | 'gone';

export interface WorkerView {
  /** Identity and name. */
  readonly worker: string;
  /** Whether its process and its event loop are alive. */
  readonly liveness: WorkerLiveness;
  /** How long its event loop has been blocked; 0 unless it is. */
  readonly blockedMs: number;
  /** Attempts it has. */
  readonly running: number;
  /** Handlers that still run although a time limit, a cancel or a fence ended their attempt. */
  readonly overrun: number;
  /** Jobs that it would take now, beside those it has. */
  readonly credit: number;
  /** Attempts it runs at once. */
  readonly slots: number;
  /** The share of one processor that its process uses, 0 to 1. */
  readonly cpu: number;
  /** The delay of its event loop. */
  readonly lagMs: number;
  /** An operator has made it quiet, or stops it: it gets no jobs. */
  readonly quiet?: boolean | undefined;
  /** Its labels. Absent: none. */
  readonly labels?: readonly string[] | undefined;
  /** Its warm runners. Absent: of a leader that does not know them. */
  readonly runners?: readonly RunnerUse[] | undefined;
}

/** The bounded tables of a leader. */
export type LeaderTable =
  | 'jobs'
  | 'jobBytes'
  | 'dead'
  | 'deadBytes'
  | 'keys'
  | 'producers'
  | 'policies'
  | 'results'
  | 'resultBytes'
  | 'spillBytes'
  | 'schedules';

export interface TableUse {
  /** How much of it is used. */
  readonly used: number;
  /** The limit. */
  readonly max: number;
}

/** The part of a table that one identity uses, and its quota. */
export interface QuotaUse extends TableUse {
  /** The identity. */
  readonly identity: string;
  /** The table. */
  readonly table: Exclude<LeaderTable, 'policies' | 'results' | 'resultBytes' | 'spillBytes' | 'schedules'>;
}

/** A limit that is reached, or another reason why submits are refused. */
export interface RefusalReason {
  readonly code: RefusalCode;
  /** With use and limit. */
  readonly problem: string;
}

/** The log of a leader. */
export interface LogUse {
  /** Bytes of its sealed segments. */
  readonly bytes: number;
  /** How long the leader read it when it started. */
  readonly replayMs: number;
  /** Bytes behind the last valid batch that the opening cut; they are in quarantine/. */
  readonly cutBytes: number;
  /** Snapshots that failed since the last one that was made. */
  readonly failedSnapshots: number;
  /** Its segments in use. Absent: a log without segments. */
  readonly segments?: number | undefined;
  /** Its newest snapshot: the last record in it, and its size. Absent: none. */
  readonly snapshot?: { readonly lsn: number; readonly bytes: number } | undefined;
  /** Space on its disk as it was last looked at. Absent: not known. */
  readonly freeBytes?: number | undefined;
  /** From a batch of records to the disk that has it. Absent: of a leader that does not measure it. */
  readonly commitMs?: Quantiles | undefined;
}

/** Jobs in the leader that wait for a warm runner: every worker that serves them has all instances in use. */
export interface RunnerWait {
  /** Its name. */
  readonly runner: string;
  /** How many are due. Cancelled ones count until their turn in the queue. */
  readonly jobs: number;
}

export interface LeaderOverview {
  /** Identifies the leader's folder; a part of every job id. */
  readonly tag: string;
  /** The last durable record. */
  readonly lsn: number;
  /** Jobs by state. */
  readonly counts: Readonly<Record<JobState, number>>;
  /** Jobs accepted in all. */
  readonly accepted: number;
  /** Ended jobs whose retention is over. */
  readonly dropped: number;
  /** Queued jobs that are not due yet. */
  readonly delayed: number;
  /** Payloads of the queued and running jobs. */
  readonly liveBytes: number;
  /** Idempotency keys within their window. */
  readonly keys: number;
  /** Submits are refused until its disk has more space. */
  readonly diskLow: boolean;
  /** Use and limit of every table. */
  readonly tables: Readonly<Record<LeaderTable, TableUse>>;
  /** Identities at four fifths of a quota or above. */
  readonly nearQuotas: readonly QuotaUse[];
  /** Why submits are refused now, all or those of some kind. Empty: they are taken. */
  readonly refusing: readonly RefusalReason[];
  /** Size, reading time and snapshots of the log. */
  readonly log: LogUse;
  /** Jobs that wait for warm runners. Absent: of a leader that does not count them. */
  readonly runnerWaits?: readonly RunnerWait[] | undefined;
  /** The deepest queues, 100 at most. Absent: of a leader that does not know them. */
  readonly execs?: readonly ExecDepth[] | undefined;
  /**
   * How far the clock of the machine was set since the leader started; negative: back. Times of the leader go
   * on without it. Absent: of a leader that does not watch it.
   */
  readonly clockStepMs?: number | undefined;
  /** The workers that the leader knows. */
  readonly workers: readonly WorkerView[];
}

export type AdminAnswer =
  | { readonly kind: 'cancelled'; readonly state: JobState }
  /** `next`: the `after` of the next batch; 0: there is none. */
  | {
      readonly kind: 'cancel-report';
      readonly matched: number;
      readonly cancelled: number;
      readonly next: number;
    }
  | { readonly kind: 'job'; readonly view: JobView }
  | { readonly kind: 'jobs'; readonly views: readonly JobView[] }
  | { readonly kind: 'overview'; readonly overview: LeaderOverview }
  | { readonly kind: 'actors'; readonly actors: LeaderActors }
  /** `total`: the whole input; 0 where it is not kept any more. */
  | { readonly kind: 'input'; readonly from: number; readonly total: number; readonly base64: string }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'dead-attempts'; readonly items: readonly DeadAttempt[] }
  | { readonly kind: 'found'; readonly found: FoundJobs }
  | { readonly kind: 'dead-groups'; readonly groups: readonly DeadLetterGroup[] }
  | { readonly kind: 'audit'; readonly entries: readonly AuditView[] }
  | { readonly kind: 'clients'; readonly clients: readonly ClientView[] }
  | { readonly kind: 'stats'; readonly stats: LeaderStatsView }
  | { readonly kind: 'queues'; readonly queues: readonly QueueView[] }
  | { readonly kind: 'queue'; readonly queue: QueueView }
  | { readonly kind: 'explained'; readonly explanation: JobExplanation }
  | { readonly kind: 'schedule'; readonly view: ScheduleView }
  | { readonly kind: 'schedules'; readonly views: readonly ScheduleView[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly code: RequestRefusalCode; readonly problem: string }
  | { readonly kind: 'unknown'; readonly job: number }
  /** `needed`: the rule that would allow it. */
  | { readonly kind: 'forbidden'; readonly needed: string }
  /** The leader does not know the call, or cannot read it. */
  | { readonly kind: 'unsupported'; readonly problem: string };

/** The most bytes of an input in one answer. */
export const INPUT_PART_BYTES_MAX = 256 * 1024;

/** The most jobs in one redrive, purge or cancel. */
export const BULK_JOBS_MAX = 1_000;
