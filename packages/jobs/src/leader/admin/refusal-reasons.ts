import type { RefusalReason } from '../../protocol/client/admin-messages.js';
import type { LeaderParts } from '../leader-context.js';

/** The reasons for which a leader refuses submits now, each with use and limit. Empty: it takes them. */
export function refusalReasons(
  context: LeaderParts<'diskRefusal' | 'draining' | 'ledger' | 'limits'>,
): RefusalReason[] {
  const { ledger, limits } = context;
  const reasons: RefusalReason[] = [];
  const add = (isReached: boolean, code: RefusalReason['code'], problem: string): void => {
    if (isReached) reasons.push({ code, problem });
  };
  const full = (code: RefusalReason['code'], what: string, used: number, max: number): void =>
    add(used >= max, code, `${used} ${what}, at most ${max}`);
  add(context.draining, 'ERR_LEADER_DRAINING', 'the leader is shutting down');
  const { diskRefusal } = context;
  if (diskRefusal !== undefined) reasons.push(diskRefusal);
  full(
    'ERR_QUEUE_FULL',
    'jobs waiting or running',
    ledger.counts.queued + ledger.counts.running,
    limits.jobsMax,
  );
  full('ERR_QUEUE_FULL', 'bytes of payloads', ledger.liveBytes, limits.jobBytesMax);
  full('ERR_DEAD_LETTERS_FULL', 'dead letters', ledger.counts.dead, limits.deadMax);
  full('ERR_DEAD_LETTERS_FULL', 'bytes of dead letters', ledger.deadBytes, limits.deadBytesMax);
  full('ERR_KEY_WINDOW_FULL', 'idempotency keys', ledger.keys.size, limits.keysMax);
  full('ERR_PRODUCERS_FULL', 'clients that submit', ledger.producers.size, limits.producersMax);
  full('ERR_POLICIES_FULL', 'job definitions', ledger.policies.size, limits.policiesMax);
  return reasons;
}
