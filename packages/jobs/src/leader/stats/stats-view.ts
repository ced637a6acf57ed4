import type { ExecDepth, ExecStatsView, LeaderStatsView } from '../../protocol/client/operator-messages.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { JobSearch } from '../search/job-search.js';

/** Jobs that are looked at for the oldest one of an exec. */
const VISITS_MAX = 8_192;
/** Workers that are compared for all execs together; jobs beyond it count as served. */
const COMPARED_MAX = 20_000;

/** Depth, age, rates and times of every exec that has jobs. */
export function statsView(
  context: LeaderParts<'fleet' | 'ledger' | 'recordTime' | 'stats'>,
  search: JobSearch,
): LeaderStatsView {
  const { recordTime: now, stats } = context;
  const execs = execDepths(context, search).map((depth): ExecStatsView => {
    const of = stats.of(depth.exec);
    const { accepted, done, dead, failed, cancelled } = of;
    return {
      ...depth,
      acceptedPerSecond: accepted.perSecond(now),
      donePerSecond: done.perSecond(now),
      failedPerSecond: failed.perSecond(now),
      deadPerSecond: dead.perSecond(now),
      waitMs: { p50: of.waits.quantile(0.5, now), p99: of.waits.quantile(0.99, now) },
      runMs: { p50: of.runs.quantile(0.5, now), p99: of.runs.quantile(0.99, now) },
      totals: {
        accepted: accepted.total,
        done: done.total,
        dead: dead.total,
        cancelled,
        failed: failed.total,
      },
    };
  });
  return { at: now, execs };
}

interface Depth {
  queued: number;
  running: number;
  unserved: number;
  readonly byPriority: Record<string, number>;
}

/** The deepest queue first. */
export function execDepths(
  { fleet, ledger, recordTime: now }: LeaderParts<'fleet' | 'ledger' | 'recordTime'>,
  search: JobSearch,
): ExecDepth[] {
  const depths = new Map<string, Depth>();
  let left = COMPARED_MAX;
  for (const policy of ledger.policies.values()) {
    const { exec, queued, running, priority = 0 } = policy;
    const depth = depths.get(exec) ?? { queued: 0, running: 0, unserved: 0, byPriority: {} };
    depth.queued += queued;
    depth.running += running;
    if (queued > 0) {
      const compared = fleet.workersUntilServed(policy, left);
      left -= compared.workers;
      if (!compared.isServed) depth.unserved += queued;
    }
    if (queued > 0) depth.byPriority[priority] = (depth.byPriority[priority] ?? 0) + queued;
    depths.set(exec, depth);
  }
  const all = [...depths].map(([exec, { queued, running, unserved, byPriority }]): ExecDepth => {
    const queuedJobs = search.candidates({ exec, state: 'queued' }, 0);
    const oldest = queued === 0 ? undefined : oldestDue(queuedJobs, exec, now);
    const oldestMs = oldest === undefined ? 0 : now - ledger.waitsSince(oldest);
    return { exec, queued, running, oldestMs, queuedByPriority: byPriority, unserved };
  });
  return all.sort((a, b) => b.queued - a.queued || (a.exec < b.exec ? -1 : 1));
}

/** Of the first jobs: the one that was submitted first, unless its time has not come. */
function oldestDue(jobs: Iterable<LeaderJob>, exec: string, now: number): LeaderJob | undefined {
  let left = VISITS_MAX;
  for (const job of jobs) {
    if (job.state === 'queued' && job.policy.exec === exec && job.dueAt <= now) return job;
    left -= 1;
    if (left === 0) return undefined;
  }
  return undefined;
}
