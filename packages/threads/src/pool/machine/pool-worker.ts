import type { PoolTask } from '../pool-task.js';

/** Starting: not up yet. Ending: its thread was ended, and its end is not reported yet. */
export type WorkerStage = 'starting' | 'idle' | 'busy' | 'ending';

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
}
