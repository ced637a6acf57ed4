import type { ClientView } from '../../protocol/client/operator-messages.js';
import type { LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/** The clients that are connected, with the limits that they meet. */
export function clientViews(
  { ledger, limits, queues }: LeaderParts<'ledger' | 'limits' | 'queues'>,
  sessions: Iterable<ClientSession>,
): ClientView[] {
  return Array.from(sessions, (session) => {
    const { client, identity, openedAt, numbering, refusals } = session;
    return {
      client,
      since: openedAt,
      unanswered: numbering.uncommitted.size,
      unansweredMax: limits.outstandingMax,
      running: queues.runningOf(client),
      runningMax: limits.clientRunningMax,
      jobs: ledger.usages.get(identity ?? '').jobs,
      jobsMax: identity === undefined ? limits.jobsMax : limits.jobsPerIdentityMax,
      refusals: Object.fromEntries(refusals),
    };
  });
}
