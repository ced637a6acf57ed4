import type { ResourceLimits } from 'node:worker_threads';
import { type Host, OptionError } from '@troupe/core';
import { listOf, number, type OptionRule, object, options, wholeNumber } from '@troupe/core/option-check';
import { checkOptions } from '../../option-check.js';
import { type HandledJob, handledJob } from '../handlers/handler.js';
import { planRunners } from '../runners/runner-plan.js';
import { NodeHandlerThreads } from './node-handler-threads.js';
import { isProgramEntry } from './node-program-entry.js';

/** Threads for handlers, with more than their number. */
export interface HandlerThreadOptions {
  /** Threads at any time; one that ends is replaced. */
  readonly count: number;
  /**
   * How long a handler past its run time or cancelled may go on after its signal, before its thread is ended.
   * Default 1,000.
   */
  readonly graceMs?: number | undefined;
  /** Limits of the heap of each thread. ArrayBuffers are outside of it. Default: those of Node. */
  readonly resourceLimits?: ResourceLimits | undefined;
}

const count = wholeNumber(1, 1_024);
const detailed = options({ count, graceMs: number(0, 3_600_000), resourceLimits: object }, ['count']);

/** A number, or options. */
export const threadsRule: OptionRule = (value, option) =>
  typeof value === 'object' ? detailed(value, option) : count(value, option);

/** Where the handlers of a worker are. */
export interface GivenHandlers {
  /**
   * Jobs with their handlers, made by `handle(job, run)`; they run inline. With `threads` the module that
   * exports them, alone or in arrays: `new URL('./handlers.js', import.meta.url)`.
   */
  readonly handlers: readonly HandledJob[] | URL;
  /**
   * Runs handlers on so many threads, 1 to 1,024, each of which imports the module: one attempt at a time on
   * each, except for handlers that say `sharesThread`. A handler past its run time or cancelled is ended with
   * its thread. Default: none, handlers run inline.
   */
  readonly threads?: number | HandlerThreadOptions | undefined;
}

/** The same, sorted: values that run inline, or a module for threads. */
export interface HandlerPlacement {
  readonly handlers: CurrentHandlers;
  readonly threads: NodeHandlerThreads | undefined;
}

/** The handlers of a worker: those of each incarnation, until others replace them. */
export interface CurrentHandlers {
  current: readonly HandledJob[];
}

const GRACE_MS = 1_000;
const REPLACE_RULES = { handlers: listOf(handledJob) };

/** Other handlers for a worker that runs; refused as a whole if they do not fit each other. */
export function replaceHandlers({ handlers, threads }: HandlerPlacement, next: readonly HandledJob[]): void {
  if (threads !== undefined) {
    const remedy = 'handlers on threads come from a module: start another worker with it, and drain this one';
    throw new OptionError('replaceHandlers.handlers', next, remedy);
  }
  checkOptions('replaceHandlers', { handlers: next }, REPLACE_RULES);
  planRunners(next);
  handlers.current = next;
}

export function placeHandlers(
  call: string,
  { handlers, threads }: GivenHandlers,
  worker: string,
  host: Pick<Host, 'setTimer'>,
): HandlerPlacement {
  if (handlers instanceof URL) {
    if (threads === undefined)
      throw new OptionError(`${call}.handlers`, handlers.href, 'a module is for threads: give threads too');
    checkModule(call, handlers);
    const given: HandlerThreadOptions = typeof threads === 'number' ? { count: threads } : threads;
    const { count: threadCount, graceMs = GRACE_MS, resourceLimits } = given;
    const setup = { worker, module: handlers, count: threadCount, graceMs, resourceLimits, host };
    return { handlers: { current: [] }, threads: new NodeHandlerThreads(setup) };
  }
  if (threads === undefined) {
    planRunners(handlers); // handlers that cannot share a runner are refused here
    return { handlers: { current: handlers }, threads: undefined };
  }
  const remedy = 'with threads it is the module that exports them, new URL(…, import.meta.url)';
  throw new OptionError(`${call}.handlers`, handlers, `${remedy}: a function cannot go to a thread`);
}

/** A thread that imports the program's entry would start the program again. */
function checkModule(call: string, module: URL): void {
  if (!isProgramEntry(module)) return;
  const remedy =
    'it is the entry of this program, which each thread would start again: use a file of its own';
  throw new OptionError(`${call}.handlers`, module.href, remedy);
}
