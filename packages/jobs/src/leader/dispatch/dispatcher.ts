// Hot path: the loop of `dispatch` runs once per job.
import type { JobsTimer } from '../../host.js';
import type { LeaderContext } from '../leader-context.js';
import type { Attempts } from './attempts.js';
import type { ExecQueue } from './client-lane.js';

const IN_BATCH = { batchContinues: true };
const ALONE = { batchContinues: false };

/** Brings work that may run together with credit that may run it, whatever came first (A1). */
export class Dispatcher {
  private readonly context: LeaderContext;
  private readonly attempts: Attempts;
  private readonly wake: () => void;
  private dueTimer: JobsTimer | undefined = undefined;
  private dueTimerAt = Number.POSITIVE_INFINITY;

  /** `wake`: a delayed job is due. */
  constructor(context: LeaderContext, attempts: Attempts, wake: () => void) {
    this.context = context;
    this.attempts = attempts;
    this.wake = wake;
  }

  /** Every event ends here. */
  dispatch(): void {
    const { context } = this;
    const { queues, fleet, ledger } = context;
    const wall = context.at();
    queues.promote(wall);
    const stalled: ExecQueue[] = [];
    fleet.startRound();
    while (fleet.hasCredit && !context.draining) {
      const exec = queues.nextExec();
      if (exec === undefined) break;
      const no = queues.peek(exec);
      if (no === 0) continue;
      const job = ledger.jobs.get(no);
      const bytes = job?.payload.length ?? context.uncommitted.bytesOf(no);
      // A job whose worker went away keeps no company: the jobs beside it would be blamed with it.
      const isAlone = job !== undefined && job.crashes > 0;
      const session = isAlone ? fleet.best(exec, bytes) : fleet.pick(exec, bytes);
      if (session === undefined) {
        stalled.push(exec);
        continue;
      }
      this.attempts.grant(no, bytes, session);
      queues.take(exec, !isAlone && fleet.batchContinues ? IN_BATCH : ALONE);
      queues.giveBack(exec);
    }
    for (const exec of stalled) queues.giveBack(exec);
    this.armDueTimer(wall);
  }

  /** A job with a record in flight is being cancelled: it will not be queued when that record is applied. */
  waits(no: number): boolean {
    const job = this.context.ledger.jobs.get(no);
    return job === undefined ? this.context.uncommitted.has(no) : job.state === 'queued' && !job.pending;
  }

  stop(): void {
    this.dueTimer?.cancel();
  }

  /** A delay shorter than a tick is kept to the millisecond. */
  private armDueTimer(wall: number): void {
    const { queues, times, host } = this.context;
    const dueAt = queues.nextDueAt;
    if (dueAt >= this.dueTimerAt || dueAt - wall > times.tickMs) return;
    this.dueTimer?.cancel();
    this.dueTimerAt = dueAt;
    this.dueTimer = host.setTimer(Math.max(0, dueAt - wall), () => {
      this.dueTimerAt = Number.POSITIVE_INFINITY;
      this.dueTimer = undefined;
      this.wake();
    });
  }
}
