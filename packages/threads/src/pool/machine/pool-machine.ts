// The state of a pool: threads, ready set, queue and counters. Pure: threads are behind a port, time is an
// argument, and user code is never called. The executor acts on the results afterwards.
//
// Invariants after every call:
//   the ready set is empty, or queue and waiting tasks are;
//   scheduled = completed + failed + cancelled + active + queued + waiting.

import type { PoolTask, TaskEnd } from '../pool-task.js';
import type { PoolCounters } from './pool-counters.js';
import type { PoolThreads } from './pool-threads.js';
import { PoolWorker } from './pool-worker.js';
import { runsBefore, TaskQueue } from './task-queue.js';

export interface PoolSize {
  readonly minThreads: number;
  readonly maxThreads: number;
}

export interface MachineSettings extends PoolSize {
  readonly name: string;
  /** 0: no queue, each task goes to a thread at once or is refused. */
  readonly maxQueue: number;
  readonly maxWaiting: number;
  readonly idleMs: number;
}

export type PoolState = 'running' | 'shutting-down' | 'shut-down';

export type Admission = 'started' | 'queued' | 'full' | 'no-thread' | 'cycle';

/** Facts that the executor reports to its listeners once the state is consistent. */
export interface PoolObserver {
  threadStartFailed(worker: PoolWorker, error: Error): void;
  /** A task ended in the pool without a report of its own: its thread ended, or no thread can be had. */
  taskLost(task: PoolTask, worker: PoolWorker, error: Error): void;
  terminated(): void;
}

/** Tasks up to this duration are sent ahead, those above the second are not. */
const SHORT_TASK_MS = 0.25;
const LONG_TASK_MS = 1;
const STAGED_MAX = 63;

export class PoolMachine {
  private readonly threads: PoolThreads;
  private readonly observer: PoolObserver;
  private readonly settings: MachineSettings;
  private size: PoolSize;
  private currentState: PoolState = 'running';
  private readonly workers = new Set<PoolWorker>();
  /** A stack: the last to become idle is the first to work, and the first element has been idle longest. */
  private readonly ready: PoolWorker[] = [];
  private readonly queue = new TaskQueue();
  private readonly waiting = new TaskQueue();
  private stagedCount = 0;
  /** No task that was sent ahead has a lower priority. */
  private stagedLowest = 0;
  /** Threads without a task that were ended: they count no more, but the pool ends after them. */
  private leaving = 0;
  private starting = 0;
  /** The reason of the last thread that could not be started. */
  startError: Error | undefined;
  private workerCount = 0;
  private sequence = 0;
  private scheduled = 0;
  private completed = 0;
  private failed = 0;
  private cancelled = 0;
  private active = 0;
  private largest = 0;

  constructor(settings: MachineSettings, threads: PoolThreads, observer: PoolObserver) {
    this.settings = settings;
    this.size = settings;
    this.threads = threads;
    this.observer = observer;
  }

  get state(): PoolState {
    return this.currentState;
  }

  get counters(): Omit<PoolCounters, 'rejected' | 'ranHere'> {
    const { scheduled, completed, failed, cancelled, active, largest, queueLength } = this;
    return {
      scheduled,
      completed,
      failed,
      cancelled,
      active,
      queueLength,
      waiting: this.waiting.length,
      remainingCapacity: Math.max(0, this.settings.maxQueue - queueLength),
      threads: this.live,
      idleThreads: this.ready.length,
      largest,
    };
  }

  get hasStaged(): boolean {
    return this.stagedCount > 0;
  }

  private get live(): number {
    return this.workers.size - this.leaving;
  }

  private get queueLength(): number {
    return this.queue.length + this.stagedCount;
  }

  /** Tasks that no thread has yet. */
  private get pendingLength(): number {
    return this.queueLength + this.waiting.length;
  }

  // --- tasks ---

  /** Growth order: an idle thread, else a new one below the maximum, else the queue, else refused. */
  admit(task: PoolTask, now: number): Admission {
    const idle = this.ready.pop();
    if (idle !== undefined) {
      this.accept(task);
      this.give(idle, task, now);
      this.growToMinimum();
      return 'started';
    }
    const spare = this.spareStarting();
    if (spare !== undefined) {
      this.accept(task);
      this.assign(spare, task);
      return 'started';
    }
    if (this.live < this.size.maxThreads) {
      const worker = this.startWorker();
      if (worker !== undefined) {
        this.accept(task);
        this.assign(worker, task);
        return 'started';
      }
      if (this.live === 0) return 'no-thread';
    }
    if (task.parent !== undefined && this.allWait(task.parent)) return 'cycle';
    if (this.queueLength >= this.settings.maxQueue) return 'full';
    this.accept(task);
    this.enqueue(task);
    return 'queued';
  }

