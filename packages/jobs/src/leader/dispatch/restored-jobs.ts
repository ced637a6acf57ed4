import type { Job } from '../../ledger/jobs/job.js';

/** Jobs with an order key that a restart has still to put back, in the order in which they enter. */
export class RestoredJobs {
  private jobs: Job[] = [];

  add(job: Job): void {
    this.jobs.push(job);
  }

  takeInOrder(): readonly Job[] {
    const { jobs } = this;
    this.jobs = [];
    return jobs.sort((one, other) => joinTime(one) - joinTime(other) || one.no - other.no);
  }
}

/**
 * When it joins the others of its key: one between two attempts first, then one that was redriven or
 * returned, then those that have not begun.
 */
function joinTime({ attempt, at, dueAt, failures, crashes }: Job): number {
  if (attempt === 0) return Math.max(at, dueAt);
  return failures + crashes > 0 || dueAt > 0 ? -1 : 0;
}
