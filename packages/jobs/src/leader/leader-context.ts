import type { JobsHost } from '../host.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerRecord } from '../ledger/record.js';
import type { Fleet } from './dispatch/fleet.js';
import type { JobQueues } from './dispatch/job-queues.js';
import type { JobsObserver } from './jobs-event.js';
import type { LeaderLimits, LeaderTimes } from './leader-limits.js';
import type { ClientSession } from './sessions/client-session.js';
import type { WorkerSession } from './sessions/worker-session.js';
import type { UncommittedJobs } from './submit/uncommitted-jobs.js';

export type Session = ClientSession | WorkerSession;

/** What the parts of a leader share. Only `stage` leads to a change of the ledger, and only once the record is durable. */
export interface LeaderContext {
  readonly ledger: Ledger;
  readonly queues: JobQueues;
  readonly fleet: Fleet;
  readonly uncommitted: UncommittedJobs;
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  readonly host: JobsHost;
  readonly observe: JobsObserver | undefined;
  /** The time of records: the wall clock's when the leader started, from then on at the pace of the monotonic clock. Never goes back. */
  at(): number;
  /** The leader's own monotonic time. A stall of the leader counts as one tick of it. */
  readonly time: number;
  readonly draining: boolean;
  readonly journalLow: boolean;
  readonly lsn: number;
  stage(record: LedgerRecord, from?: Session, tag?: number): void;
  /** Runs once everything staged so far has been applied: for a command that met something in flight. */
  whenApplied(run: () => void): void;
  /** What the session has to say leaves at the end of this turn. */
  markDirty(session: Session): void;
}
