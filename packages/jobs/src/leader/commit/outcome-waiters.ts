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
  session.outcome(job === undefined ? unknownOutcome(no) : outcomeOf(job, 0));
  context.list(session);
}

/** Promises a job that was just taken, and is nobody else's yet, an answer that is receipt and outcome in one. */
export function holdReceipt(job: Job, seq: number, lsn: number, session: ClientSession): void {
  job.waiters = session;
  job.ticket = seq;
  session.hold(job, lsn);
}

export function tellWaiters(context: LeaderContext, job: Job): void {
  const waiters = job.waiters as ClientSession | ClientSession[] | undefined;
  if (waiters === undefined) return;
  job.waiters = undefined;
  let seq = job.ticket;
  job.ticket = 0;
  for (const session of Array.isArray(waiters) ? waiters : [waiters]) {
    if (seq !== 0) session.release();
    session.outcome(outcomeOf(job, seq));
    context.list(session);
    seq = 0;
  }
}

/** One waiter is the usual case and costs no array. The field is written in this file only; a ticket goes with the first of them. */
function addWaiter(job: Job, session: ClientSession): void {
  const waiters = job.waiters as ClientSession | ClientSession[] | undefined;
  if (waiters === undefined) {
    job.waiters = session;
    return;
  }
  const all = Array.isArray(waiters) ? waiters : [waiters];
  if (all.includes(session)) return;
  if (all[0]?.closed === true) job.ticket = 0;
  const open = all.filter((one) => !one.closed);
  job.waiters = open.length === 0 ? session : [...open, session];
}

function outcomeOf(job: Job, seq: number): JobOutcome {
  return {
    job: job.no,
    seq,
    state: job.state as JobOutcome['state'],
    result: job.end?.result,
    reason: job.end?.reason ?? '',
    failure: job.end?.failure,
  };
}

function unknownOutcome(job: number): JobOutcome {
  return { job, seq: 0, state: 'unknown', result: undefined, reason: '', failure: undefined };
}
