import type { PoolTask } from '../task/pool-task.js';
import type { PoolWorker } from './pool-worker.js';

/**
 * The port to the threads. No method calls back: everything that a thread reports comes later, through
 * `PoolThreadReports`. `start` throws if no thread can be created.
 */
export interface PoolThreads {
  /** `up` or `ended` follows. */
  start(worker: PoolWorker): void;
  /** The thread is up and runs this task after everything that it has. */
  run(worker: PoolWorker, task: PoolTask): void;
  /** As `run`, for a task that may be taken back by `withdraw` until the thread has taken it up. */
  stage(worker: PoolWorker, task: PoolTask): void;
  /** True: the thread has not taken the task up and never will. False: it has. */
  withdraw(worker: PoolWorker, task: PoolTask): boolean;
  /** Fires the signal of a task that the thread has taken up. */
  cancel(worker: PoolWorker, task: PoolTask): void;
  /** Ends the thread at whatever instruction it is; `ended` follows. */
  end(worker: PoolWorker): void;
}
