// The state of a pool: threads, ready set, queue and counters. Pure: threads are behind a port, time is an
// argument, and user code is never called. The executor acts on the results afterwards.
//
// Invariants after every call (check-pool.ts):
//   the ready set is empty, or queue and waiting tasks are;
//   scheduled = completed + failed + cancelled + active + queued + waiting.

import type { PoolTask, TaskEnd } from '../task/pool-task.js';
import { checkPool } from './check-pool.js';
import { PendingTasks } from './pending-tasks.js';
import type { PoolCounters } from './pool-counters.js';
import type { PoolState } from './pool-state.js';
import type { PoolThreads } from './pool-threads.js';
import type { PoolWorker } from './pool-worker.js';
import { type PoolSize, PoolWorkers } from './pool-workers.js';
import { TaskCounts } from './task-counts.js';
import { TaskDispatch } from './task-dispatch.js';

export interface MachineSettings extends PoolSize {
  readonly name: string;
  /** 0: no queue, each task goes to a thread at once or is refused. */
  readonly maxQueue: number;
  readonly maxWaiting: number;
  readonly idleMs: number;
}

export type Admission = 'started' | 'queued' | 'full' | 'no-thread' | 'cycle';

/** Facts that the executor reports to its listeners once the state is consistent. */
export interface PoolObserver {
  threadStartFailed(worker: PoolWorker, error: Error): void;
  /** A task ended in the pool without a report of its own: its thread ended, or no thread can be had. */
  taskLost(task: PoolTask, worker: PoolWorker, error: Error): void;
  terminated(): void;
}

export class PoolMachine {
  private readonly threads: PoolThreads;
  private readonly observer: PoolObserver;
  private readonly settings: MachineSettings;
  private readonly workers: PoolWorkers;
  private readonly counts = new TaskCounts();
  private readonly pending: PendingTasks;
  private readonly dispatch: TaskDispatch;
  private currentState: PoolState = 'running';

  constructor(settings: MachineSettings, threads: PoolThreads, observer: PoolObserver) {
    this.settings = settings;
    this.threads = threads;
    this.observer = observer;
    this.workers = new PoolWorkers(settings.name, settings, threads, (worker, error) =>
      observer.threadStartFailed(worker, error),
    );
    this.pending = new PendingTasks(settings.maxQueue, threads, this.workers, this.counts);
    const { workers, pending, counts } = this;
    const isRunning = (): boolean => this.currentState === 'running';
    this.dispatch = new TaskDispatch({ threads, workers, pending, counts, isRunning });
  }

  get state(): PoolState {
    return this.currentState;
  }

  /** The reason of the last thread that could not be started. */
  get startError(): Error | undefined {
    return this.workers.startError;
  }

  get counters(): Omit<PoolCounters, 'rejected' | 'ranHere'> {
    const { scheduled, completed, failed, cancelled, active } = this.counts;
    const { queueLength, waitingLength: waiting } = this.pending;
    return {
      scheduled,
      completed,
      failed,
      cancelled,
      active,
      queueLength,
      waiting,
      remainingCapacity: Math.max(0, this.settings.maxQueue - queueLength),
      threads: this.workers.live,
      idleThreads: this.workers.readyCount,
      largest: this.workers.largest,
    };
  }

  // --- tasks ---

  /** Growth order: an idle thread, else a new one below the maximum, else the queue, else refused. */
  admit(task: PoolTask, now: number): Admission {
    const { workers, counts, pending } = this;
    const idle = workers.takeReady();
    if (idle !== undefined) {
      counts.accept(task);
      this.dispatch.give(idle, task, now);
      if (workers.live < workers.size.minThreads) workers.start();
      return 'started';
    }
    const spare = workers.spareStarting ?? this.startBelowMaximum();
    if (spare !== undefined) {
      counts.accept(task);
      this.dispatch.assign(spare, task);
      return 'started';
    }
    if (workers.live === 0) return 'no-thread';
    if (task.parent !== undefined && workers.allWait(task.parent)) return 'cycle';
    if (!pending.hasRoom) return 'full';
    counts.accept(task);
    pending.enqueue(task);
    return 'queued';
  }