  /** For a task that was refused as `full`; false if too many wait already. */
  admitWaiting(task: PoolTask): boolean {
    if (this.waiting.length >= this.settings.maxWaiting) return false;
    this.accept(task);
    task.stage = 'waiting';
    this.waiting.add(task);
    return true;
  }

  /**
   * Takes a task out of the pool. False: a thread has taken it up, its signal was fired, and its end is still
   * to be reported; it will count as `end`.
   */
  cancel(task: PoolTask, end: TaskEnd): boolean {
    const worker = task.worker;
    if (task.stage === 'waiting') this.waiting.remove(task);
    else if (task.stage === 'queued') {
      if (worker === undefined) this.queue.remove(task);
      else if (!this.withdraw(worker, task)) return this.cancelActive(worker, task, end);
      this.admitWaitingTasks();
    } else if (task.stage === 'active' && worker?.stage === 'starting') {
      worker.current = undefined;
      this.active -= 1;
      this.assignQueued(worker);
    } else if (task.stage === 'active' && worker !== undefined) {
      if (worker.current !== task || !this.threads.withdraw(worker, task))
        return this.cancelActive(worker, task, end);
      // The thread was given it and has not begun it: it will never report it, and goes on with the next.
      this.active -= 1;
      this.count(task, end);
      this.goOn(worker, worker.reportedAt);
      return true;
    } else return true;
    this.count(task, end);
    return true;
  }

  /** Sends queued tasks ahead to busy threads with short tasks, one each in rotation. */
  stageAhead(): void {
    if (this.queue.length === 0) return;
    for (let staged = true; staged; ) {
      staged = false;
      for (const worker of this.workers) {
        if (worker.stage !== 'busy' || worker.staged.length >= worker.stagedMax) continue;
        const task = this.queue.first;
        // Order is kept: a task that cannot be sent ahead is not overtaken.
        if (task === undefined || task.movesArguments) return;
        this.queue.remove(task);
        this.stagedLowest =
          this.stagedCount === 0 ? task.priority : Math.min(this.stagedLowest, task.priority);
        this.stagedCount += 1;
        task.worker = worker;
        worker.staged.push(task);
        this.threads.stage(worker, task);
        staged = true;
      }
    }
  }

  // --- reports of threads ---

  up(worker: PoolWorker, now: number): void {
    if (worker.stage !== 'starting') return;
    this.starting -= 1;
    worker.stage = 'busy';
    const task = worker.current;
    if (task === undefined) return this.free(worker, now);
    worker.reportedAt = now;
    this.threads.run(worker, task);
  }

  /** The report of the oldest task that the thread has taken up. False: the pool no longer counts on it. */
  finished(worker: PoolWorker, task: PoolTask, end: TaskEnd, now: number): boolean {
    if (task.worker !== worker || worker.stage === 'ending') return false;
    if (worker.current !== task) throw new Error(`${worker.name} reported ${task.name} out of order`);
    this.active -= 1;
    this.count(task, task.abandoned ?? end);
    this.learnDuration(worker, now);
    this.goOn(worker, now);
    return true;
  }

  /** After the last report of the thread. `error` is the reason for a task that it was working on. */
  ended(worker: PoolWorker, error: Error, now: number): void {
    if (!this.workers.has(worker)) return;
    const neverUp = worker.stage === 'starting';
    const failed = worker.stage === 'busy';
    this.takeBackFrom(worker, error, neverUp);
    this.dropWorker(worker);
    this.serveReturned(now);
    if (neverUp) this.startFailed(worker, error);
    // A thread that cannot come up is not tried again at once: other threads, or the next task, go on.
    else this.replace(failed);
    if (this.live === 0 && this.pendingLength > 0) this.loseQueued(worker);
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
    return { minThreads: minThreads ?? this.size.minThreads, maxThreads: maxThreads ?? this.size.maxThreads };
  }

  /** The longest idle threads above the minimum end. Only threads of the ready set: none has a task. */
  prune(now: number): void {
    while (this.live > this.size.minThreads) {
      const oldest = this.ready[0];
      if (oldest === undefined || oldest.idleSince + this.settings.idleMs > now) return;
      this.ready.shift();
      this.end(oldest);
    }
  }

