import type { Host, HostTimer } from '@troupe/core';
import { checkOptions, numberAbove } from '@troupe/core/option-check';
import { EventListeners } from './event-listeners.js';
import type { PoolCounters } from './machine/pool-counters.js';
import { type Admission, PoolMachine, type PoolSize, type PoolState } from './machine/pool-machine.js';
import type { PoolWorker } from './machine/pool-worker.js';
import { nodePoolPorts } from './node-pool-threads.js';
import {
  PoolCycleError,
  PoolFullError,
  PoolShutDownError,
  TaskCancelledError,
  TaskTimeoutError,
} from './pool-errors.js';
import type { PoolEvent } from './pool-event.js';
import { checkedSize, type PoolOptions, type PoolSettings, poolSettings } from './pool-options.js';
import type { ExecutorThreads, PoolPorts, PoolThreadReports, SubtaskRequest } from './pool-ports.js';
import { PoolTask, type TaskEnd } from './pool-task.js';
import { runHere } from './run-here.js';
import {
  callOf,
  moduleTasks,
  type Submit,
  type Task,
  type TaskCall,
  type TaskResult,
  type Tasks,
} from './task-modules.js';
import { TaskStream } from './task-stream.js';

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
  private readonly settings: PoolSettings;
  private readonly ports: PoolPorts;
  private readonly host: Host;
  private readonly threads: ExecutorThreads;
  private readonly machine: PoolMachine;
  private readonly events: EventListeners;
  private readonly deferred: (() => void)[] = [];
  private isActing = false;
  private isFlushing = false;
  private pruneTimer: HostTimer | undefined;
  private terminationWaiters: (() => void)[] = [];
  private rejected = 0;
  private ranHere = 0;

  /** The second argument is for tests: time, threads and modules of another kind. */
  constructor(options: PoolOptions = {}, ports: PoolPorts = nodePoolPorts) {
    this.settings = poolSettings(options, ports.parallelism);
    this.name = this.settings.name;
    this.ports = ports;
    this.host = ports.host;
    this.events = new EventListeners(this.name, ports.host, options.onEvent);
    this.threads = ports.openThreads(this.settings, this.reports());
    this.machine = new PoolMachine(this.settings, this.threads, {
      threadStartFailed: ({ name: thread }, error) =>
        this.report({ kind: 'thread-start-failed', pool: this.name, thread, error }),
      taskLost: (task, _worker, error) => this.fail(task, error),
      terminated: () => {
        for (const waiter of this.terminationWaiters.splice(0)) waiter();
      },
    });
  }

  /** Whether it takes tasks, finishes them or has ended. */
  get state(): PoolState {
    return this.machine.state;
  }

  /** Tasks and threads, now and in all. */
  get counters(): PoolCounters {
    return { ...this.machine.counters, rejected: this.rejected, ranHere: this.ranHere };
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
    this.machine.resize(checkedSize(this.machine.sizeWith(size)), this.host.now());
    this.settle();
    this.requestFlush();
  }

  /** Gets every event from now on; returns the function that ends the subscription. */
  subscribe(listener: (event: PoolEvent) => void): () => void {
    return this.events.subscribe(listener);
  }

  /**
   * Accepts nothing more and resolves when everything accepted has ended: `drained`. After `withinMs` the
   * rest is killed: `killed`.
   */
  async shutdown(options: { readonly withinMs?: number | undefined } = {}): Promise<'drained' | 'killed'> {
    checkOptions('shutdown options', options, withinRules);
    this.machine.shutdown();
    this.settle();
    if (await this.waitForTermination(options)) return 'drained';
    await this.kill();
    return 'killed';
  }

  /**
   * Ends every thread at once; every task that has not ended is rejected. Resolves when the threads are
   * gone.
   */
  async kill(): Promise<void> {
    for (const task of this.machine.kill()) {
      this.disarm(task);
      const error = new PoolShutDownError(this.name, task.name, 'was ended: the pool was killed');
      this.reject(task, error);
    }
    this.settle();
    await this.waitForTermination();
  }

  /** True once the pool is shut down, false if it is not within the time. Does not shut it down. */
  waitForTermination(options: { readonly withinMs?: number | undefined } = {}): Promise<boolean> {
    checkOptions('wait options', options, withinRules);
    if (this.machine.state === 'shut-down') return Promise.resolve(true);
    return new Promise((resolve) => {
      const { withinMs } = options;
      const timer =
        withinMs === undefined
          ? undefined
          : this.host.setTimer(withinMs, () => resolve(this.state === 'shut-down'));
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
    this.settle();
    return result;
  }

  private admit(task: PoolTask): Admission | 'aborted' | 'shut-down' {
    const { signal } = task.options;
    if (signal?.aborted) return 'aborted';
    if (this.machine.state !== 'running') return 'shut-down';
    const admission = this.machine.admit(task, this.host.now());
    if (admission === 'started' || admission === 'queued') {
      this.arm(task);
      this.requestFlush();
    }
    if (this.deferred.length > 0) this.settle();
    return admission;
  }

  private fallBack(task: PoolTask, admission: Admission | 'aborted' | 'shut-down'): PostResult | Error {
    const { fallback } = this.settings;
    if (admission === 'full' && fallback === 'wait' && this.machine.admitWaiting(task)) {
      this.arm(task);
      return 'waiting';
    }
    if (admission === 'full' && fallback === 'caller-runs') {
      this.ranHere += 1;
      this.deferred.push(() => void this.runHere(task));
      return 'ran-here';
    }
    this.rejected += 1;
    const error = this.refusal(task, admission);
    this.report({ kind: 'task-rejected', pool: this.name, task: task.name, error });
    const isDiscarded = fallback === 'discard' && (admission === 'full' || admission === 'shut-down');
    if (!isDiscarded) return error;
    task.reject?.(error);
    return 'discarded';
  }

  private refusal(task: PoolTask, admission: Admission | 'aborted' | 'shut-down'): Error {
    if (admission === 'aborted') return new TaskCancelledError(task.name, task.options.signal?.reason);
    if (admission === 'shut-down') {
      return new PoolShutDownError(this.name, task.name, `was refused: the pool is ${this.machine.state}`);
    }
    if (admission === 'cycle') return new PoolCycleError(this.name, task.path);
    if (admission === 'no-thread') return this.machine.startError ?? new Error('no thread');
    const { threads, queueLength } = this.machine.counters;
    return new PoolFullError(this.name, task.name, threads, queueLength);
  }

  // --- limits of a task ---

  private arm(task: PoolTask): void {
    const { withinMs, signal } = task.options;
    if (withinMs !== undefined) {
      task.timer = this.host.setTimer(withinMs, () => {
        this.giveUp(task, 'failed', (stage) => new TaskTimeoutError(task.name, withinMs, stage));
      });
    }
    if (signal === undefined) return;
    const onAbort = (): void =>
      this.giveUp(task, 'cancelled', () => new TaskCancelledError(task.name, signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    task.stopListening = () => signal.removeEventListener('abort', onAbort);
  }

  private disarm(task: PoolTask): void {
    task.timer?.cancel();
    task.graceTimer?.cancel();
    task.stopListening?.();
    task.stopListening = undefined;
  }

  /**
   * The caller has its answer now. A thread at work gets a grace to react to its signal, then it is ended.
   */
  private giveUp(task: PoolTask, end: TaskEnd, errorAt: (stage: string) => Error): void {
    if (task.worker !== undefined) this.threads.drain(task.worker);
    if (task.stage === 'ended' || task.abandoned !== undefined) return;
    const error = errorAt(task.stage === 'active' ? 'running' : task.stage);
    const isOut = this.machine.cancel(task, end);
    this.disarm(task);
    if (end === 'failed') this.fail(task, error);
    else this.reject(task, error);
    if (!isOut) task.graceTimer = this.host.setTimer(this.settings.graceMs, () => this.endThread(task));
    this.settle();
    this.requestFlush();
  }

  private endThread(task: PoolTask): void {
    if (task.worker !== undefined) this.threads.drain(task.worker);
    this.machine.endThreadOf(task);
    this.settle();
  }

  // --- reports of threads ---

  private reports(): PoolThreadReports {
    return {
      up: (worker) => {
        this.report({ kind: 'thread-started', pool: this.name, thread: worker.name });
        this.machine.up(worker, this.host.now());
        this.drained();
      },
      finished: (worker, task, error, value) => this.finished(worker, task, error, value),
      unsendable: (worker, task, error) => this.unsendable(worker, task, error),
      ended: (worker, error) => this.threadEnded(worker, error),
      drained: () => this.drained(),
      progressed: (task, value) => this.progressed(task, value),
      streamStarted: (worker, task) => this.streamStarted(worker, task),
      streamed: (task, value) => task.stream?.push(value),
      subtask: (worker, parent, request) => this.subtask(worker, parent, request),
    };
  }

  private finished(worker: PoolWorker, task: PoolTask, error: Error | null, value: unknown): void {
    const isCounted = this.machine.finished(
      worker,
      task,
      error === null ? 'completed' : 'failed',
      this.host.now(),
    );
    if (!isCounted) return;
    if (task.abandoned !== undefined) {
      this.disarm(task);
      return;
    }
    if (error !== null) return this.fail(task, error);
    if (task.timer !== undefined || task.stopListening !== undefined) this.disarm(task);
    if (task.stream !== undefined) task.stream.end(null);
    else task.resolve?.(value);
  }

  private unsendable(worker: PoolWorker, task: PoolTask, error: Error): void {
    this.machine.unsent(worker, task, this.host.now());
    this.fail(task, error);
    this.drained();
  }

  private threadEnded(worker: PoolWorker, error: Error): void {
    const wasEnded = worker.stage === 'ending' || worker.current?.abandoned !== undefined;
    const wasUp = worker.stage !== 'starting';
    const about = { kind: 'thread-ended', pool: this.name, thread: worker.name } as const;
    if (wasUp) this.report(wasEnded ? about : { ...about, error });
    this.machine.ended(worker, error, this.host.now());
  }

  private drained(): void {
    this.settle();
    this.armPruning();
    this.requestFlush();
  }

  private progressed(task: PoolTask, value: unknown): void {
    const { onProgress } = task.options;
    if (onProgress === undefined || task.abandoned !== undefined) return;
    this.deferred.push(() => {
      try {
        onProgress(value);
      } catch (error) {
        this.events.logListenerError('onProgress', error);
      }
    });
  }

  private streamStarted(worker: PoolWorker, task: PoolTask): void {
    task.stream = new TaskStream({
      granted: (count) => this.threads.grantItems(worker, task, count),
      abandoned: () => this.giveUp(task, 'cancelled', () => new TaskCancelledError(task.name)),
    });
    task.resolve?.(task.stream);
  }

  private subtask(worker: PoolWorker, parent: PoolTask, { id, target, args, options }: SubtaskRequest): void {
    const answer = (error: Error | null, value: unknown): void =>
      this.threads.answerSubtask(worker, id, error, value);
    const result = this.submitCall({ target, options }, args, parent) as Promise<unknown>;
    result.then(
      (value) => answer(null, value),
      (error: Error) => answer(error, undefined),
    );
  }

  // --- ends of tasks ---

  private fail(task: PoolTask, error: Error): void {
    this.disarm(task);
    const posted = task.reject === undefined;
    this.report({ kind: 'task-failed', pool: this.name, task: task.name, error, posted });
    this.reject(task, error);
  }

  private reject(task: PoolTask, error: Error): void {
    if (task.stream !== undefined) task.stream.end(error);
    else task.reject?.(error);
  }

  private async runHere(task: PoolTask): Promise<void> {
    try {
      const submit: Submit = (call, args) => this.submitCall(call, args, undefined);
      const value = await runHere(task, this.ports, submit);
      task.resolve?.(value);
    } catch (error) {
      this.fail(task, error as Error); // runHere throws errors only
      this.settle();
    }
  }

  // --- deferred actions, flushing, pruning ---

  private report(event: PoolEvent): void {
    if (this.events.isWanted(event)) this.deferred.push(() => this.events.publish(event));
  }

  /**
   * Runs the deferred actions, once the pool is consistent. They may call the pool: what they defer runs
   * too.
   */
  private settle(): void {
    if (this.isActing || this.deferred.length === 0) return;
    this.isActing = true;
    try {
      for (let act = this.deferred.shift(); act !== undefined; act = this.deferred.shift()) act();
    } finally {
      this.isActing = false;
    }
  }

  /** Tasks of one turn go to the threads together. */
  private requestFlush(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    this.host.soon(this.flush);
  }

  private readonly flush = (): void => {
    this.isFlushing = false;
    this.machine.stageAhead();
    this.threads.flush();
  };

  private armPruning(): void {
    const { pruneAt } = this.machine;
    if (pruneAt === undefined || this.pruneTimer !== undefined) return;
    this.pruneTimer = this.host.setTimer(Math.max(0, pruneAt - this.host.now()), () => {
      this.pruneTimer = undefined;
      this.machine.prune(this.host.now());
      this.armPruning();
      this.settle();
    });
    this.pruneTimer.hold(false);
  }
}

/** A promise that is also the items of a task that returns an AsyncIterable. */
function promiseOf(task: PoolTask): Promise<unknown> {
  const promise = new Promise<unknown>((resolve, reject) => {
    task.resolve = resolve;
    task.reject = reject;
  });
  (promise as Promise<unknown> & { [Symbol.asyncIterator]: unknown })[Symbol.asyncIterator] = itemsOf;
  return promise;
}

async function* itemsOf(this: Promise<AsyncIterable<unknown>>): AsyncGenerator<unknown> {
  yield* await this;
}
