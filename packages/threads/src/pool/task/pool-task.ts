import type { HostTimer } from '@troupe/core';
import type { PoolWorker } from '../machine/pool-worker.js';
import type { TaskOptions } from './task-options.js';
import type { TaskStream } from './task-stream.js';

/** A function of a module: all that a thread needs to find the code of a task. */
export interface TaskTarget {
  readonly module: string;
  readonly export: string;
}

/**
 * Stages of a task, in order. Waiting: accepted, outside of the full queue. Queued: in the queue, perhaps
 * sent ahead to a thread. Active: given to a thread, or begun there. Ended: counted.
 */
export type TaskStage = 'new' | 'waiting' | 'queued' | 'active' | 'ended';

/** How the pool counts the end of a task. */
export type TaskEnd = 'completed' | 'failed' | 'cancelled';

/** One call. The first group of fields is the pool machine's, the second the executor's. */
export class PoolTask {
  readonly target: TaskTarget;
  readonly priority: number;
  /** Whether the arguments can be sent twice: moved ones cannot. */
  readonly movesArguments: boolean;
  /** The task of this pool that waits for this one. */
  readonly parent: PoolTask | undefined;
  stage: TaskStage = 'new';
  worker: PoolWorker | undefined;
  sequence = 0;
  previous: PoolTask | undefined;
  next: PoolTask | undefined;
  /** Subtasks that this task waits for. */
  openChildren = 0;
  /**
   * Set once the caller has its answer while the thread is still at work: this is then how the end counts.
   */
  abandoned: TaskEnd | undefined;

  args: readonly unknown[];
  readonly options: TaskOptions;
  resolve: ((value: unknown) => void) | undefined;
  reject: ((error: Error) => void) | undefined;
  timer: HostTimer | undefined;
  graceTimer: HostTimer | undefined;
  stopListening: (() => void) | undefined;
  stream: TaskStream<unknown> | undefined;

  /** Of the port: the place of the task in the memory of its thread. */
  slot = 0;
  tag = 0;

  constructor(target: TaskTarget, args: readonly unknown[], options: TaskOptions, parent?: PoolTask) {
    this.target = target;
    this.args = args;
    this.options = options;
    this.priority = options.priority ?? 0;
    this.movesArguments = options.transfer !== undefined && options.transfer.length > 0;
    this.parent = parent;
    this.resolve = undefined;
    this.reject = undefined;
    this.timer = undefined;
    this.graceTimer = undefined;
    this.stopListening = undefined;
    this.stream = undefined;
  }

  get name(): string {
    return this.target.export;
  }

  /** The tasks that wait for this one, outermost first, and this one. */
  get path(): readonly string[] {
    const path: string[] = [];
    for (let task: PoolTask | undefined = this; task !== undefined; task = task.parent)
      path.unshift(task.name);
    return path;
  }
}
