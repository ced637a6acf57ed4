import type { JobsClock } from '../jobs-host.js';
import type { Journal } from '../journal/journal.js';
import type { Job } from '../ledger/jobs/job.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';
import type { LogUse } from '../protocol/client/admin-messages.js';
import type { OutcomeWaiters } from './commit/outcome-waiters.js';
import type { Fleet } from './dispatch/fleet.js';
import type { JobQueues } from './dispatch/job-queues.js';
import type { Lease } from './dispatch/lease.js';
import type { JobsObserver } from './jobs-event.js';
import type { LeaderEffects } from './leader-effects.js';
import type { LeaderLimits, LeaderTimes } from './options/leader-limits.js';
import type { JobIndex } from './search/job-index.js';
import type { ClientSession } from './sessions/client-session.js';
import type { WorkerSession } from './sessions/worker-session.js';
import type { LeaderStats } from './stats/exec-stats.js';
import type { DiskRefusal } from './submit/disk-refusal.js';
import type { UncommittedJobs } from './submit/uncommitted-jobs.js';

export type Session = ClientSession | WorkerSession;

/** The state of a leader that hangs on a job: it is never stored, and `apply` does not read it. */
export interface LeaderState {
  readonly lease: Lease;
  readonly waiters: OutcomeWaiters;
}

export type LeaderJob = Job<LeaderState>;
export type LeaderLedger = Ledger<LeaderState>;

/**
 * Shared by the parts of a leader. Only `stage` leads to a change of the ledger, and only once the record is
 * durable.
 */
export interface LeaderContext {
  readonly ledger: LeaderLedger;
  readonly queues: JobQueues;
  readonly fleet: Fleet;
  readonly uncommitted: UncommittedJobs;
  readonly index: JobIndex;
  readonly stats: LeaderStats;
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  /** The labels that jobs may require; undefined: any. */
  readonly labels: readonly string[] | undefined;
  readonly clock: JobsClock;
  readonly effects: LeaderEffects;
  readonly observe: JobsObserver | undefined;
  /**
   * Read once a turn. The wall clock's time when the leader started, from then on by the monotonic clock.
   * Never goes back.
   */
  readonly recordTime: number;
  /** How far the wall clock was set since the leader started. */
  readonly wallStepMs: number;
  /**
   * The leader's own monotonic time, for leases and liveness. A stall of the leader counts as two ticks of it
   * at most.
   */
  readonly leaseTime: number;
  readonly journal: Journal;
  /** The largest record: a payload at its limit, or a whole batch. */
  readonly recordBytesMax: number;
  readonly draining: boolean;
  readonly diskLow: boolean;
  /** Why new work is refused for the disk of the log; undefined: it is not. */
  readonly diskRefusal: DiskRefusal | undefined;
  readonly logUse: LogUse;
  readonly lsn: number;
  /** Bytes of the files of streams. */
  readonly spillBytes: number;
  /** `from` and `tag` come back with the record once it is durable and applied. */
  stage(record: LedgerRecord, from?: Session, tag?: number): void;
  /**
   * Runs once every record staged so far has been applied: for a command about a job whose record is not
   * durable yet.
   */
  whenApplied(run: () => void): void;
  /** Chunks of the running attempt of a job that streams; undefined: it does not, or none is known. */
  chunkCount(job: LeaderJob): number | undefined;
  /** The session has messages; they leave at the end of this turn. */
  markDirty(session: Session): void;
}

/** The parts of a leader that one of them touches, by name. */
export type LeaderParts<K extends keyof LeaderContext> = Pick<LeaderContext, K>;
