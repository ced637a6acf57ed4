import { ThrownValueError } from '@troupe/core';
import { errorRecord } from '../../thread/error-record.js';
import { findNotCloneable } from '../../thread/find-not-cloneable.js';
import type { TransferListItem } from '../../value/transfer.js';
import type { FromThread } from '../memory/thread-messages.js';
import { TaskCancelledError } from '../pool-errors.js';
import { runInTask } from '../task/current-task.js';
import type { TaskCall } from '../task/task-modules.js';
import type { TaskOptions } from '../task/task-options.js';
import { asItems } from '../task/task-stream.js';
import type { ThreadTask } from './thread-task.js';

interface OpenSubtask {
  readonly parent: ThreadTask;
  readonly onProgress: TaskOptions['onProgress'];
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Tasks that tasks of this thread have submitted to their pool, until they end. */
export class OpenSubtasks {
  private readonly report: (message: FromThread, transfer?: readonly TransferListItem[]) => void;
  private readonly open = new Map<number, OpenSubtask>();
  private lastId = 0;

  constructor(report: OpenSubtasks['report']) {
    this.report = report;
  }

  submit(parent: ThreadTask, { target, options }: TaskCall, args: readonly unknown[]): Promise<unknown> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(new TaskCancelledError(target.export, signal.reason));
    this.lastId += 1;
    const id = this.lastId;
    try {
      this.send(id, parent, { target, options }, args);
    } catch (error) {
      return Promise.reject(findNotCloneable(args, 'args', error));
    }
    const ended = new Promise((resolve, reject) => {
      const onAbort = (): void => this.cancel(id, signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.open.set(id, { parent, onProgress: options.onProgress, signal, onAbort, resolve, reject });
    });
    return asItems(ended);
  }

  private send(
    id: number,
    { slot, tag }: ThreadTask,
    { target, options }: TaskCall,
    args: readonly unknown[],
  ): void {
    const { priority, withinMs, transfer, signal, onProgress } = options;
    const { module, export: name } = target;
    const wanted = { hasSignal: signal !== undefined, wantsProgress: onProgress !== undefined };
    this.report(
      { kind: 'subtask', slot, tag, id, module, export: name, args, priority, withinMs, ...wanted },
      transfer,
    );
  }

  private cancel(id: number, reason: unknown): void {
    const { slot, tag } = (this.open.get(id) as OpenSubtask).parent; // its end removes the listener
    this.report({ kind: 'cancel-subtask', slot, tag, id, reason: errorRecord(reason) });
  }

  /** A callback that throws ends the wait for its task. */
  progressed(id: number, value: unknown): void {
    const subtask = this.open.get(id);
    if (subtask?.onProgress === undefined) return;
    try {
      runInTask(subtask.parent, subtask.onProgress, [value]);
    } catch (error) {
      subtask.reject(error instanceof Error ? error : new ThrownValueError(error));
    }
  }

  ended(id: number, error: Error | undefined, value: unknown): void {
    const subtask = this.open.get(id);
    if (subtask === undefined) return;
    this.open.delete(id);
    subtask.signal?.removeEventListener('abort', subtask.onAbort);
    if (error === undefined) subtask.resolve(value);
    else subtask.reject(error);
  }
}
