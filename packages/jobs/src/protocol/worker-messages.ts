import type { Payload } from '../job/payload.js';
import type { JobFailure, SessionRefusalCode } from '../jobs-error.js';

/** Names one attempt of one job: the fence on everything a worker says. */
export interface AttemptRef {
  readonly job: number;
  readonly attempt: number;
}

/** The same attempt of so many jobs with numbers in a row. */
export interface AttemptRun extends AttemptRef {
  readonly count: number;
}

/** The first word of a worker. `incarnation` is new for every process; over a reconnect it stays. */
export interface WorkerHello {
  readonly worker: string;
  readonly incarnation: string;
  /** What it has code for: `group/exec`, or the exec alone where it takes it in every group. */
  readonly execs: readonly string[];
  /** Which `job.assign.{group}.{worker}` it takes. */
  readonly patterns: readonly string[];
  readonly slots: number;
  readonly credit: Credit;
  /** What its pulse will show (ADR 0057); without one, silence means blocked. */
  readonly pulse?: string;
  /** Attempts it still has in hand, running or finished and not yet settled. */
  readonly held: readonly AttemptRef[];
}

/** The first word of a worker's pulse, from another thread of the same process. */
export interface PulseHello {
  readonly worker: string;
  readonly incarnation: string;
  /** What the worker's hello named as its pulse. */
  readonly token: string;
}

/** For how long the worker's event loop has stood; 0: it turns again, and this is the last word. */
export interface PulseBeat {
  readonly blockedMs: number;
}

/** Totals of this session: what the worker has ever granted (ADR 0052). */
export interface Credit {
  readonly jobs: number;
  readonly bytes: number;
}

export type AttemptEnd =
  | { readonly outcome: 'ok'; readonly job: number; readonly attempt: number; readonly result: Payload }
  | {
      readonly outcome: 'failed' | 'final' | 'timed-out';
      readonly job: number;
      readonly attempt: number;
      readonly failure: JobFailure;
    }
  | { readonly outcome: 'released'; readonly job: number; readonly attempt: number };

export type WorkerMessage =
  /** Also the beat that renews the leases of this session, whether or not an attempt ended. */
  | {
      readonly kind: 'report';
      readonly ends: readonly AttemptEnd[];
      readonly credit: Credit;
      readonly cpu: number;
      readonly lagMs: number;
      /** How long the attempts that ended ran, together. Absent where it was not measured. */
      readonly runMs?: number;
    }
  /** The worker takes nothing more. Credit that was out is void. */
  | { readonly kind: 'quiet' };

export interface Assignment extends AttemptRef {
  readonly exec: string;
  readonly payload: Payload;
  readonly client: string;
  readonly runMs: number;
  readonly outputBytes: number;
}

export type ToWorker =
  /** The session is over: nothing sent on it counts. */
  | { readonly kind: 'refused'; readonly code: SessionRefusalCode; readonly problem: string }
  | { readonly kind: 'welcome'; readonly tag: string; readonly beatMs: number }
  | { readonly kind: 'assign'; readonly items: readonly Assignment[] }
  /** The end of an attempt is recorded, or was stale: either way the worker may forget it. */
  | { readonly kind: 'settled'; readonly items: readonly AttemptRun[] }
  | {
      readonly kind: 'abort';
      readonly items: readonly (AttemptRef & { readonly reason: 'cancelled' | 'fenced' })[];
    }
  | { readonly kind: 'beat' };
