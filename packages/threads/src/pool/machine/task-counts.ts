import type { PoolTask, TaskEnd } from '../task/pool-task.js';

/** Tasks that a pool accepted, and how they ended. */
export class TaskCounts {
  scheduled = 0;
  completed = 0;
  failed = 0;
  cancelled = 0;
  /** Given to a thread, and not ended. */
  active = 0;

  accept(task: PoolTask): void {
    this.scheduled += 1;
    task.sequence = this.scheduled;
    if (task.parent !== undefined) task.parent.openChildren += 1;
  }

  end(task: PoolTask, end: TaskEnd): void {
    task.stage = 'ended';
    task.worker = undefined;
    if (task.parent !== undefined) task.parent.openChildren -= 1;
    if (end === 'completed') this.completed += 1;
    else if (end === 'failed') this.failed += 1;
    else this.cancelled += 1;
  }
}
