import type {
  HandlerAbort,
  HandlerCall,
  HandlerChunks,
  HandlerEnded,
  HandlerFed,
  HandlerFeedState,
  HandlerProgress,
  HandlerSilence,
  HandlerWindow,
  RunnerChange,
  ThreadRunnerReport,
  ThreadUp,
} from './handler-threads.js';

/** The data that a thread starts with. */
export interface HandlerThreadData {
  /** The URL of the module. */
  readonly module: string;
}

export type ToHandlerThread =
  | { readonly kind: 'call'; readonly call: HandlerCall }
  | { readonly kind: 'abort'; readonly abort: HandlerAbort }
  | { readonly kind: 'window'; readonly window: HandlerWindow }
  | { readonly kind: 'fed'; readonly fed: HandlerFed }
  | { readonly kind: 'runner'; readonly change: RunnerChange }
  /** Nothing more comes: the thread ends with its last call. */
  | { readonly kind: 'close' };

export type FromHandlerThread =
  | ({ readonly kind: 'up' } & Omit<ThreadUp, 'thread'>)
  | { readonly kind: 'runner'; readonly runner: Omit<ThreadRunnerReport, 'thread'> }
  | { readonly kind: 'chunks'; readonly chunks: Omit<HandlerChunks, 'thread'> }
  | { readonly kind: 'progress'; readonly progress: Omit<HandlerProgress, 'thread'> }
  | { readonly kind: 'feed'; readonly feed: Omit<HandlerFeedState, 'thread'> }
  | { readonly kind: 'silence'; readonly silence: Omit<HandlerSilence, 'thread'> }
  | { readonly kind: 'ended'; readonly ended: Omit<HandlerEnded, 'thread'> };
