import type { PoolTask } from '../task/pool-task.js';
import type { PendingTasks } from './pending-tasks.js';
import type { PoolThreads } from './pool-threads.js';
import type { PoolWorker } from './pool-worker.js';
import type { PoolWorkers } from './pool-workers.js';
import type { TaskCounts } from './task-counts.js';
import { runsBefore } from './task-queue.js';

interface DispatchParts {
  readonly threads: PoolThreads;
  readonly workers: PoolWorkers;
  readonly pending: PendingTasks;
  readonly counts: TaskCounts;
  /** Whether the pool takes tasks. */
  isRunning(): boolean;
}

/** From pending tasks to threads. */
export class TaskDispatch {
  private readonly threads: PoolThreads;
  private readonly workers: PoolWorkers;
  private readonly pending: PendingTasks;
  private readonly counts: TaskCounts;
  private readonly isRunning: () => boolean;

  constructor({ threads, workers, pending, counts, isRunning }: DispatchParts) {
    this.threads = threads;
    this.workers = workers;
    this.pending = pending;
    this.counts = counts;
    this.isRunning = isRunning;
  }

  assign(worker: PoolWorker, task: PoolTask): void {
    task.stage = 'active';
    task.worker = worker;
    worker.current = task;
    this.counts.active += 1;
  }

  give(worker: PoolWorker, task: PoolTask, now: number): void {
    worker.stage = 'busy';
    worker.reportedAt = now;
    this.assign(worker, task);
    this.threads.run(worker, task);
  }

  /** The thread works on: with what it has taken up, with what was sent ahead, else it is free. */
  goOn(worker: PoolWorker, now: number): void {
    worker.current = worker.claimed.shift();
    if (worker.current !== undefined) return;
    const staged = this.pending.takeStaged(worker);
    if (staged === undefined) return this.free(worker, now);
    this.assign(worker, staged);
    this.pending.admitWaiting();
  }

  free(worker: PoolWorker, now: number): void {
    const { workers, pending, isRunning } = this;
    const isSurplus = workers.live > workers.size.maxThreads;
    if (isSurplus && !this.isNeeded()) return workers.end(worker);
    const task = pending.takeFirst() ?? this.takeFromStarting(worker);
    if (task !== undefined) {
      this.give(worker, task, now);
      pending.admitWaiting();
      if (!isRunning()) workers.endSpare();
    } else if (isRunning()) workers.rest(worker, now);
    else workers.end(worker);
  }

  /** Whether only this thread can run the queued tasks, because all others wait for them. */
  private isNeeded(): boolean {
    return this.pending.length > 0 && this.workers.allWait(undefined);
  }

  /** A task of a thread that is still starting goes to the thread that is free first. */
  private takeFromStarting(free: PoolWorker): PoolTask | undefined {
    let first: PoolTask | undefined;
    for (const worker of this.workers) {
      const task = worker.stage === 'starting' && worker !== free ? worker.current : undefined;
      if (task !== undefined && (first === undefined || runsBefore(task, first))) first = task;
    }
    if (first === undefined) return undefined;
    first.worker!.current = undefined; // found at a worker
    this.counts.active -= 1;
    return first;
  }

  assignPending(worker: PoolWorker): void {
    const task = this.pending.takeFirst();
    if (task === undefined) return;
    this.assign(worker, task);
    this.pending.admitWaiting();
  }

  /** New threads for pending tasks, as far as the maximum allows. */
  growForPending(): void {
    const { workers, pending } = this;
    while (pending.length > 0 && workers.live < workers.size.maxThreads) {
      const worker = workers.spareStarting ?? workers.start();
      if (worker === undefined) return;
      this.assignPending(worker);
    }
  }

  /** Tasks that came back go to idle threads, and to starting ones without a task. */
  serveReturned(now: number): void {
    const { workers, pending } = this;
    while (pending.length > 0) {
      const idle = workers.takeReady();
      const spare = idle === undefined ? workers.spareStarting : undefined;
      if (idle !== undefined) this.free(idle, now);
      else if (spare !== undefined) this.assignPending(spare);
      else return;
    }
  }
}
