import { ThrownValueError } from '@troupe/core';
import { findNotCloneable } from '../../thread/find-not-cloneable.js';
import { transferListOf } from '../../value/transfer.js';
import { TaskCancelledError, TaskFailedError, TaskTimeoutError, TaskUnknownError } from '../pool-errors.js';
import type { PoolPorts } from '../pool-ports.js';
import { findFunction, isAsyncIterable } from '../thread-side/find-function.js';
import { type CurrentTask, runInTask } from './current-task.js';
import type { PoolTask } from './pool-task.js';
import { moduleTasks, type Submit } from './task-modules.js';

/**
 * `caller-runs`: the task in the thread of its caller, with what it would find in a thread: copies of its
 * arguments, `currentTask()`, its signal and its time limit. A limit answers the caller; it cannot end the
 * code.
 */
export async function runHere(task: PoolTask, ports: PoolPorts, submit: Submit): Promise<unknown> {
  const run = await findFunction(task.target, ports.importModule);
  const controller = new AbortController();
  const context = callerTask(task, controller.signal, submit);
  const args = cloneOf(task.args, 'args', task.options.transfer) as readonly unknown[];
  const limit = limitOf(task, ports, controller);
  try {
    const result = await Promise.race([callWith(context, run, args, task.name), limit.passed]);
    return isAsyncIterable(result) ? result : cloneOf(result, 'the result', transferListOf(result));
  } finally {
    limit.disarm();
  }
}

async function callWith(
  context: CurrentTask,
  run: (...args: readonly unknown[]) => unknown,
  args: readonly unknown[],
  name: string,
): Promise<unknown> {
  try {
    return await runInTask(context, run, args);
  } catch (error) {
    if (error instanceof TaskUnknownError) throw error;
    throw new TaskFailedError(name, error instanceof Error ? error : new ThrownValueError(error));
  }
}

function callerTask(task: PoolTask, signal: AbortSignal, submit: Submit): CurrentTask {
  return {
    name: task.name,
    thread: 'caller',
    signal,
    get cancelled() {
      return signal.aborted;
    },
    progress: (value) => task.options.onProgress?.(cloneOf(value, 'progress', undefined)),
    tasks: (module) => moduleTasks(module, submit),
  };
}

function cloneOf(value: unknown, name: string, transfer: PoolTask['options']['transfer']): unknown {
  try {
    return structuredClone(value, { transfer: [...(transfer ?? [])] as ArrayBuffer[] });
  } catch (error) {
    throw findNotCloneable(value, name, error);
  }
}

function limitOf(
  { name, options }: PoolTask,
  { host }: PoolPorts,
  controller: AbortController,
): { passed: Promise<never>; disarm(): void } {
  let giveUp: (error: Error) => void = () => undefined;
  const passed = new Promise<never>((_, reject) => {
    giveUp = (error) => {
      controller.abort(error);
      reject(error);
    };
  });
  const { withinMs, signal } = options;
  const onAbort = (): void => giveUp(new TaskCancelledError(name, signal?.reason));
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer =
    withinMs === undefined
      ? undefined
      : host.setTimer(withinMs, () => giveUp(new TaskTimeoutError(name, withinMs, 'running')));
  const disarm = (): void => {
    timer?.cancel();
    signal?.removeEventListener('abort', onAbort);
  };
  return { passed, disarm };
}
