import type { JobPolicy } from '../job/job-policy.js';
import type { Payload } from '../job/payload.js';
import type { JobFailure, RefusalCode } from '../jobs-error.js';
import type { JobState } from '../ledger/jobs/job.js';
import type { SessionMessage } from './session-messages.js';

/** A client's first message. `token` identifies the client object and stays over reconnects. */
export interface ClientHello {
  readonly client: string;
  readonly token: string;
}

/** One submit. `seq` counts from 1; repeated under the same number it is the same submit. */
export interface SubmitItem {
  readonly seq: number;
  /** A policy announced before with `define`. */
  readonly ref: number;
  readonly payload: Payload;
  readonly key: string;
  readonly delayMs: number;
  /**
   * The receipt comes once the submit is durable; with this flag the outcome follows when the job has ended.
   */
  readonly wantsOutcome: boolean;
}

export type ClientMessage =
  | { readonly kind: 'define'; readonly ref: number; readonly policy: JobPolicy }
  /** `low`: every receipt up to this number has arrived. */
  | { readonly kind: 'submit'; readonly low: number; readonly items: readonly SubmitItem[] }
  | {
      readonly kind: 'submit_all';
      readonly low: number;
      readonly seq: number;
      readonly items: readonly SubmitItem[];
    }
  | { readonly kind: 'await'; readonly jobs: readonly number[] }
  | { readonly kind: 'call'; readonly call: number; readonly request: AdminRequest }
  | { readonly kind: 'heartbeat' }
  /** The client is closed: its token is never used again. */
  | { readonly kind: 'close' };

/** The most jobs in one redrive or purge. */
export const BULK_JOBS_MAX = 1_000;

export type AdminRequest =
  | { readonly kind: 'cancel'; readonly job: number; readonly reason: string }
  | { readonly kind: 'inspect'; readonly job: number }
  | { readonly kind: 'overview' }
  | { readonly kind: 'list'; readonly state: JobState; readonly after: number; readonly max: number }
  | { readonly kind: 'redrive'; readonly jobs: readonly number[] }
  | { readonly kind: 'purge'; readonly jobs: readonly number[] };

export interface Refusal {
  readonly code: RefusalCode;
  readonly problem: string;
  /** 0: the same submit will never be accepted. */
  readonly retryAfterMs: number;
}

/** `jobs`: one number for a submit, one for each item of a `submit_all`. */
export interface Receipt {
  readonly seq: number;
  readonly jobs: readonly number[];
  readonly lsn: number;
  readonly duplicate: boolean;
  readonly refusal: Refusal | undefined;
}

/** The end of a job; `unknown` if the leader does not know it. */
export interface JobOutcome {
  readonly job: number;
  readonly state: 'done' | 'dead' | 'cancelled' | 'unknown';
  readonly result: Payload | undefined;
  readonly reason: string;
  readonly failure: JobFailure | undefined;
}

/** A job as `inspect` and `list` show it. */
export interface JobView {
  readonly job: number;
  readonly exec: string;
  readonly group: string;
  readonly client: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly failures: number;
  readonly crashes: number;
  readonly submittedAt: number;
  readonly dueAt: number;
  readonly worker: string;
  readonly endedAt: number;
  readonly reason: string;
  readonly failure: JobFailure | undefined;
  readonly payloadBytes: number;
  /** Of its worker, while it runs. */
  readonly liveness?: Liveness | undefined;
  /** How long the event loop of its worker has been blocked. */
  readonly blockedMs?: number | undefined;
}

/** `blocked`: the process is alive, but its event loop does not run. */
export type Liveness = 'alive' | 'blocked' | 'gone';

export interface WorkerView {
  readonly worker: string;
  readonly liveness: Liveness;
  /** How long its event loop has been blocked; 0 unless it is. */
  readonly blockedMs: number;
  readonly running: number;
  readonly credit: number;
  readonly slots: number;
  readonly cpu: number;
  readonly lagMs: number;
}

export interface LeaderOverview {
  readonly tag: string;
  readonly lsn: number;
  readonly counts: Readonly<Record<JobState, number>>;
  readonly accepted: number;
  readonly dropped: number;
  readonly delayed: number;
  readonly liveBytes: number;
  readonly keys: number;
  /** Submits are refused until its disk has more space. */
  readonly diskLow: boolean;
  readonly workers: readonly WorkerView[];
}

export type AdminAnswer =
  | { readonly kind: 'cancelled'; readonly state: JobState }
  | { readonly kind: 'job'; readonly view: JobView }
  | { readonly kind: 'jobs'; readonly views: readonly JobView[] }
  | { readonly kind: 'overview'; readonly overview: LeaderOverview }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'unknown'; readonly job: number }
  /** `needed`: the rule that would allow it. */
  | { readonly kind: 'forbidden'; readonly needed: string };

export type ToClient =
  | SessionMessage
  | {
      readonly kind: 'welcome';
      readonly tag: string;
      readonly outstandingMax: number;
      readonly payloadBytesMax: number;
    }
  | { readonly kind: 'receipts'; readonly items: readonly Receipt[] }
  | { readonly kind: 'outcomes'; readonly items: readonly JobOutcome[] }
  | { readonly kind: 'answer'; readonly call: number; readonly answer: AdminAnswer };
