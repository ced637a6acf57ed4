import type { PoolTask } from '../task/pool-task.js';

/** Starting: not up yet. Ending: its thread was ended, and its end is not reported yet. */
export type WorkerStage = 'starting' | 'idle' | 'busy' | 'ending';

/** Tasks up to this duration are sent ahead, those above the second are not. */
const SHORT_TASK_MS = 0.25;
const LONG_TASK_MS = 1;
const STAGED_MAX = 63;

/** One thread as the pool machine knows it. */
export class PoolWorker {
  readonly id: number;
  readonly name: string;
  stage: WorkerStage = 'starting';
  /** The task at work, or the first task of a thread that is starting. */
  current: PoolTask | undefined;
  /** Tasks that the thread took up after `current`; the report of their predecessor is on its way. */
  readonly claimed: PoolTask[] = [];
  /** Queued tasks that were sent ahead, in order. */
  staged: PoolTask[] = [];
  /** The number of tasks that may be sent ahead. Grows while tasks are short. */
  stagedMax = 0;
  idleSince = 0;
  /** When the last report of this thread arrived, or its present task was given to it. */
  reportedAt = 0;

  constructor(id: number, name: string) {
    this.id = id;
    this.name = name;
  }

  /** A task has ended now: from the time between two ends follows how many are sent ahead. */
  reported(now: number): void {
    const gap = now - this.reportedAt;
    this.reportedAt = now;
    if (gap > LONG_TASK_MS) this.stagedMax = 0;
    else if (gap < SHORT_TASK_MS) this.stagedMax = Math.min(STAGED_MAX, this.stagedMax * 2 + 1);
  }

  /** Takes everything that the thread has not ended. */
  takeTasks(): PoolTask[] {
    const tasks = [this.current, ...this.claimed, ...this.staged].filter((task) => task !== undefined);
    this.current = undefined;
    this.claimed.length = 0;
    this.staged = [];
    return tasks;
  }
}
