import type { PoolTask } from '../task/pool-task.js';
import type { PoolThreads } from './pool-threads.js';
import type { PoolWorker } from './pool-worker.js';
import type { PoolWorkers } from './pool-workers.js';
import type { TaskCounts } from './task-counts.js';
import { runsBefore, TaskQueue } from './task-queue.js';

/**
 * Tasks that no thread has begun: the queue, the tasks of it that were sent ahead to threads (staged), and
 * tasks that wait for room in the queue.
 */
export class PendingTasks {
  private readonly maxQueue: number;
  private readonly threads: PoolThreads;
  private readonly workers: PoolWorkers;
  private readonly counts: TaskCounts;
  private readonly queue = new TaskQueue();
  private readonly waiting = new TaskQueue();
  private staged = 0;
  /** No task that was sent ahead has a lower priority. */
  private stagedLowest = 0;

  constructor(maxQueue: number, threads: PoolThreads, workers: PoolWorkers, counts: TaskCounts) {
    this.maxQueue = maxQueue;
    this.threads = threads;
    this.workers = workers;
    this.counts = counts;
  }

  get length(): number {
    return this.queueLength + this.waitingLength;
  }

  get queueLength(): number {
    return this.queue.length + this.staged;
  }

  get waitingLength(): number {
    return this.waiting.length;
  }

  get hasRoom(): boolean {
    return this.queueLength < this.maxQueue;
  }

  enqueue(task: PoolTask): void {
    task.stage = 'queued';
    task.worker = undefined;
    this.queue.add(task);
    if (this.staged > 0 && task.priority > this.stagedLowest) this.recallBelow(task.priority);
  }

  /** A task of higher priority does not stand behind tasks that were sent ahead. */
  private recallBelow(priority: number): void {
    for (const worker of this.workers) {
      for (const task of worker.staged.filter((staged) => staged.priority < priority).reverse()) {
        if (task.stage === 'queued' && this.withdraw(worker, task)) this.queue.add(task);
      }
    }
  }

  wait(task: PoolTask): void {
    task.stage = 'waiting';
    this.waiting.add(task);
  }

  /** Tasks that wait take the room that there is. */
  admitWaiting(): void {
    while (this.waiting.length > 0 && this.hasRoom) this.enqueue(this.waiting.shift() as PoolTask);
  }

  /** False: a thread has begun it meanwhile. */
  remove(task: PoolTask): boolean {
    if (task.stage === 'waiting') {
      this.waiting.remove(task);
      return true;
    }
    if (task.worker === undefined) this.queue.remove(task);
    else if (!this.withdraw(task.worker, task)) return false;
    this.admitWaiting();
    return true;
  }

  /** The first of all, in the queue or sent ahead. */
  takeFirst(): PoolTask | undefined {
    for (;;) {
      const listed = this.queue.first;
      const staged = this.firstStaged();
      if (staged !== undefined && (listed === undefined || runsBefore(staged, listed))) {
        if (this.withdraw(staged.worker!, staged)) return staged; // staged tasks have a worker
        continue;
      }
      return listed === undefined ? this.waiting.shift() : this.queue.shift();
    }
  }

  private firstStaged(): PoolTask | undefined {
    if (this.staged === 0) return undefined;
    let first: PoolTask | undefined;
    for (const { staged } of this.workers) {
      const task = staged[0];
      if (task !== undefined && (first === undefined || runsBefore(task, first))) first = task;
    }
    return first;
  }

  /** Everything: no thread will run these tasks. Those sent ahead are taken from their threads before. */
  takeAll(): PoolTask[] {
    const tasks: PoolTask[] = [];
    for (const queue of [this.queue, this.waiting])
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) tasks.push(task);
    this.staged = 0;
    return tasks;
  }

  /** Sends queued tasks ahead to busy threads with short tasks, one each in rotation. */
  stageAhead(): void {
    while (this.queue.length > 0) {
      const before = this.staged;
      for (const worker of this.workers) {
        if (worker.stage !== 'busy' || worker.staged.length >= worker.stagedMax) continue;
        const task = this.queue.first;
        // Order is kept: a task that cannot be sent ahead is not overtaken.
        if (task === undefined || task.movesArguments) return;
        this.stageFor(worker, task);
      }
      if (this.staged === before) return;
    }
  }

  private stageFor(worker: PoolWorker, task: PoolTask): void {
    this.queue.remove(task);
    this.stagedLowest = this.staged === 0 ? task.priority : Math.min(this.stagedLowest, task.priority);
    this.staged += 1;
    task.worker = worker;
    worker.staged.push(task);
    this.threads.stage(worker, task);
  }

  /** The thread goes on with the first task that was sent ahead to it. */
  takeStaged(worker: PoolWorker): PoolTask | undefined {
    const task = worker.staged.shift();
    if (task !== undefined) this.staged -= 1;
    return task;
  }

  /** The thread has ended: tasks that were sent ahead to it and that it has not begun are queued again. */
  takeBackStaged(worker: PoolWorker): void {
    for (const task of worker.staged.slice().reverse()) {
      if (!this.withdraw(worker, task)) return;
      this.queue.add(task);
    }
  }

  /** Takes a task back that was sent ahead. If the thread has taken it up, so it has all before it. */
  private withdraw(worker: PoolWorker, task: PoolTask): boolean {
    const at = worker.staged.indexOf(task);
    if (this.threads.withdraw(worker, task)) {
      worker.staged.splice(at, 1);
      this.staged -= 1;
      task.worker = undefined;
      return true;
    }
    const taken = worker.staged.splice(0, at + 1);
    this.staged -= taken.length;
    this.counts.active += taken.length;
    for (const one of taken) one.stage = 'active';
    worker.claimed.push(...taken);
    this.admitWaiting();
    return false;
  }
}
