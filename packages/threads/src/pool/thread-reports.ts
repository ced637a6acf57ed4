import { NotCloneableError } from '../thread/thread-errors.js';
import type { PoolWorker } from './machine/pool-worker.js';
import type { PoolParts, SubmitCall } from './pool-parts.js';
import type { PoolThreadReports, SubtaskRequest } from './pool-ports.js';
import type { PoolTask } from './task/pool-task.js';
import type { TaskOptions } from './task/task-options.js';
import { TaskStream } from './task/task-stream.js';

/** Reports of the threads of a pool. */
export class ThreadReports implements PoolThreadReports {
  private readonly pool: PoolParts;
  private readonly submit: SubmitCall;
  /** Of subtasks that have not ended, by thread and number. */
  private readonly subtaskSignals = new Map<string, AbortController>();

  constructor(pool: PoolParts, submit: SubmitCall) {
    this.pool = pool;
    this.submit = submit;
  }

  up(worker: PoolWorker): void {
    const { pool } = this;
    pool.report({ kind: 'thread-started', pool: pool.name, thread: worker.name });
    pool.machine.up(worker, pool.host.now());
    pool.settleThreads();
  }

  finished(worker: PoolWorker, task: PoolTask, error: Error | null, value: unknown): void {
    const { machine, ends, host } = this.pool;
    const end = error === null ? 'completed' : 'failed';
    if (!machine.finished(worker, task, end, host.now())) return;
    if (task.abandoned !== undefined) ends.disarm(task);
    else if (error === null) ends.succeed(task, value);
    else ends.fail(task, error);
  }

  unsendable(worker: PoolWorker, task: PoolTask, error: Error): void {
    const { pool } = this;
    pool.machine.unsent(worker, task, pool.host.now());
    pool.ends.fail(task, error);
    pool.settleThreads();
  }

  ended(worker: PoolWorker, error: Error): void {
    const { pool } = this;
    const wasEnded = worker.stage === 'ending' || worker.current?.abandoned !== undefined;
    const wasUp = worker.stage !== 'starting';
    const about = { kind: 'thread-ended', pool: pool.name, thread: worker.name } as const;
    if (wasUp) pool.report(wasEnded ? about : { ...about, error });
    pool.machine.ended(worker, error, pool.host.now());
  }

  drained(): void {
    this.pool.settleThreads();
  }

  progressed(task: PoolTask, value: unknown): void {
    const { deferred, events } = this.pool;
    const { onProgress } = task.options;
    if (onProgress === undefined || task.abandoned !== undefined) return;
    deferred.add(() => {
      try {
        onProgress(value);
      } catch (error) {
        events.logListenerError('onProgress', error);
      }
    });
  }

  streamStarted(worker: PoolWorker, task: PoolTask): void {
    const { threads, ends } = this.pool;
    task.stream = new TaskStream({
      granted: (count) => threads.grantItems(worker, task, count),
      abandoned: () => ends.cancel(task),
    });
    task.resolve?.(task.stream);
  }

  streamed(task: PoolTask, value: unknown): void {
    task.stream?.push(value);
  }

  subtask(worker: PoolWorker, parent: PoolTask, request: SubtaskRequest): void {
    const { id, target, args } = request;
    const key = `${worker.id}:${id}`;
    const answer = (error: Error | null, value: unknown): void => {
      this.subtaskSignals.delete(key);
      this.pool.threads.answerSubtask(worker, id, error, value);
    };
    const options = this.subtaskOptions(worker, request, key);
    const result = this.submit({ target, options }, args, parent) as Promise<unknown>;
    result.then(
      (value) => {
        if (!(value instanceof TaskStream)) return answer(null, value);
        void value.return();
        answer(
          new NotCloneableError('the result', new Error('the items of a task stay in one thread')),
          undefined,
        );
      },
      (error: Error) => answer(error, undefined),
    );
  }

  private subtaskOptions(
    worker: PoolWorker,
    { id, options, hasSignal, wantsProgress }: SubtaskRequest,
    key: string,
  ): TaskOptions {
    const { threads } = this.pool;
    const controller = hasSignal ? new AbortController() : undefined;
    if (controller !== undefined) this.subtaskSignals.set(key, controller);
    const onProgress = wantsProgress
      ? (value: unknown): void => threads.subtaskProgressed(worker, id, value)
      : undefined;
    return { ...options, signal: controller?.signal, onProgress };
  }

  cancelSubtask(worker: PoolWorker, id: number, reason: Error): void {
    this.subtaskSignals.get(`${worker.id}:${id}`)?.abort(reason);
  }
}
