import type { Host } from '@troupe/core';
import type { PoolThreads } from './machine/pool-threads.js';
import type { PoolWorker } from './machine/pool-worker.js';
import type { PoolSettings } from './pool-options.js';
import type { PoolTask, TaskTarget } from './task/pool-task.js';
import type { TaskOptions } from './task/task-options.js';

/** Everything outside of a pool: time, threads, modules. */
export interface PoolPorts {
  readonly host: Host;
  /** The number of processors. */
  readonly parallelism: number;
  openThreads(settings: PoolSettings, reports: PoolThreadReports): ExecutorThreads;
  /** Imports a module into the calling thread. */
  importModule(url: string): Promise<Readonly<Record<string, unknown>>>;
}

/** The threads as the executor uses them. */
export interface ExecutorThreads extends PoolThreads {
  /** Sends what `run`, `stage` and `cancel` have gathered. */
  flush(): void;
  /** Brings the reports of a thread up to date. */
  drain(worker: PoolWorker): void;
  /** The consumer of a stream has taken items: the thread may send as many more. */
  grantItems(worker: PoolWorker, task: PoolTask, count: number): void;
  /** The end of a subtask, for the task in a thread that submitted it. */
  answerSubtask(worker: PoolWorker, id: number, error: Error | null, value: unknown): void;
  subtaskProgressed(worker: PoolWorker, id: number, value: unknown): void;
}

/** Reports of threads, each from the event loop, never from within a call of the port. */
export interface PoolThreadReports {
  up(worker: PoolWorker): void;
  finished(worker: PoolWorker, task: PoolTask, error: Error | null, value: unknown): void;
  /** The arguments of a task could not be sent. */
  unsendable(worker: PoolWorker, task: PoolTask, error: Error): void;
  /** Exactly once per thread, after everything else. `error`: why a thread ended that was not ended. */
  ended(worker: PoolWorker, error: Error): void;
  /** All reports that were there have been made: a good time to flush. */
  drained(): void;
  progressed(task: PoolTask, value: unknown): void;
  streamStarted(worker: PoolWorker, task: PoolTask): void;
  streamed(task: PoolTask, value: unknown): void;
  subtask(worker: PoolWorker, parent: PoolTask, request: SubtaskRequest): void;
  /** The signal that a task has given to its subtask has fired. */
  cancelSubtask(worker: PoolWorker, id: number, reason: Error): void;
}

/** A task submitted by a task. Its number is that of its thread. */
export interface SubtaskRequest {
  readonly id: number;
  readonly target: TaskTarget;
  readonly args: readonly unknown[];
  readonly options: Pick<TaskOptions, 'priority' | 'withinMs'>;
  readonly hasSignal: boolean;
  readonly wantsProgress: boolean;
}