  /** When `prune` has something to do next, or undefined. */
  get pruneAt(): number | undefined {
    const oldest = this.ready[0];
    if (oldest === undefined || this.live <= this.size.minThreads) return undefined;
    return oldest.idleSince + this.settings.idleMs;
  }

  resize(size: PoolSize, now: number): void {
    this.size = size;
    for (const worker of this.ready.splice(0, this.live - size.maxThreads)) this.end(worker);
    this.growForQueue();
    this.prune(now);
  }

  shutdown(): void {
    if (this.currentState !== 'running') return;
    this.currentState = 'shutting-down';
    for (const worker of this.ready.splice(0)) this.end(worker);
    this.checkTermination();
  }

  /** Ends every thread; returns the tasks that had not ended, all of them counted as cancelled. */
  kill(): PoolTask[] {
    if (this.currentState === 'shut-down') return [];
    this.currentState = 'shutting-down';
    const tasks: PoolTask[] = [];
    for (const worker of this.workers) {
      if (worker.current !== undefined) tasks.push(worker.current);
      tasks.push(...worker.claimed, ...worker.staged);
    }
    for (let task = this.queue.shift(); task !== undefined; task = this.queue.shift()) tasks.push(task);
    for (let task = this.waiting.shift(); task !== undefined; task = this.waiting.shift()) tasks.push(task);
    this.stagedCount = 0;
    this.active = 0;
    for (const task of tasks) this.count(task, 'cancelled');
    this.ready.length = 0;
    for (const worker of this.workers) {
      worker.current = undefined;
      worker.claimed.length = 0;
      worker.staged = [];
      this.end(worker);
    }
    this.checkTermination();
    return tasks;
  }

  /** Ends the thread of a task that does not react to its signal. `ended` brings the replacement. */
  endThreadOf(task: PoolTask): void {
    if (task.stage === 'active' && task.worker?.stage === 'busy') this.threads.end(task.worker);
  }

  /** Throws if an invariant does not hold. */
  check(): void {
    const { counters } = this;
    const pending = counters.active + counters.queueLength + counters.waiting;
    const sum = counters.completed + counters.failed + counters.cancelled + pending;
    const problems = [
      counters.scheduled !== sum && `scheduled ${counters.scheduled} is not the sum ${sum}`,
      this.ready.length > 0 &&
        counters.queueLength + counters.waiting > 0 &&
        'ready set and queue are both in use',
      counters.waiting > 0 &&
        this.settings.maxQueue > counters.queueLength &&
        'a task waits beside a free place',
      this.currentState === 'shut-down' &&
        (pending > 0 || this.workers.size > 0) &&
        'shut down with work left',
      this.pendingLength > 0 && counters.threads === 0 && 'a queue without threads',
      ...[...this.workers].map((worker) => this.problemOf(worker)),
    ].filter((problem) => typeof problem === 'string');
    if (problems.length > 0) throw new Error(`pool ${this.settings.name}: ${problems.join('; ')}`);
  }

  // --- within ---

  private problemOf(worker: PoolWorker): string | undefined {
    const isReady = this.ready.includes(worker);
    if (isReady !== (worker.stage === 'idle')) return `${worker.name} is ${worker.stage}, ready: ${isReady}`;
    if (isReady && worker.current !== undefined) return `${worker.name} is ready and has a task`;
    if (worker.stage === 'starting' && worker.current === undefined && this.pendingLength > 0) {
      return `${worker.name} is starting without a task beside a queue`;
    }
    if (worker.stage === 'busy' && worker.current === undefined)
      return `${worker.name} is busy without a task`;
    return undefined;
  }

  private accept(task: PoolTask): void {
    this.sequence += 1;
    this.scheduled += 1;
    task.sequence = this.sequence;
    if (task.parent !== undefined) task.parent.openChildren += 1;
  }

  private count(task: PoolTask, end: TaskEnd): void {
    task.stage = 'ended';
    task.worker = undefined;
    if (task.parent !== undefined) task.parent.openChildren -= 1;
    if (end === 'completed') this.completed += 1;
    else if (end === 'failed') this.failed += 1;
    else this.cancelled += 1;
  }

  private enqueue(task: PoolTask): void {
    task.stage = 'queued';
    task.worker = undefined;
    this.queue.add(task);
    if (this.stagedCount > 0 && task.priority > this.stagedLowest) this.recallBelow(task.priority);
  }

