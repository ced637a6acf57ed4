import type { Job } from '../../ledger/job.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** One attempt in the hands of one worker session. */
export class Lease {
  readonly job: Job;
  readonly attempt: number;
  session: WorkerSession;
  /** Its place among the session's leases. */
  index = -1;
  startedAt: number;
  /** The session that paid for it is gone; its worker's next session did not, so it is not sent there. */
  unpaid = false;

  constructor(job: Job, attempt: number, session: WorkerSession, startedAt: number) {
    this.job = job;
    this.attempt = attempt;
    this.session = session;
    this.startedAt = startedAt;
  }
}

/** The field belongs to the leader; only this file and `grant` write it, always with a Lease. */
export function leaseOf(job: Job): Lease | undefined {
  return job.lease as Lease | undefined;
}
