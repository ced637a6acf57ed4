import { checkOptions } from '../option-check.js';
import type { HandledJob } from '../worker/handlers/handler.js';
import { type LeaderMap, LeaderRoutes, leaderMap, mustHaveLeader } from './leader-map.js';
import {
  type RemoteWorker,
  type StartWorkerOptions,
  startWorker,
  WORKER_START_CHECKS,
} from './start-worker.js';

export interface StartGroupWorkerOptions
  extends Omit<StartWorkerOptions, 'address' | 'handlers' | 'threads'> {
  /** The addresses of each leader, by its groups; `*` for all other groups. */
  readonly leaders: LeaderMap;
  /** Each is offered to the leader of its group. */
  readonly handlers: readonly HandledJob[];
}

/**
 * Runs handlers for groups that have leaders of their own. Each leader has a session and credit of its own:
 * `slots` and `bytesMax` are of each.
 */
export async function startGroupWorker(options: StartGroupWorkerOptions): Promise<GroupWorker> {
  const { address: _, ...rest } = WORKER_START_CHECKS;
  checkOptions('startGroupWorker', options, { ...rest, leaders: leaderMap }, ['leaders', 'name', 'handlers']);
  const { leaders, handlers, ...given } = options;
  for (const { job } of handlers) mustHaveLeader(leaders, job.policy.group);
  const routes = await LeaderRoutes.open<RemoteWorker | undefined>(
    leaders,
    async (address, isOfLeader) => {
      const own = handlers.filter(({ job }) => isOfLeader(job.policy.group));
      return own.length === 0 ? undefined : startWorker({ ...given, address, handlers: own });
    },
    (worker) => worker?.close({ withinMs: 0 }),
  );
  return new GroupWorker(routes.all.filter((worker) => worker !== undefined));
}

/** A worker of each leader that has one of its jobs. */
export class GroupWorker implements AsyncDisposable {
  private readonly workers: readonly RemoteWorker[];

  constructor(workers: readonly RemoteWorker[]) {
    this.workers = workers;
  }

  /** The names of the jobs that it runs. */
  get execs(): readonly string[] {
    return this.workers.flatMap(({ execs }) => execs);
  }

  /** Attempts at once, of all leaders. */
  get slots(): number {
    return this.workers.reduce((sum, { slots }) => sum + slots, 0);
  }

  /** Attempts that run now, of all leaders. */
  async running(): Promise<number> {
    const counts = await Promise.all(this.workers.map((worker) => worker.running()));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Takes nothing more of any leader, waits for running attempts, then disconnects. */
  async close(options: { readonly withinMs?: number } = {}): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close(options)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