  /** A task of higher priority does not stand behind tasks that were sent ahead. */
  private recallBelow(priority: number): void {
    for (const worker of this.workers) {
      for (const task of worker.staged.filter((staged) => staged.priority < priority).reverse()) {
        if (task.stage === 'queued' && this.withdraw(worker, task)) this.queue.add(task);
      }
    }
  }

  private assign(worker: PoolWorker, task: PoolTask): void {
    task.stage = 'active';
    task.worker = worker;
    worker.current = task;
    this.active += 1;
  }

  private give(worker: PoolWorker, task: PoolTask, now: number): void {
    worker.stage = 'busy';
    worker.reportedAt = now;
    this.assign(worker, task);
    this.threads.run(worker, task);
  }

  /** The thread works on: with what it has taken up, with what was sent ahead, else it is free. */
  private goOn(worker: PoolWorker, now: number): void {
    worker.current = worker.claimed.shift();
    if (worker.current !== undefined) return;
    const staged = worker.staged.shift();
    if (staged === undefined) return this.free(worker, now);
    this.stagedCount -= 1;
    this.assign(worker, staged);
    this.admitWaitingTasks();
  }

  private free(worker: PoolWorker, now: number): void {
    const surplus = this.live > this.size.maxThreads;
    if (surplus && !this.isNeeded()) return this.end(worker);
    const task = this.takeNext(worker);
    if (task !== undefined) {
      this.give(worker, task, now);
      this.admitWaitingTasks();
      return;
    }
    if (this.currentState !== 'running') return this.end(worker);
    worker.stage = 'idle';
    worker.idleSince = now;
    this.ready.push(worker);
  }

  /** Whether only this thread can run the queued tasks, because all others wait for them. */
  private isNeeded(): boolean {
    return this.pendingLength > 0 && this.allWait(undefined);
  }

  /** The next task for a free thread, wherever it stands. */
  private takeNext(free: PoolWorker): PoolTask | undefined {
    return this.takePending() ?? this.takeFromStarting(free);
  }

  private takePending(): PoolTask | undefined {
    for (;;) {
      const listed = this.queue.first;
      const staged = this.firstStaged();
      if (staged !== undefined && (listed === undefined || runsBefore(staged, listed))) {
        if (this.withdraw(staged.worker!, staged)) return staged; // staged tasks have a worker
        continue;
      }
      if (listed !== undefined) return this.queue.shift();
      return this.waiting.shift();
    }
  }

  private firstStaged(): PoolTask | undefined {
    if (this.stagedCount === 0) return undefined;
    let first: PoolTask | undefined;
    for (const { staged } of this.workers) {
      const task = staged[0];
      if (task !== undefined && (first === undefined || runsBefore(task, first))) first = task;
    }
    return first;
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
    this.active -= 1;
    return first;
  }

  /** Takes a task back that was sent ahead. If the thread has taken it up, so it has all before it. */
  private withdraw(worker: PoolWorker, task: PoolTask): boolean {
    const at = worker.staged.indexOf(task);
    if (this.threads.withdraw(worker, task)) {
      worker.staged.splice(at, 1);
      this.stagedCount -= 1;
      task.worker = undefined;
      return true;
    }
    const taken = worker.staged.splice(0, at + 1);
    this.stagedCount -= taken.length;
    this.active += taken.length;
    for (const one of taken) one.stage = 'active';
    worker.claimed.push(...taken);
    this.admitWaitingTasks();
    return false;
  }

  private cancelActive(worker: PoolWorker, task: PoolTask, end: TaskEnd): false {
    task.abandoned ??= end;
    this.threads.cancel(worker, task);
    return false;
  }

  private admitWaitingTasks(): void {
    while (this.waiting.length > 0 && this.queueLength < this.settings.maxQueue) {
      const task = this.waiting.shift();
      if (task !== undefined) this.enqueue(task);
    }
  }

  private learnDuration(worker: PoolWorker, now: number): void {
    const gap = now - worker.reportedAt;
    worker.reportedAt = now;
    if (gap > LONG_TASK_MS) worker.stagedMax = 0;
    else if (gap < SHORT_TASK_MS) worker.stagedMax = Math.min(STAGED_MAX, worker.stagedMax * 2 + 1);
  }

