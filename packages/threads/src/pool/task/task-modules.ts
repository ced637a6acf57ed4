import { OptionError } from '@troupe/core';
import type { TaskTarget } from './pool-task.js';
import { checkTaskOptions, NO_TASK_OPTIONS, type TaskOptions } from './task-options.js';

/** The result of a call: a promise, or for a function that returns an AsyncIterable, its items. */
export type TaskResult<R> = [R] extends [never]
  ? Promise<never>
  : [R] extends [AsyncIterable<infer T>]
    ? AsyncIterable<T> & PromiseLike<AsyncIterableIterator<T>>
    : Promise<[Awaited<R>] extends [AsyncIterable<infer T>] ? AsyncIterableIterator<T> : Awaited<R>>;

declare const signature: unique symbol;

/**
 * A function of a module, to be run by a pool: called directly, or given to `submit`, `trySubmit` and
 * `post`.
 */
export interface Task<A extends readonly unknown[], R> {
  (...args: A): TaskResult<R>;
  /** Of the compiler only. */
  readonly [signature]?: (...args: A) => R;
}

/** The functions that a module exports, as tasks. Safe to await: there is no `then`. */
export type Tasks<M> = {
  readonly [K in keyof M as M[K] extends (...args: never[]) => unknown
    ? Exclude<K, 'then' | 'with'>
    : never]: M[K] extends (...args: infer A) => infer R ? Task<A, R> : never;
} & {
  /** The same functions, with options for their calls. */
  with(options: TaskOptions): Tasks<M>;
};

/** The function and options behind a task, by the function that stands for it. */
export interface TaskCall {
  readonly target: TaskTarget;
  readonly options: TaskOptions;
}

const calls = new WeakMap<object, TaskCall>();

export function callOf(task: unknown): TaskCall {
  const call = typeof task === 'function' ? calls.get(task) : undefined;
  if (call === undefined) throw new OptionError('task', task, 'needed a function of pool.tasks(…)');
  return call;
}

export type Submit = (call: TaskCall, args: readonly unknown[]) => unknown;

export function moduleTasks<M>(module: URL | string, submit: Submit): Tasks<M> {
  return tasksWith<M>(new TaskTargets(moduleUrl(module)), NO_TASK_OPTIONS, submit);
}

/** The targets of one module: the same object for the same name, so that a thread learns each name once. */
class TaskTargets {
  private readonly module: string;
  private readonly known = new Map<string, TaskTarget>();

  constructor(module: string) {
    this.module = module;
  }

  get(name: string): TaskTarget {
    let target = this.known.get(name);
    if (target === undefined) {
      target = { module: this.module, export: name };
      this.known.set(name, target);
    }
    return target;
  }
}

function tasksWith<M>(targets: TaskTargets, options: TaskOptions, submit: Submit): Tasks<M> {
  const known = new Map<string, unknown>();
  const withOptions = (given: TaskOptions): Tasks<M> =>
    tasksWith(targets, { ...options, ...checkTaskOptions(given) }, submit);
  const get = (_: object, name: string | symbol): unknown => {
    if (typeof name === 'symbol' || name === 'then') return undefined;
    if (name === 'with') return withOptions;
    let task = known.get(name);
    if (task === undefined) {
      const call: TaskCall = { target: targets.get(name), options };
      task = (...args: unknown[]): unknown => submit(call, args);
      calls.set(task as object, call);
      known.set(name, task);
    }
    return task;
  };
  // Names are the compiler's matter; an unknown one is refused by the thread that imports the module.
  return new Proxy({}, { get }) as Tasks<M>;
}

function moduleUrl(module: URL | string): string {
  const url = String(module);
  if (!URL.canParse(url))
    throw new OptionError('module', module, 'needed an absolute URL: new URL(…, import.meta.url)');
  return url;
}
