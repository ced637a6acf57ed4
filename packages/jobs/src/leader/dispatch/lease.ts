import type { LeaderJob } from '../leader-context.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** One attempt that one worker session holds. */
export class Lease {
  readonly job: LeaderJob;
  readonly attempt: number;
  session: WorkerSession;
  /** Its index in the session's list of leases. */
  index = -1;
  startedAt: number;
  /** Record time of its assignment; 0: by an earlier leader. */
  assignedAt = 0;
  /**
   * The credit for it was spent by an earlier session of the worker, so it is not sent to the present one.
   */
  unpaid = false;
  /** Its end was decided here, and the record is on its way: a worker that has the attempt must stop it. */
  isRevoked = false;

  constructor(job: LeaderJob, attempt: number, session: WorkerSession, startedAt: number) {
    this.job = job;
    this.attempt = attempt;
    this.session = session;
    this.startedAt = startedAt;
  }
}
