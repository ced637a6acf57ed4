import { TaskUnknownError } from '../pool-errors.js';
import type { TaskTarget } from '../task/pool-task.js';

export type TaskFunction = (...args: readonly unknown[]) => unknown;

export type ImportModule = (url: string) => Promise<Readonly<Record<string, unknown>>>;

/** The function of a task, in the thread that is to run it. */
export async function findFunction(target: TaskTarget, importModule: ImportModule): Promise<TaskFunction> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = await importModule(target.module);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new TaskUnknownError(target.module, target.export, `the module cannot be imported: ${text}`, error);
  }
  const found = module[target.export];
  if (typeof found === 'function') return found as TaskFunction;
  const names = Object.keys(module).filter((name) => typeof module[name] === 'function');
  const problem = `the module exports no such function; it has ${names.join(', ') || 'none'}`;
  throw new TaskUnknownError(target.module, target.export, problem);
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !isThenable(value);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