  private startWorker(): PoolWorker | undefined {
    this.workerCount += 1;
    const worker = new PoolWorker(this.workerCount, `${this.settings.name}-worker-${this.workerCount}`);
    try {
      this.threads.start(worker);
    } catch (error) {
      this.startFailed(worker, error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
    this.workers.add(worker);
    this.starting += 1;
    this.largest = Math.max(this.largest, this.live);
    return worker;
  }

  private startFailed(worker: PoolWorker, error: Error): void {
    this.startError = error;
    this.observer.threadStartFailed(worker, error);
  }

  private growToMinimum(): void {
    if (this.live < this.size.minThreads) this.startWorker();
  }

  /** A thread that is starting and lost its task to another one. */
  private spareStarting(): PoolWorker | undefined {
    if (this.starting === 0) return undefined;
    for (const worker of this.workers) {
      if (worker.stage === 'starting' && worker.current === undefined) return worker;
    }
    return undefined;
  }

  private assignQueued(worker: PoolWorker): void {
    const task = this.takePending();
    if (task === undefined) return;
    this.assign(worker, task);
    this.admitWaitingTasks();
  }

  /** New threads for queued tasks, as far as the maximum allows. */
  private growForQueue(): void {
    while (this.pendingLength > 0 && this.live < this.size.maxThreads) {
      const worker = this.spareStarting() ?? this.startWorker();
      if (worker === undefined) return;
      this.assignQueued(worker);
    }
  }

  /** Tasks that came back from a thread go to idle threads, and to starting ones without a task. */
  private serveReturned(now: number): void {
    while (this.pendingLength > 0) {
      const idle = this.ready.pop();
      const spare = idle === undefined ? this.spareStarting() : undefined;
      if (idle !== undefined) this.free(idle, now);
      else if (spare !== undefined) this.assignQueued(spare);
      else return;
    }
  }

  /**
   * Takes the tasks of a thread that ended. One that it never took up goes back to its place in the queue.
   */
  private takeBackFrom(worker: PoolWorker, error: Error, neverUp: boolean): void {
    const lost = [worker.current, ...worker.claimed].filter((task) => task !== undefined);
    worker.current = undefined;
    worker.claimed.length = 0;
    for (const task of worker.staged.slice().reverse()) {
      if (!this.withdraw(worker, task)) break;
      this.queue.add(task);
    }
    lost.push(...worker.claimed.splice(0));
    for (const task of lost) {
      this.active -= 1;
      const begun = !neverUp && !this.threads.withdraw(worker, task);
      if (task.abandoned === undefined && !begun && (neverUp || !task.movesArguments)) this.enqueue(task);
      else this.lose(task, worker, error);
    }
  }

  private lose(task: PoolTask, worker: PoolWorker, error: Error): void {
    const { abandoned } = task;
    this.count(task, abandoned ?? 'failed');
    if (abandoned === undefined) this.observer.taskLost(task, worker, error);
  }

  /** No thread is left and none can be had: tasks that no thread would ever take do not stay. */
  private loseQueued(worker: PoolWorker): void {
    const error = this.startError ?? new Error('no thread can be created');
    for (let task = this.queue.shift(); task !== undefined; task = this.queue.shift()) {
      this.lose(task, worker, error);
    }
    for (let task = this.waiting.shift(); task !== undefined; task = this.waiting.shift()) {
      this.lose(task, worker, error);
    }
  }

  /** Queued tasks get a new thread in any state; a running pool keeps its minimum. */
  private replace(failed: boolean): void {
    this.growForQueue();
    if (failed && this.currentState === 'running' && this.live < this.size.minThreads) this.startWorker();
  }

  private end(worker: PoolWorker): void {
    if (worker.stage === 'ending') return;
    if (worker.stage === 'starting') this.starting -= 1;
    worker.stage = 'ending';
    this.leaving += 1;
    this.threads.end(worker);
  }

  private dropWorker(worker: PoolWorker): void {
    this.workers.delete(worker);
    if (worker.stage === 'ending') this.leaving -= 1;
    if (worker.stage === 'starting') this.starting -= 1;
    const at = this.ready.indexOf(worker);
    if (at !== -1) this.ready.splice(at, 1);
  }

  private checkTermination(): void {
    if (this.currentState !== 'shutting-down' || this.workers.size > 0 || this.pendingLength > 0) return;
    this.currentState = 'shut-down';
    this.observer.terminated();
  }

  /** Whether every thread is at a task that waits for a subtask; `asker` is about to. */
  private allWait(asker: PoolTask | undefined): boolean {
    for (const { current, stage } of this.workers) {
      if (stage === 'starting') return false;
      if (current !== undefined && current !== asker && current.openChildren === 0) return false;
    }
    return true;
  }
}
