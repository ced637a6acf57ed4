import { TaskCancelledError, TaskTimeoutError } from './pool-errors.js';
import type { PoolParts } from './pool-parts.js';
import type { PoolTask, TaskEnd } from './task/pool-task.js';

/** How tasks end: by their thread, by their own limits, or with the pool. */
export class TaskEnds {
  private readonly pool: PoolParts;

  constructor(pool: PoolParts) {
    this.pool = pool;
  }

  /** The task was accepted: its time limit and its signal count from now on. */
  arm(task: PoolTask): void {
    const { withinMs, signal } = task.options;
    if (withinMs !== undefined) {
      task.timer = this.pool.host.setTimer(withinMs, () => {
        this.giveUp(task, 'failed', (stage) => new TaskTimeoutError(task.name, withinMs, stage));
      });
    }
    if (signal === undefined) return;
    const onAbort = (): void => this.cancel(task, signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    task.stopListening = () => signal.removeEventListener('abort', onAbort);
  }

  cancel(task: PoolTask, reason?: unknown): void {
    this.giveUp(task, 'cancelled', () => new TaskCancelledError(task.name, reason));
  }

  succeed(task: PoolTask, value: unknown): void {
    if (task.timer !== undefined || task.stopListening !== undefined) this.disarm(task);
    if (task.stream !== undefined) task.stream.end(null);
    else task.resolve?.(value);
  }

  fail(task: PoolTask, error: Error): void {
    const { pool } = this;
    const posted = task.reject === undefined;
    pool.report({ kind: 'task-failed', pool: pool.name, task: task.name, error, posted });
    this.reject(task, error);
  }

  reject(task: PoolTask, error: Error): void {
    this.disarm(task);
    if (task.stream !== undefined) task.stream.end(error);
    else task.reject?.(error);
  }

  disarm(task: PoolTask): void {
    task.timer?.cancel();
    task.graceTimer?.cancel();
    task.stopListening?.();
    task.stopListening = undefined;
  }

  /**
   * The caller has its answer now. A thread at work gets a grace to react to its signal, then it is ended.
   */
  private giveUp(task: PoolTask, end: TaskEnd, errorAt: (stage: string) => Error): void {
    const { machine, host, settings } = this.pool;
    this.drain(task);
    if (task.stage === 'ended' || task.abandoned !== undefined) return;
    const error = errorAt(task.stage === 'active' ? 'running' : task.stage);
    const isOut = machine.cancel(task, end);
    if (end === 'failed') this.fail(task, error);
    else this.reject(task, error);
    if (!isOut) task.graceTimer = host.setTimer(settings.graceMs, () => this.endThread(task));
    this.pool.settle();
    this.pool.requestFlush();
  }

  private endThread(task: PoolTask): void {
    this.drain(task);
    this.pool.machine.endThreadOf(task);
    this.pool.settle();
  }

  /** Its thread may have reported its end already. */
  private drain({ worker }: PoolTask): void {
    if (worker !== undefined) this.pool.threads.drain(worker);
  }
}