  private startBelowMaximum(): PoolWorker | undefined {
    return this.workers.live < this.workers.size.maxThreads ? this.workers.start() : undefined;
  }

  /** For a task that was refused as `full`; false if too many wait already. */
  admitWaiting(task: PoolTask): boolean {
    if (this.pending.waitingLength >= this.settings.maxWaiting) return false;
    this.counts.accept(task);
    this.pending.wait(task);
    return true;
  }

  /**
   * Takes a task out of the pool. False: a thread has taken it up, its signal was fired, and its end is still
   * to be reported; it will count as `end`.
   */
  cancel(task: PoolTask, end: TaskEnd): boolean {
    const { stage, worker } = task;
    if (stage === 'active' && worker !== undefined) return this.cancelActive(worker, task, end);
    if (stage !== 'waiting' && stage !== 'queued') return true;
    if (!this.pending.remove(task)) return this.fireSignal(task, end);
    this.counts.end(task, end);
    return true;
  }

  private cancelActive(worker: PoolWorker, task: PoolTask, end: TaskEnd): boolean {
    if (worker.stage === 'starting') {
      worker.current = undefined;
      this.counts.active -= 1;
      this.dispatch.assignPending(worker);
      this.counts.end(task, end);
      if (this.currentState !== 'running') this.workers.endSpare();
      return true;
    }
    if (worker.current !== task || !this.threads.withdraw(worker, task)) return this.fireSignal(task, end);
    // The thread was given it and has not begun it: it will never report it, and goes on with the next.
    this.counts.active -= 1;
    this.counts.end(task, end);
    this.dispatch.goOn(worker, worker.reportedAt);
    return true;
  }

  private fireSignal(task: PoolTask, end: TaskEnd): false {
    task.abandoned ??= end;
    this.threads.cancel(task.worker!, task); // a thread has begun it
    return false;
  }

  stageAhead(): void {
    this.pending.stageAhead();
  }

  // --- reports of threads ---

  up(worker: PoolWorker, now: number): void {
    if (worker.stage !== 'starting') return;
    this.workers.up(worker);
    const task = worker.current;
    if (task === undefined) return this.dispatch.free(worker, now);
    worker.reportedAt = now;
    this.threads.run(worker, task);
  }

  /** The report of the oldest task that the thread has taken up. False: the pool no longer counts on it. */
  finished(worker: PoolWorker, task: PoolTask, end: TaskEnd, now: number): boolean {
    if (task.worker !== worker || worker.stage === 'ending') return false;
    if (worker.current !== task) throw new Error(`${worker.name} reported ${task.name} out of order`);
    this.counts.active -= 1;
    this.counts.end(task, task.abandoned ?? end);
    worker.reported(now);
    this.dispatch.goOn(worker, now);
    return true;
  }

  /** After the last report of the thread. `error` is the reason for a task that it was working on. */
  ended(worker: PoolWorker, error: Error, now: number): void {
    if (!this.workers.has(worker)) return;
    const neverUp = worker.stage === 'starting';
    const failed = worker.stage === 'busy';
    this.takeBackFrom(worker, error, neverUp);
    this.workers.drop(worker);
    this.dispatch.serveReturned(now);
    if (neverUp) this.workers.startFailed(worker, error);
    // A thread that cannot come up is not tried again at once: other threads, or the next task, go on.
    else this.replace(failed);
    if (this.workers.live === 0 && this.pending.length > 0) this.losePending(worker);
    this.checkTermination();
  }

  /** The arguments of a task could not be sent, so no thread takes it up: it has failed. */
  unsent(worker: PoolWorker, task: PoolTask, now: number): void {
    if (worker.current !== task) {
      this.cancel(task, 'failed');
      return;
    }
    this.threads.withdraw(worker, task);
    this.finished(worker, task, 'failed', now);
  }

