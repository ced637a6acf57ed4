// Messages on the port between the pool and a thread, for everything that does not fit into shared memory.

import type { MessagePort } from 'node:worker_threads';
import type { ErrorRecord } from '../../thread/error-record.js';

/** The data that a thread is started with. */
export interface PoolThreadData {
  readonly name: string;
  readonly memory: SharedArrayBuffer;
  /** One word: 1 while the pool looks at its threads anyway, 0 if it must be woken. */
  readonly poolAwake: SharedArrayBuffer;
  readonly port: MessagePort;
}

/** Tasks are flat, five elements each: function, slot, tag, flags, arguments. */
export type ToThread =
  | { readonly kind: 'define'; readonly id: number; readonly module: string; readonly export: string }
  | readonly unknown[]
  | { readonly kind: 'cancel'; readonly slot: number; readonly tag: number; readonly reason: ErrorRecord }
  | { readonly kind: 'items'; readonly slot: number; readonly tag: number; readonly count: number }
  | {
      readonly kind: 'subtask-ended';
      readonly id: number;
      readonly error: ErrorRecord | undefined;
      readonly value: unknown;
    }
  | { readonly kind: 'subtask-progress'; readonly id: number; readonly value: unknown };

export const TASK_ELEMENTS = 5;
/** Flag of a task: the caller wants its progress. */
export const WANTS_PROGRESS = 1;

export type FromThread =
  | { readonly kind: 'returned'; readonly slot: number; readonly value: unknown }
  | { readonly kind: 'threw'; readonly slot: number; readonly error: ErrorRecord; readonly known: KnownError }
  | { readonly kind: 'progress'; readonly slot: number; readonly tag: number; readonly value: unknown }
  | { readonly kind: 'stream'; readonly slot: number; readonly tag: number }
  | { readonly kind: 'item'; readonly slot: number; readonly tag: number; readonly value: unknown }
  | {
      readonly kind: 'subtask';
      readonly slot: number;
      readonly tag: number;
      readonly id: number;
      readonly module: string;
      readonly export: string;
      readonly args: readonly unknown[];
      readonly priority: number | undefined;
      readonly withinMs: number | undefined;
      readonly hasSignal: boolean;
      readonly wantsProgress: boolean;
    }
  | {
      readonly kind: 'cancel-subtask';
      readonly slot: number;
      readonly tag: number;
      readonly id: number;
      readonly reason: ErrorRecord;
    };

/** Errors of the thread's own side, which keep their class. `code`: the task's code threw. */
export type KnownError = 'code' | 'unknown-task' | 'not-cloneable';
