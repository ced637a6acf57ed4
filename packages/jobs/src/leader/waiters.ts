import type { Job } from '../ledger/job.js';
import type { JobOutcome } from '../protocol/client-messages.js';
import type { ClientSession } from './client-session.js';
import type { LeaderContext } from './leader-context.js';

/** Promises the outcome to a session: at once if the job has ended. */
export function awaitOutcome(context: LeaderContext, no: number, session: ClientSession): void {
  const known = context.ledger.jobs.get(no);
  const job = known !== undefined && session.may('observe', known) ? known : undefined;
  if (job !== undefined && job.end === undefined) {
    addWaiter(job, session);
    return;
  }
  session.outcome(job === undefined ? unknownOutcome(no) : outcomeOf(job));
  context.list(session);
}

export function tellWaiters(context: LeaderContext, job: Job): void {
  const waiters = job.waiters as ClientSession | ClientSession[] | undefined;
  if (waiters === undefined) return;
  job.waiters = undefined;
  const outcome = outcomeOf(job);
  for (const session of Array.isArray(waiters) ? waiters : [waiters]) {
    session.outcome(outcome);
    context.list(session);
  }
}

/** One waiter is the usual case and costs no array. The field is written here only. */
function addWaiter(job: Job, session: ClientSession): void {
  const waiters = job.waiters as ClientSession | ClientSession[] | undefined;
  if (waiters === undefined) job.waiters = session;
  else if (!Array.isArray(waiters)) {
    if (waiters !== session) job.waiters = waiters.closed ? session : [waiters, session];
  } else if (!waiters.includes(session)) {
    job.waiters = [...waiters.filter((one) => !one.closed), session];
  }
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
