import type { PoolTask } from '../task/pool-task.js';
import type { PoolThreads } from './pool-threads.js';
import { PoolWorker } from './pool-worker.js';

export interface PoolSize {
  readonly minThreads: number;
  readonly maxThreads: number;
}

/** The threads of a pool: those that start, work, are ready or end. */
export class PoolWorkers implements Iterable<PoolWorker> {
  size: PoolSize;
  largest = 0;
  /** The reason of the last thread that could not be started. */
  startError: Error | undefined;
  private readonly name: string;
  private readonly threads: PoolThreads;
  private readonly onStartFailed: (worker: PoolWorker, error: Error) => void;
  private readonly all = new Set<PoolWorker>();
  /** A stack: the last to become idle is the first to work, and the first element has been idle longest. */
  private readonly ready: PoolWorker[] = [];
  /** Threads without a task that were ended: they count no more, but the pool ends after them. */
  private leaving = 0;
  private starting = 0;
  private started = 0;

  constructor(
    name: string,
    size: PoolSize,
    threads: PoolThreads,
    onStartFailed: PoolWorkers['onStartFailed'],
  ) {
    this.name = name;
    this.size = size;
    this.threads = threads;
    this.onStartFailed = onStartFailed;
  }

  [Symbol.iterator](): Iterator<PoolWorker> {
    return this.all.values();
  }

  /** Without those that are ending. */
  get live(): number {
    return this.all.size - this.leaving;
  }

  get readyCount(): number {
    return this.ready.length;
  }

  get isEmpty(): boolean {
    return this.all.size === 0;
  }

  has(worker: PoolWorker): boolean {
    return this.all.has(worker);
  }

  isReady(worker: PoolWorker): boolean {
    return this.ready.includes(worker);
  }

  /** Undefined where no thread can be created: that is reported. */
  start(): PoolWorker | undefined {
    this.started += 1;
    const worker = new PoolWorker(this.started, `${this.name}-worker-${this.started}`);
    try {
      this.threads.start(worker);
    } catch (error) {
      this.startFailed(worker, error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
    this.all.add(worker);
    this.starting += 1;
    this.largest = Math.max(this.largest, this.live);
    return worker;
  }

  startFailed(worker: PoolWorker, error: Error): void {
    this.startError = error;
    this.onStartFailed(worker, error);
  }

  up(worker: PoolWorker): void {
    this.starting -= 1;
    worker.stage = 'busy';
  }

  takeReady(): PoolWorker | undefined {
    return this.ready.pop();
  }

  rest(worker: PoolWorker, now: number): void {
    worker.stage = 'idle';
    worker.idleSince = now;
    this.ready.push(worker);
  }

  /** A thread that is starting and has no task. */
  get spareStarting(): PoolWorker | undefined {
    if (this.starting === 0) return undefined;
    for (const worker of this.all)
      if (worker.stage === 'starting' && worker.current === undefined) return worker;
    return undefined;
  }

  /** Whether every thread is at a task that waits for a subtask; `asker` is about to. */
  allWait(asker: PoolTask | undefined): boolean {
    for (const { current, stage } of this.all) {
      if (stage === 'starting') return false;
      if (current !== undefined && current !== asker && current.openChildren === 0) return false;
    }
    return true;
  }

  /** The longest idle threads above the minimum end. Only threads of the ready set: none has a task. */
  prune(now: number, idleMs: number): void {
    for (let at = this.pruneAt(idleMs); at !== undefined && at <= now; at = this.pruneAt(idleMs))
      this.end(this.ready.shift() as PoolWorker);
  }

  /** When `prune` has something to do next. */
  pruneAt(idleMs: number): number | undefined {
    const oldest = this.ready[0];
    return oldest === undefined || this.live <= this.size.minThreads ? undefined : oldest.idleSince + idleMs;
  }

  /** Ends idle threads, those that were idle longest first. */
  endReady(most: number): void {
    for (const worker of this.ready.splice(0, most)) this.end(worker);
  }

  /** Ends threads that are starting and have no task: the pool would wait for them only to end them. */
  endSpare(): void {
    for (let spare = this.spareStarting; spare !== undefined; spare = this.spareStarting) this.end(spare);
  }

  end(worker: PoolWorker): void {
    if (worker.stage === 'ending') return;
    if (worker.stage === 'starting') this.starting -= 1;
    worker.stage = 'ending';
    this.leaving += 1;
    this.threads.end(worker);
  }

  endAll(): void {
    this.ready.length = 0;
    for (const worker of this.all) this.end(worker);
  }

  /** The thread has ended. */
  drop(worker: PoolWorker): void {
    this.all.delete(worker);
    if (worker.stage === 'ending') this.leaving -= 1;
    if (worker.stage === 'starting') this.starting -= 1;
    const at = this.ready.indexOf(worker);
    if (at !== -1) this.ready.splice(at, 1);
  }
}
