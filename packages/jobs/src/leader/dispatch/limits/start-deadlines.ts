import { TimedHeap } from '../../../collections/timed-heap.js';
import type { LeaderJob, LeaderParts } from '../../leader-context.js';
import { TURN_JOBS_MAX } from '../../options/leader-limits.js';

/** Queued jobs whose first attempt must begin by a time. Jobs that began, or have ended, are skipped. */
export class StartDeadlines {
  private readonly context: LeaderParts<'ledger' | 'stage'>;
  private readonly heap = new TimedHeap();

  constructor(context: StartDeadlines['context']) {
    this.context = context;
  }

  get nextAt(): number {
    return this.heap.nextAt;
  }

  /** The job is in the ledger and queued. */
  add({ no, at, dueAt, attempt, policy }: LeaderJob): void {
    if (policy.startWithinMs === undefined || attempt > 0) return;
    this.heap.push(Math.max(at, dueAt) + policy.startWithinMs, no);
  }

  /** Ends the jobs whose time is over, a bounded number. False: there are more, and none may begin. */
  expire(now: number): boolean {
    for (let left = TURN_JOBS_MAX; this.heap.nextAt <= now && left > 0; left -= 1) {
      const job = this.context.ledger.jobs.get(this.heap.pop() as number);
      if (job === undefined || job.state !== 'queued' || job.attempt > 0 || job.pending) continue;
      job.pending = true;
      this.context.stage({ type: 'expire', at: now, job: job.no });
    }
    return this.heap.nextAt > now;
  }
}
