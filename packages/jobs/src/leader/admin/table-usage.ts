import type { LeaderTable, QuotaUse, TableUse } from '../../protocol/client/admin-messages.js';
import type { LeaderParts } from '../leader-context.js';
import type { LeaderLimits } from '../options/leader-limits.js';

/** From this part of a quota on, an identity is shown. */
const SHOWN_FROM = 0.8;

/** Use and limit of every table of the leader. */
export function tableUses({
  ledger,
  limits,
  spillBytes,
}: LeaderParts<'ledger' | 'limits' | 'spillBytes'>): Readonly<Record<LeaderTable, TableUse>> {
  const { queued, running, dead } = ledger.counts;
  return {
    jobs: { used: queued + running, max: limits.jobsMax },
    jobBytes: { used: ledger.liveBytes, max: limits.jobBytesMax },
    dead: { used: dead, max: limits.deadMax },
    deadBytes: { used: ledger.deadBytes, max: limits.deadBytesMax },
    keys: { used: ledger.keys.size, max: limits.keysMax },
    producers: { used: ledger.producers.size, max: limits.producersMax },
    policies: { used: ledger.policies.size, max: limits.policiesMax },
    results: { used: ledger.ended.size, max: limits.resultsMax },
    resultBytes: { used: ledger.resultBytes, max: limits.resultsBytesMax },
    spillBytes: { used: spillBytes, max: limits.spillBytesMax },
    schedules: { used: ledger.schedules.size, max: limits.schedulesMax },
  };
}

/** Identities that have most of a quota; none without keys. */
export function nearQuotas({ ledger, limits }: LeaderParts<'ledger' | 'limits'>): readonly QuotaUse[] {
  const all: QuotaUse[] = [];
  for (const [identity, usage] of ledger.usages.entries()) {
    if (identity === '') continue;
    const { jobs, jobBytes, dead, deadBytes, producers } = usage;
    const used = { jobs, jobBytes, dead, deadBytes, producers, keys: ledger.keys.countOf(identity) };
    for (const [table, use] of Object.entries(used) as [keyof typeof used, number][]) {
      const max = quotaOf(limits, table);
      if (use >= SHOWN_FROM * max) all.push({ identity, table, used: use, max });
    }
  }
  return all;
}

function quotaOf(limits: LeaderLimits, table: QuotaUse['table']): number {
  switch (table) {
    case 'jobs':
      return limits.jobsPerIdentityMax;
    case 'jobBytes':
      return limits.jobBytesPerIdentityMax;
    case 'dead':
      return limits.deadPerIdentityMax;
    case 'deadBytes':
      return limits.deadBytesPerIdentityMax;
    case 'keys':
      return limits.keysPerIdentityMax;
    case 'producers':
      return limits.producersPerIdentityMax;
    default:
      return table satisfies never;
  }
}
