import { checkOptions, numberAbove } from '@troupe/core/option-check';
import type { PoolCounters } from './machine/pool-counters.js';
import type { Admission } from './machine/pool-machine.js';
import type { PoolState } from './machine/pool-state.js';
import type { PoolSize } from './machine/pool-workers.js';
import { PoolCycleError, PoolFullError, PoolShutDownError, TaskCancelledError } from './pool-errors.js';
import type { PoolEvent } from './pool-event.js';
import { checkedSize, type PoolOptions, poolSettings } from './pool-options.js';
import { PoolParts } from './pool-parts.js';
import type { PoolPorts } from './pool-ports.js';
import { PoolTask } from './task/pool-task.js';
import { runHere } from './task/run-here.js';
import {
  callOf,
  moduleTasks,
  type Task,
  type TaskCall,
  type TaskResult,
  type Tasks,
} from './task/task-modules.js';
import { asItems } from './task/task-stream.js';
import { nodePoolPorts } from './threads/node-pool-threads.js';

/** The fate of a posted task. */
export type PostResult = 'started' | 'queued' | 'waiting' | 'ran-here' | 'discarded';

const withinRules = { withinMs: numberAbove(0) };

/**
 * Runs functions of modules on threads. A task goes to an idle thread, else to a new one below the maximum,
 * else into the queue, else to the fallback. Everything that calls code of the user is deferred until the
 * state of the pool is consistent, so that this code may call the pool again.
 */
export class ThreadPoolExecutor implements AsyncDisposable {
  /** The first part of the names of its threads. */
  readonly name: string;
  private readonly ports: PoolPorts;
  private readonly parts: PoolParts;
  private terminationWaiters: (() => void)[] = [];
  private rejected = 0;
  private ranHere = 0;

  /** The second argument is for tests: time, threads and modules of another kind. */
  constructor(options: PoolOptions = {}, ports: PoolPorts = nodePoolPorts) {
    const settings = poolSettings(options, ports.parallelism);
    this.name = settings.name;
    this.ports = ports;
    this.parts = new PoolParts(
      settings,
      ports,
      options.onEvent,
      () => {
        for (const waiter of this.terminationWaiters.splice(0)) waiter();
      },
      (call, args, parent) => this.submitCall(call, args, parent),
    );
  }

  /** Whether it takes tasks, finishes them or has ended. */
  get state(): PoolState {
    return this.parts.machine.state;
  }

  /** Tasks and threads, now and in all. */
  get counters(): PoolCounters {
    return { ...this.parts.machine.counters, rejected: this.rejected, ranHere: this.ranHere };
  }

  /** The functions that a module exports, typed by `typeof import('./x.js')`. */
  tasks<M>(module: URL | string): Tasks<M> {
    return moduleTasks<M>(module, (call, args) => this.submitCall(call, args, undefined));
  }

  /** The same as calling the task. Refusals are rejections. */
  submit<A extends readonly unknown[], R>(task: Task<A, R>, ...args: A): TaskResult<R> {
    return this.submitCall(callOf(task), args, undefined) as TaskResult<R>; // Task carries both types
  }

  /**
   * As `submit`, if a thread or the queue takes the task at once; else undefined, and no fallback is used.
   */
  trySubmit<A extends readonly unknown[], R>(task: Task<A, R>, ...args: A): TaskResult<R> | undefined {
    const { target, options } = callOf(task);
    const made = new PoolTask(target, args, options);
    const promise = promiseOf(made);
    const admission = this.admit(made);
    if (admission === 'started' || admission === 'queued') return promise as TaskResult<R>;
    return undefined;
  }

  /** Starts a task whose result is not wanted. Throws if it is refused; failures are events. */
  post<A extends readonly unknown[], R>(task: Task<A, R>, ...args: A): PostResult {
    const { target, options } = callOf(task);
    const made = new PoolTask(target, args, options);
    const refusal = this.accept(made);
    if (refusal instanceof Error) throw refusal;
    return refusal;
  }

  /** Changes the limits. Idle threads above the maximum end now, busy ones after their task. */
  resize(size: Partial<PoolSize>): void {
    checkOptions('pool size', size, { minThreads: () => undefined, maxThreads: () => undefined });
    this.parts.machine.resize(checkedSize(this.parts.machine.sizeWith(size)), this.parts.host.now());
    this.parts.settle();
    this.parts.requestFlush();
  }

  /** Gets every event from now on; returns the function that ends the subscription. */
  subscribe(listener: (event: PoolEvent) => void): () => void {
    return this.parts.events.subscribe(listener);
  }

