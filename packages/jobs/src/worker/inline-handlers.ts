// Hot path: `run` is called once per attempt.

import type { Attempt } from './attempt/attempt.js';
import { noHandler } from './attempt/attempt-end.js';
import { LazyAttemptContext } from './attempt/lazy-attempt-context.js';
import { type AttemptOwner, runAttempt } from './attempt/run-attempt.js';
import type { HandledJob } from './handler.js';
import type { HandlerRunner } from './handler-runner.js';

/** Handlers in the event loop of the worker. */
export class InlineHandlers implements HandlerRunner {
  readonly execs: readonly string[];
  private readonly handlers = new Map<string, HandledJob>();
  private readonly owner: AttemptOwner;

  constructor(handlers: readonly HandledJob[], owner: AttemptOwner) {
    for (const handled of handlers) this.handlers.set(handled.job.exec, handled);
    this.execs = Array.from(this.handlers.values(), ({ job }) => `${job.policy.group}/${job.exec}`);
    this.owner = owner;
  }

  hasRoom(): boolean {
    return true;
  }

  run(attempt: Attempt, tag: string): boolean {
    const handled = this.handlers.get(attempt.exec);
    if (handled !== undefined)
      return runAttempt(attempt, handled, new LazyAttemptContext(tag, attempt, handled.job), this.owner);
    this.owner.finish(attempt, noHandler(attempt));
    return false;
  }

  aborted(): void {
    // The handler has the signal of the attempt itself.
  }

  stop(): void {
    // A handler under way cannot be ended.
  }
}
