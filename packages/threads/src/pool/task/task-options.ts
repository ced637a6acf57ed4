import {
  abortSignal,
  array,
  callback,
  checkOptions,
  numberAbove,
  wholeNumber,
} from '@troupe/core/option-check';
import type { TransferListItem } from '../../value/transfer.js';

/** Options of one call, given by `tasks.with(…)`. */
export interface TaskOptions {
  /** Parts of the arguments that are moved instead of copied: they are empty here afterwards. */
  readonly transfer?: readonly TransferListItem[] | undefined;
  /** Cancels the task: a queued one is taken out, a running one gets its own signal, then its thread ends. */
  readonly signal?: AbortSignal | undefined;
  /** Tasks of higher priority run first; among equals the first submitted. Default: 0. */
  readonly priority?: number | undefined;
  /**
   * The time from the call to the end of the task. A thread that is stuck beyond it is ended and replaced.
   * Default: none.
   */
  readonly withinMs?: number | undefined;
  /** Gets the values of `currentTask().progress(value)`, in order, before the task ends. */
  readonly onProgress?: ((value: unknown) => void) | undefined;
}

export const NO_TASK_OPTIONS: TaskOptions = {};

const rules = {
  transfer: array,
  signal: abortSignal,
  priority: wholeNumber(-1_000, 1_000),
  withinMs: numberAbove(0),
  onProgress: callback,
};

export function checkTaskOptions(options: TaskOptions): TaskOptions {
  checkOptions('task options', options, rules);
  return options;
}
