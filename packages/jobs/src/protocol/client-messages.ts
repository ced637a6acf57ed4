import type { JobPolicy } from '../job/job-policy.js';
import type { Payload } from '../job/payload.js';
import type { JobFailure, RefusalCode } from '../jobs-error.js';
import type { JobState } from '../ledger/job.js';
import type { SessionMessage } from './session-messages.js';

/** The first word of a client. `token` is chosen once per client object and stays over reconnects: it numbers submits. */
export interface ClientHello {
  readonly client: string;
  readonly token: string;
}

/** One submit. `seq` counts from 1; sent again with the same number it is the same submit. */
export interface SubmitItem {
  readonly seq: number;
  /** A policy announced before with `define`. */
  readonly ref: number;
  readonly payload: Payload;
  readonly key: string;
  readonly delayMs: number;
  /** The receipt comes once the submit is durable; with this flag the outcome follows when the job has ended. */
  readonly wantsOutcome: boolean;
}

export type ClientMessage =
  | { readonly kind: 'define'; readonly ref: number; readonly policy: JobPolicy }
  /** `low`: every answer up to this number has arrived. */
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
  /** The client is closed: none of its numbers will be sent again. */
  | { readonly kind: 'close' };

/** How many jobs one redrive or purge names at most. */
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
  /** 0: the same submit will never be taken. */
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

/** How a job ended, or that the leader does not know it. */
export interface JobOutcome {
  readonly job: number;
  readonly state: 'done' | 'dead' | 'cancelled' | 'unknown';
  readonly result: Payload | undefined;
  readonly reason: string;
  readonly failure: JobFailure | undefined;
}

/** What `inspect` and `list` show. */
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
  /** Of the worker that runs it, while it runs. */
  readonly liveness?: Liveness;
  /** For how long that worker's event loop has stood. */
  readonly blockedMs?: number;
}

/** Blocked: the process lives, its event loop stands still. */
export type Liveness = 'alive' | 'blocked' | 'gone';

export interface WorkerView {
  readonly worker: string;
  readonly liveness: Liveness;
  /** For how long its event loop has stood; 0 unless it is blocked. */
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
  /** Submits are refused until there is more space on its disk. */
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
  /** `needed`: the rule that would let it. */
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