  // --- size and end ---

  sizeWith({ minThreads, maxThreads }: Partial<PoolSize>): PoolSize {
    const { size } = this.workers;
    return { minThreads: minThreads ?? size.minThreads, maxThreads: maxThreads ?? size.maxThreads };
  }

  prune(now: number): void {
    this.workers.prune(now, this.settings.idleMs);
  }

  /** When `prune` has something to do next, or undefined. */
  get pruneAt(): number | undefined {
    return this.workers.pruneAt(this.settings.idleMs);
  }

  resize(size: PoolSize, now: number): void {
    this.workers.size = size;
    this.workers.endReady(this.workers.live - size.maxThreads);
    this.dispatch.growForPending();
    this.prune(now);
  }

  shutdown(): void {
    if (this.currentState !== 'running') return;
    this.currentState = 'shutting-down';
    this.workers.endReady(Number.POSITIVE_INFINITY);
    this.workers.endSpare();
    this.checkTermination();
  }

  /** Ends every thread; returns the tasks that had not ended, all of them counted as cancelled. */
  kill(): PoolTask[] {
    if (this.currentState === 'shut-down') return [];
    this.currentState = 'shutting-down';
    const tasks = [...this.workers].flatMap((worker) => worker.takeTasks());
    tasks.push(...this.pending.takeAll());
    this.counts.active = 0;
    for (const task of tasks) this.counts.end(task, 'cancelled');
    this.workers.endAll();
    this.checkTermination();
    return tasks;
  }

  /** Ends the thread of a task that does not react to its signal. `ended` brings the replacement. */
  endThreadOf(task: PoolTask): void {
    if (task.stage === 'active' && task.worker?.stage === 'busy') this.threads.end(task.worker);
  }

  /** Throws if an invariant does not hold. */
  check(): void {
    const { state, counters, workers } = this;
    checkPool({ name: this.settings.name, state, counters, workers, hasRoom: this.pending.hasRoom });
  }

  // --- after the end of a thread ---

  /** Takes its tasks. One that it never took up goes back to its place in the queue. */
  private takeBackFrom(worker: PoolWorker, error: Error, neverUp: boolean): void {
    const { current, claimed } = worker;
    const lost = current === undefined ? claimed.splice(0) : [current, ...claimed.splice(0)];
    worker.current = undefined;
    this.pending.takeBackStaged(worker);
    lost.push(...claimed.splice(0));
    for (const task of lost) {
      this.counts.active -= 1;
      const begun = !neverUp && !this.threads.withdraw(worker, task);
      if (task.abandoned === undefined && !begun && (neverUp || !task.movesArguments))
        this.pending.enqueue(task);
      else this.lose(task, worker, error);
    }
  }

  private lose(task: PoolTask, worker: PoolWorker, error: Error): void {
    const { abandoned } = task;
    this.counts.end(task, abandoned ?? 'failed');
    if (abandoned === undefined) this.observer.taskLost(task, worker, error);
  }

  /** No thread is left and none can be had: tasks that no thread would ever take do not stay. */
  private losePending(worker: PoolWorker): void {
    const error = this.startError ?? new Error('no thread can be created');
    for (const task of this.pending.takeAll()) this.lose(task, worker, error);
  }

  /** Pending tasks get a new thread in any state; a running pool keeps its minimum. */
  private replace(failed: boolean): void {
    const { workers } = this;
    this.dispatch.growForPending();
    if (failed && this.currentState === 'running' && workers.live < workers.size.minThreads) workers.start();
  }

  private checkTermination(): void {
    if (this.currentState !== 'shutting-down' || !this.workers.isEmpty || this.pending.length > 0) return;
    this.currentState = 'shut-down';
    this.observer.terminated();
  }
}
