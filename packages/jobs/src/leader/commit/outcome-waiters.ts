import type { Job } from '../../ledger/job.js';
import type { JobOutcome } from '../../protocol/client-messages.js';
import type { LeaderContext } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/** Promises the outcome to a session: at once if the job has ended. */
export function awaitOutcome(context: LeaderContext, no: number, session: ClientSession): void {
  const known = context.ledger.jobs.get(no);
  const job = known !== undefined && session.may('observe', known) ? known : undefined;
  if (job !== undefined && job.end === undefined) {
    addWaiter(job, session);
    return;
  }
  session.outcome(job === undefined ? unknownOutcome(no) : outcomeOf(job));
  context.markDirty(session);
}

export function tellWaiters(context: LeaderContext, job: Job): void {
  const waiters = job.waiters as ClientSession | ClientSession[] | undefined;
  if (waiters === undefined) return;
  job.waiters = undefined;
  const outcome = outcomeOf(job);
  for (const session of Array.isArray(waiters) ? waiters : [waiters]) {
    session.outcome(outcome);
    context.markDirty(session);
  }
}

/** One waiter is the usual case and costs no array. The field is written in this file only. */
function addWaiter(job: Job, session: ClientSession): void {
  const waiters = job.waiters as ClientSession | ClientSession[] | undefined;
  if (waiters === undefined) {
    job.waiters = session;
    return;
  }
  const all = Array.isArray(waiters) ? waiters : [waiters];
  if (all.includes(session)) return;
  const open = all.filter((one) => !one.closed);
  job.waiters = open.length === 0 ? session : [...open, session];
}

function outcomeOf(job: Job): JobOutcome {
  return {
    job: job.no,
    state: job.state as JobOutcome['state'],
    result: job.end?.result,
    reason: job.end?.reason ?? '',
    failure: job.end?.failure,
  };
}

function unknownOutcome(job: number): JobOutcome {
  return { job, state: 'unknown', result: undefined, reason: '', failure: undefined };
}
