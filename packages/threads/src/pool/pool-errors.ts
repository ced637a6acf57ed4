import { TroupeError } from '@troupe/core';
import { keepClassNames } from '@troupe/core/class-names';

/** The pool has no idle thread, no room for another, and its queue is full. */
export class PoolFullError extends TroupeError {
  readonly code = 'ERR_POOL_FULL';
  readonly pool: string;
  readonly task: string;
  constructor(pool: string, task: string, threads: number, queued: number) {
    super(
      `pool ${pool} is full, ${task} was refused: ${threads} threads are busy and ${queued} tasks wait; ` +
        'submit fewer at once, raise maxQueue, or choose another fallback',
    );
    this.pool = pool;
    this.task = task;
  }
}

/** The pool is shutting down or was shut down or killed. */
export class PoolShutDownError extends TroupeError {
  readonly code = 'ERR_POOL_SHUT_DOWN';
  readonly pool: string;
  readonly task: string;
  constructor(pool: string, task: string, event: string) {
    super(`pool ${pool}: ${task} ${event}`);
    this.pool = pool;
    this.task = task;
  }
}

/** The task would wait for a thread of its own pool while all of them wait for tasks. */
export class PoolCycleError extends TroupeError {
  readonly code = 'ERR_POOL_CYCLE';
  readonly pool: string;
  readonly path: readonly string[];
  constructor(pool: string, path: readonly string[]) {
    super(
      `pool ${pool}: ${path.join(' → ')} was refused: every thread is at a task that waits for the pool; ` +
        'post it without waiting, call the function directly, or raise maxThreads',
    );
    this.pool = pool;
    this.path = path;
  }
}

/** The code of a task threw or rejected; `cause` is its error. */
export class TaskFailedError extends TroupeError {
  readonly code = 'ERR_TASK_FAILED';
  readonly task: string;
  constructor(task: string, cause: Error) {
    super(`${task}: ${cause.message}`, { cause });
    this.task = task;
  }
}

/** The task did not end within its time limit. */
export class TaskTimeoutError extends TroupeError {
  readonly code = 'ERR_TASK_TIMEOUT';
  readonly task: string;
  readonly withinMs: number;
  constructor(task: string, withinMs: number, stage: string) {
    super(`${task}: did not end within ${withinMs} ms; at that time it was ${stage}`);
    this.task = task;
    this.withinMs = withinMs;
  }
}

/** The task was given up by its caller before it ended. */
export class TaskCancelledError extends TroupeError {
  readonly code = 'ERR_TASK_CANCELLED';
  readonly task: string;
  constructor(task: string, cause?: unknown) {
    super(`${task}: was cancelled by its caller`, cause === undefined ? undefined : { cause });
    this.task = task;
  }
}

/** The module of a task could not be imported, or has no function of that name. */
export class TaskUnknownError extends TroupeError {
  readonly code = 'ERR_TASK_UNKNOWN';
  readonly module: string;
  readonly task: string;
  readonly problem: string;
  constructor(module: string, task: string, problem: string, cause?: unknown) {
    super(`${task} of ${module}: ${problem}`, cause === undefined ? undefined : { cause });
    this.module = module;
    this.task = task;
    this.problem = problem;
  }
}

/** `currentTask()` was called outside of a task. */
export class NoTaskError extends TroupeError {
  readonly code = 'ERR_NO_TASK';
  constructor() {
    super('currentTask(): this code does not run inside a task of a ThreadPoolExecutor');
  }
}

keepClassNames({
  NoTaskError,
  PoolCycleError,
  PoolFullError,
  PoolShutDownError,
  TaskCancelledError,
  TaskFailedError,
  TaskTimeoutError,
  TaskUnknownError,
});