  /**
   * Accepts nothing more and resolves when everything accepted has ended: `drained`. After `withinMs` the
   * rest is killed: `killed`.
   */
  async shutdown(options: { readonly withinMs?: number | undefined } = {}): Promise<'drained' | 'killed'> {
    checkOptions('shutdown options', options, withinRules);
    this.parts.machine.shutdown();
    this.parts.settle();
    if (await this.waitForTermination(options)) return 'drained';
    await this.kill();
    return 'killed';
  }

  /**
   * Ends every thread at once; every task that has not ended is rejected. Resolves when the threads are
   * gone.
   */
  async kill(): Promise<void> {
    for (const task of this.parts.machine.kill()) {
      const error = new PoolShutDownError(this.name, task.name, 'was ended: the pool was killed');
      this.parts.ends.reject(task, error);
    }
    this.parts.settle();
    await this.waitForTermination();
  }

  /** True once the pool is shut down, false if it is not within the time. Does not shut it down. */
  waitForTermination(options: { readonly withinMs?: number | undefined } = {}): Promise<boolean> {
    checkOptions('wait options', options, withinRules);
    if (this.parts.machine.state === 'shut-down') return Promise.resolve(true);
    return new Promise((resolve) => {
      const { withinMs } = options;
      const timer =
        withinMs === undefined
          ? undefined
          : this.parts.host.setTimer(withinMs, () => resolve(this.state === 'shut-down'));
      this.terminationWaiters.push(() => {
        timer?.cancel();
        resolve(true);
      });
    });
  }

  /** Waits for all tasks. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  // --- acceptance ---

  private submitCall(
    { target, options }: TaskCall,
    args: readonly unknown[],
    parent: PoolTask | undefined,
  ): unknown {
    const task = new PoolTask(target, args, options, parent);
    const promise = promiseOf(task);
    const refusal = this.accept(task);
    if (refusal instanceof Error) task.reject?.(refusal);
    return promise;
  }

  private accept(task: PoolTask): PostResult | Error {
    const admission = this.admit(task);
    if (admission === 'started' || admission === 'queued') return admission;
    const result = this.fallBack(task, admission);
    this.parts.settle();
    return result;
  }

  private admit(task: PoolTask): Admission | 'aborted' | 'shut-down' {
    const { signal } = task.options;
    if (signal?.aborted) return 'aborted';
    if (this.parts.machine.state !== 'running') return 'shut-down';
    const admission = this.parts.machine.admit(task, this.parts.host.now());
    if (admission === 'started' || admission === 'queued') {
      this.parts.ends.arm(task);
      this.parts.requestFlush();
    }
    this.parts.settle();
    return admission;
  }

  private fallBack(task: PoolTask, admission: Admission | 'aborted' | 'shut-down'): PostResult | Error {
    const { fallback } = this.parts.settings;
    if (admission === 'full' && fallback === 'wait' && this.parts.machine.admitWaiting(task)) {
      this.parts.ends.arm(task);
      return 'waiting';
    }
    if (admission === 'full' && fallback === 'caller-runs') {
      this.ranHere += 1;
      this.parts.deferred.add(() => void this.runHere(task));
      return 'ran-here';
    }
    this.rejected += 1;
    const error = this.refusal(task, admission);
    this.parts.report({ kind: 'task-rejected', pool: this.name, task: task.name, error });
    const isDiscarded = fallback === 'discard' && (admission === 'full' || admission === 'shut-down');
    if (!isDiscarded) return error;
    task.reject?.(error);
    return 'discarded';
  }

  private refusal(task: PoolTask, admission: Admission | 'aborted' | 'shut-down'): Error {
    if (admission === 'aborted') return new TaskCancelledError(task.name, task.options.signal?.reason);
    if (admission === 'shut-down') {
      return new PoolShutDownError(
        this.name,
        task.name,
        `was refused: the pool is ${this.parts.machine.state}`,
      );
    }
    if (admission === 'cycle') return new PoolCycleError(this.name, task.path);
    if (admission === 'no-thread') return this.parts.machine.startError ?? new Error('no thread');
    const { threads, queueLength } = this.parts.machine.counters;
    return new PoolFullError(this.name, task.name, threads, queueLength);
  }

  private async runHere(task: PoolTask): Promise<void> {
    try {
      const value = await runHere(task, this.ports, (call, args) => this.submitCall(call, args, undefined));
      task.resolve?.(value);
    } catch (error) {
      this.parts.ends.fail(task, error as Error); // runHere throws errors only
      this.parts.settle();
    }
  }
}

function promiseOf(task: PoolTask): Promise<unknown> {
  const ended = new Promise<unknown>((resolve, reject) => {
    task.resolve = resolve;
    task.reject = reject;
  });
  return asItems(ended);
}
