import type { JobFailure } from '../../jobs-error.js';

/** How an attempt ended; `released`: it counts as nothing, because its worker gave it back or never began. */
export type AttemptEnding =
  | 'done'
  | 'failed'
  | 'final'
  | 'timed-out'
  | 'worker-lost'
  | 'quarantined'
  | 'released'
  | 'cancelled'
  | 'payload-lost'
  | 'feed-dropped';

/** One attempt that has ended. */
export interface EndedAttempt {
  /** Its number. */
  readonly attempt: number;
  /** The worker that had it: identity and name. Empty: not known. */
  readonly worker: string;
  /**
   * When it was assigned, in milliseconds since 1970, on the leader's clock; 0: its leader was of a version
   * that kept no times.
   */
  readonly startedAt: number;
  /** When it ended, on the same clock. */
  readonly endedAt: number;
  /** How it ended. */
  readonly ending: AttemptEnding;
  /** The error of its handler, or what befell it. */
  readonly failure?: JobFailure | undefined;
}
