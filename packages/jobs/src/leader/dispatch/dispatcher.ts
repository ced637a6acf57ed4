// Hot path: the loop of `dispatch` runs once per job.
import type { LeaderParts } from '../leader-context.js';
import { TURN_JOBS_MAX } from '../options/leader-limits.js';
import type { AttemptLifecycle } from './attempt-lifecycle.js';
import type { ExecQueue } from './exec-queue.js';
import { StartDeadlines } from './limits/start-deadlines.js';

const IN_BATCH = { batchContinues: true };
const ALONE = { batchContinues: false };

/** Matches queued jobs with the credit of workers, whichever came first. */
export class Dispatcher {
  private readonly context: LeaderParts<
    'draining' | 'effects' | 'fleet' | 'ledger' | 'queues' | 'recordTime' | 'stage' | 'times' | 'uncommitted'
  >;
  private readonly attempts: AttemptLifecycle;
  readonly deadlines: StartDeadlines;
  private dueTimerAt = Number.POSITIVE_INFINITY;

  constructor(context: Dispatcher['context'], attempts: AttemptLifecycle) {
    this.context = context;
    this.attempts = attempts;
    this.deadlines = new StartDeadlines(context);
  }

  /** Runs at the end of every turn. True: there is more to assign. */
  dispatch(): boolean {
    const { context } = this;
    const { queues, fleet, ledger, uncommitted } = context;
    const now = context.recordTime;
    const isPromoted = queues.promote(now);
    const areExpired = this.deadlines.expire(now);
    const stalled: ExecQueue[] = [];
    fleet.startRound();
    let left = TURN_JOBS_MAX;
    while (left > 0 && fleet.hasCredit && !context.draining && areExpired) {
      const queue = queues.takeQueue();
      if (queue === undefined) break;
      const no = queues.peek(queue);
      if (no === 0) continue;
      const job = ledger.jobs.get(no);
      if (job === undefined && uncommitted.isLate(no, now)) {
        stalled.push(queue);
        continue;
      }
      const bytes = job?.payload.length ?? uncommitted.bytesOf(no);
      // A stream is never short, so it neither waits in a batch nor makes others wait in one.
      const { feature } = queue;
      // A job that crashed a worker runs outside batches, so that other jobs are not quarantined with it.
      const isAlone = feature !== undefined || (job !== undefined && job.crashes > 0);
      const hint = queue.sticky ? queues.orderGates.hintOf(no) : undefined;
      const session =
        (hint === undefined ? undefined : fleet.preferred(hint, queue, bytes)) ??
        (isAlone ? fleet.leastLoaded(queue, bytes) : fleet.pick(queue, bytes));
      if (session === undefined) {
        stalled.push(queue);
        continue;
      }
      left -= 1;
      if (queue.sticky) queues.orderGates.setHint(no, session.name);
      this.attempts.assign(no, bytes, session, queue);
      queues.take(queue, !isAlone && fleet.batchContinues ? IN_BATCH : ALONE);
      queues.returnQueue(queue);
    }
    for (const queue of stalled) queues.returnQueue(queue);
    this.armDueTimer(now);
    return left === 0 || !isPromoted || !areExpired;
  }

  /** Whether the job is still to be assigned. A queued job with a pending record is being cancelled. */
  isWaiting(no: number): boolean {
    const job = this.context.ledger.jobs.get(no);
    return job === undefined ? this.context.uncommitted.contains(no) : job.state === 'queued' && !job.pending;
  }

  /** Since when the job may begin; one that is not in the ledger yet, since now. */
  waitsSince(no: number): number {
    const job = this.context.ledger.jobs.get(no);
    return job === undefined ? this.context.recordTime : this.context.ledger.waitsSince(job);
  }

  /** The dispatch of the next turn takes what is due. */
  dueTimerEnded(): void {
    this.dueTimerAt = Number.POSITIVE_INFINITY;
  }

  /** A delay shorter than a tick is exact to the millisecond. */
  private armDueTimer(now: number): void {
    const { queues, times, effects } = this.context;
    const dueAt = Math.min(queues.nextDueAt, this.deadlines.nextAt);
    if (dueAt >= this.dueTimerAt || dueAt - now > times.tickMs) return;
    this.dueTimerAt = dueAt;
    effects.startDueTimer(Math.max(0, dueAt - now));
  }
}
