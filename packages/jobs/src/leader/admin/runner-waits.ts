import type { RunnerWait } from '../../protocol/client/admin-messages.js';
import type { LeaderParts } from '../leader-context.js';

/** Queued jobs that are due and lack nothing but an instance of their warm runner. */
export function runnerWaits({ fleet, queues }: LeaderParts<'fleet' | 'queues'>): readonly RunnerWait[] {
  if (!fleet.hasRunners) return [];
  const jobs = new Map<string, number>();
  for (const queue of queues.occupied()) {
    const runner = fleet.busyRunnerOf(queue);
    if (runner !== undefined) jobs.set(runner, (jobs.get(runner) ?? 0) + queue.size);
  }
  return Array.from(jobs, ([runner, count]) => ({ runner, jobs: count }));
}
