import { AsyncLocalStorage } from 'node:async_hooks';
import { NoTaskError } from '../pool-errors.js';
import type { Tasks } from './task-modules.js';

/** The task that the present code is part of, as `currentTask()` shows it. */
export interface CurrentTask {
  /** The name of the function. */
  readonly name: string;
  /** The name of the thread; `caller` if the task runs in the thread that submitted it. */
  readonly thread: string;
  /** Fires when the task is cancelled or past its time limit. A loop that never awaits uses `cancelled`. */
  readonly signal: AbortSignal;
  /**
   * The same as `signal.aborted`, read from shared memory: true at once, also in a loop that never awaits.
   */
  readonly cancelled: boolean;
  /** Calls `onProgress` of the caller with a copy of the value. */
  progress(value: unknown): void;
  /** Functions of a module as tasks of the same pool, submitted by this task. */
  tasks<M>(module: URL | string): Tasks<M>;
}

// On globalThis, because a bundle may hold this module twice: once beside the pool, once beside the task.
const KEY = Symbol.for('@troupe/threads/current-task');

function storage(): AsyncLocalStorage<CurrentTask> {
  const place = globalThis as unknown as Record<symbol, AsyncLocalStorage<CurrentTask> | undefined>;
  place[KEY] ??= new AsyncLocalStorage<CurrentTask>();
  return place[KEY];
}

/** The task that this code is part of, across its awaits. Throws outside of a task. */
export function currentTask(): CurrentTask {
  const task = storage().getStore();
  if (task === undefined) throw new NoTaskError();
  return task;
}

export function runInTask<A extends readonly unknown[], R>(
  task: CurrentTask,
  run: (...args: A) => R,
  args: A,
): R {
  return storage().run(task, run, ...args);
}
