import type { Payload } from '../../job/payload/payload.js';
import type { AbortReason, JobFailure } from '../../jobs-error.js';
import type { FedItems, FeedRequest } from '../../protocol/feed-messages.js';
import type { AttemptProgress } from '../../protocol/worker/progress-messages.js';
import type { Assignment, AttemptEnd } from '../../protocol/worker/worker-messages.js';
import type { RunnerPlan } from '../runners/runner-plan.js';
import type { RunnerInstance, RunnerReport } from '../runners/runner-port.js';

/** One call of a handler on a thread; `id` is new for each. */
export interface HandlerCall {
  readonly id: number;
  readonly tag: string;
  readonly assignment: Assignment;
  /** The instance of a warm runner that it runs on. */
  readonly instance?: number | undefined;
}

/** The signal of a call fires. */
export interface HandlerAbort {
  readonly id: number;
  readonly reason: AbortReason;
  readonly detail: string;
}

/** A job that the module of a thread has a handler for. */
export interface ThreadJob {
  readonly exec: string;
  readonly group: string;
  /** Its handler may run beside others of its thread. */
  readonly sharesThread: boolean;
}

/** Threads that import the module of the handlers and call them. They have numbers from 0. */
export interface HandlerThreads {
  /** Leads to `threadUp`, or to `threadEnded`. */
  start(thread: number): void;
  /** Leads to `handlerEnded`, or to `threadEnded`. */
  call(thread: number, call: HandlerCall): void;
  abort(thread: number, abort: HandlerAbort): void;
  /** Loads, checks or unloads an instance of a warm runner. Leads to `threadRunner`, or to `threadEnded`. */
  changeRunner(thread: number, change: RunnerChange): void;
  /** The call may have so many bytes of chunks on the way. */
  openWindow(thread: number, window: HandlerWindow): void;
  /** Items of its feed. */
  feed(thread: number, fed: HandlerFed): void;
  /** Ends the thread at whatever instruction it is. Leads to `threadEnded`. */
  end(thread: number): void;
  /** The threads end: those with a call when it has ended, at the latest after the grace. */
  close(): void;
}

/** Where a worker gets its threads. */
export interface HandlerThreadSource {
  readonly count: number;
  /** How long a handler past its time or cancelled may go on before its thread is ended. */
  readonly graceMs: number;
  open(reports: HandlerThreadReports): HandlerThreads;
}

/** The inputs that bring the answers. */
export interface HandlerThreadReports {
  threadUp(up: ThreadUp): void;
  handlerEnded(ended: HandlerEnded): void;
  /** Before `handlerEnded` of the same call. */
  handlerChunks(chunks: HandlerChunks): void;
  handlerProgress(progress: HandlerProgress): void;
  handlerFeed(state: HandlerFeedState): void;
  handlerSilence(silence: HandlerSilence): void;
  threadRunner(reported: ThreadRunnerReport): void;
  /** Exactly once after each `start`, after everything else of that thread. */
  threadEnded(ended: ThreadEnded): void;
}

export interface ThreadUp {
  readonly thread: number;
  readonly jobs: readonly ThreadJob[];
  /** The warm runners of its module. */
  readonly runners: readonly RunnerPlan[];
}

export interface RunnerChange {
  readonly kind: 'load' | 'check' | 'unload';
  readonly instance: RunnerInstance;
}

export interface ThreadRunnerReport {
  readonly thread: number;
  readonly report: RunnerReport;
}

export interface HandlerEnded {
  readonly thread: number;
  readonly id: number;
  readonly end: AttemptEnd;
}

/** Chunks of a call with consecutive numbers. */
export interface HandlerChunks {
  readonly thread: number;
  readonly id: number;
  readonly first: number;
  readonly chunks: readonly Payload[];
}

/** As between worker and leader: set, not added. */
export interface HandlerWindow {
  readonly id: number;
  readonly taken: number;
  readonly bytes: number;
}

export interface HandlerProgress {
  readonly thread: number;
  readonly id: number;
  readonly progress: AttemptProgress;
}

export interface HandlerFed {
  readonly id: number;
  readonly fed: FedItems;
}

/** The items of its feed that the handler of a call has taken. */
export interface HandlerFeedState {
  readonly thread: number;
  readonly id: number;
  readonly request: FeedRequest;
}

/** The silence of a call counts from now on; or it waits for a reader or its feed, and it does not. */
export interface HandlerSilence {
  readonly thread: number;
  readonly id: number;
  readonly isCounted: boolean;
}

export interface ThreadEnded {
  readonly thread: number;
  readonly failure: JobFailure;
}
