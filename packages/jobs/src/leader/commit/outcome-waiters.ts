import type { JobOutcome } from '../../protocol/client/client-messages.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/**
 * The sessions that wait for the outcome of one job. A single waiter is the usual case and costs no array.
 */
export type OutcomeWaiters = ClientSession | ClientSession[];

/** Sends the outcome to a session: at once if the job has ended, otherwise when it does. */
export function awaitOutcome(
  context: LeaderParts<'ledger' | 'markDirty' | 'recordTime'>,
  no: number,
  session: ClientSession,
): void {
  const known = context.ledger.jobs.get(no);
  const isThere = known !== undefined && !context.ledger.isExpired(known, context.recordTime);
  const job = isThere && session.permits('observe', known) ? known : undefined;
  if (job !== undefined && job.end === undefined) {
    addWaiter(job, session);
    return;
  }
  session.addOutcome(job === undefined ? unknownOutcome(no) : outcomeOf(job));
  context.markDirty(session);
}

/** The job has ended. */
export function notifyWaiters(
  context: LeaderParts<'ledger' | 'markDirty' | 'recordTime'>,
  job: LeaderJob,
): void {
  const { waiters } = job;
  if (waiters === undefined) return;
  job.waiters = undefined;
  const outcome = outcomeOf(job);
  for (const session of Array.isArray(waiters) ? waiters : [waiters]) {
    session.addOutcome(outcome);
    context.markDirty(session);
  }
}

function addWaiter(job: LeaderJob, session: ClientSession): void {
  const { waiters } = job;
  if (waiters === undefined) {
    job.waiters = session;
    return;
  }
  const all = Array.isArray(waiters) ? waiters : [waiters];
  if (all.includes(session)) return;
  const open = all.filter((one) => !one.closed);
  job.waiters = open.length === 0 ? session : [...open, session];
}

export function outcomeOf(job: LeaderJob): JobOutcome {
  return {
    job: job.no,
    state: job.state as JobOutcome['state'],
    result: job.end?.result,
    reason: job.end?.reason ?? '',
    failure: job.end?.failure,
    ...(job.end?.metadata === undefined ? {} : { metadata: job.end.metadata }),
  };
}

export function unknownOutcome(job: number): JobOutcome {
  return { job, state: 'unknown', result: undefined, reason: '', failure: undefined };
}
