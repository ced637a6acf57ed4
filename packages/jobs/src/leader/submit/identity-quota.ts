import type { IdentityUsage } from '../../ledger/identity-usage.js';
import type { Refusal } from '../../protocol/client/client-messages.js';
import type { LeaderParts } from '../leader-context.js';
import { RETRY_AFTER_MS, refusal } from './refusal.js';
import type { IdentityLoad } from './uncommitted-jobs.js';

/** Whether an identity may have another queued job of so many bytes. */
export function jobQuotaProblem(
  { limits, ledger }: LeaderParts<'ledger' | 'limits'>,
  identity: string,
  load: IdentityLoad,
  bytes: number,
): Refusal | undefined {
  const usage = ledger.usages.get(identity);
  const jobs = usage.jobs + load.jobs;
  if (jobs >= limits.jobsPerIdentityMax)
    return full('ERR_QUEUE_FULL', `${jobs} jobs of this identity are waiting or running`);
  const jobBytes = usage.jobBytes + load.bytes + bytes;
  if (jobBytes > limits.jobBytesPerIdentityMax)
    return full('ERR_QUEUE_FULL', `payloads of ${jobBytes} bytes of this identity`);
  return undefined;
}

export function keyQuotaProblem(
  { limits, ledger }: LeaderParts<'ledger' | 'limits'>,
  identity: string,
  load: IdentityLoad,
): Refusal | undefined {
  const keys = ledger.keys.countOf(identity) + load.keys;
  if (keys < limits.keysPerIdentityMax) return undefined;
  return full('ERR_KEY_WINDOW_FULL', `${keys} idempotency keys of this identity are remembered`);
}

/**
 * A submit that may become one more dead letter. An identity is refused at its quota. Where the whole table
 * is full, only those that fill it are refused: an identity with more than its equal share, and of its jobs
 * those with an exec that has more than its equal share. Without keys that is the exec alone.
 */
export function deadQuotaProblem(
  { limits, ledger }: LeaderParts<'ledger' | 'limits'>,
  identity: string | undefined,
  exec: string,
): Refusal | undefined {
  const { dead } = ledger.counts;
  const usage = identity === undefined ? undefined : ledger.usages.get(identity);
  if (usage !== undefined) {
    const { deadPerIdentityMax, deadBytesPerIdentityMax } = limits;
    if (usage.dead >= deadPerIdentityMax || usage.deadBytes >= deadBytesPerIdentityMax)
      return deadFull(`${usage.dead} dead letters of this identity, ${usage.deadBytes} bytes`);
  }
  if (dead < limits.deadMax && ledger.deadBytes < limits.deadBytesMax) return undefined;
  if (usage !== undefined && usage.dead * ledger.usages.deadHolders < dead) return undefined;
  if (!fillsShare(usage ?? ledger.usages.get(''), exec)) return undefined;
  return deadFull(`${dead} dead letters, ${ledger.deadBytes} bytes, many of them with exec ${exec}`);
}

function fillsShare({ dead, deadByExec }: IdentityUsage, exec: string): boolean {
  return (deadByExec.get(exec) ?? 0) * deadByExec.size >= dead;
}

function deadFull(problem: string): Refusal {
  return full('ERR_DEAD_LETTERS_FULL', `${problem}; redrive or purge`);
}

function full(code: Refusal['code'], problem: string): Refusal {
  return refusal(code, problem, RETRY_AFTER_MS);
}
