import type { HandlerAbort, HandlerCall, HandlerEnded, ThreadJob } from './handler-threads.js';

/** The data that a thread starts with. */
export interface HandlerThreadData {
  /** The URL of the module. */
  readonly module: string;
}

export type ToHandlerThread =
  | { readonly kind: 'call'; readonly call: HandlerCall }
  | { readonly kind: 'abort'; readonly abort: HandlerAbort }
  /** Nothing more comes: the thread ends with its last call. */
  | { readonly kind: 'close' };

export type FromHandlerThread =
  | { readonly kind: 'up'; readonly jobs: readonly ThreadJob[] }
  | { readonly kind: 'ended'; readonly ended: Omit<HandlerEnded, 'thread'> };
