import type { Job } from '../../ledger/jobs/job.js';
import type { WaitingJobs } from './job-queues.js';

/** Jobs with an order key that a restart has still to put back, in the order in which they enter. */
export class RestoredJobs {
  private jobs: Job[] = [];

  add(job: Job): void {
    this.jobs.push(job);
  }

  takeInOrder(waiting: Pick<WaitingJobs, 'isRedriven'>): readonly Job[] {
    const { jobs } = this;
    this.jobs = [];
    const joinTime = ({ no, attempt, at, dueAt }: Job): number => {
      if (attempt === 0) return Math.max(at, dueAt);
      return waiting.isRedriven(no) ? BEHIND_BEGUN : BEGUN;
    };
    return jobs.sort((one, other) => joinTime(one) - joinTime(other) || one.no - other.no);
  }
}

/**
 * When a job joins the others of its key: one between two attempts or returned first, then a redriven one,
 * then those that have not begun, by their times.
 */
const BEGUN = -1;
const BEHIND_BEGUN = 0;
