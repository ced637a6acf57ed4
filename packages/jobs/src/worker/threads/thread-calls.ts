import { jobId } from '../../job/job-id.js';
import type { JobsClock } from '../../jobs-host.js';
import type { AttemptEnd } from '../../protocol/worker-messages.js';
import { Attempt } from '../attempt/attempt.js';
import { noHandler } from '../attempt/attempt-end.js';
import { LazyAttemptContext } from '../attempt/lazy-attempt-context.js';
import { type AttemptOwner, runAttempt } from '../attempt/run-attempt.js';
import type { HandledJob } from '../handler.js';
import type { HandlerAbort, HandlerCall } from './handler-threads.js';
import type { FromHandlerThread, ToHandlerThread } from './thread-messages.js';

interface Call {
  readonly id: number;
  readonly tag: string;
}

export interface ThreadCallsSetup {
  readonly handlers: readonly HandledJob[];
  readonly clock: Pick<JobsClock, 'now'>;
  readonly post: (message: FromHandlerThread) => void;
  /** After `close` the last call has ended. */
  readonly closed: () => void;
}

/** The thread's side: the calls under way on one thread. An attempt runs here as it would inline. */
export class ThreadCalls implements AttemptOwner {
  private readonly setup: ThreadCallsSetup;
  private readonly handlers = new Map<string, HandledJob>();
  private readonly attempts = new Map<number, Attempt>();
  private readonly calls = new Map<Attempt, Call>();
  private isClosing = false;

  constructor(setup: ThreadCallsSetup) {
    this.setup = setup;
    for (const handled of setup.handlers) this.handlers.set(handled.job.exec, handled);
  }

  /** The jobs of the module are its first message. */
  start(): void {
    const jobs = Array.from(this.handlers.values(), ({ job, sharesThread }) => ({
      exec: job.exec,
      group: job.policy.group,
      sharesThread,
    }));
    this.setup.post({ kind: 'up', jobs });
  }

  receive(message: ToHandlerThread): void {
    switch (message.kind) {
      case 'call':
        return this.begin(message.call);
      case 'abort':
        return this.abort(message.abort);
      case 'close':
        this.isClosing = true;
        return this.closeIfIdle();
      default:
        return message satisfies never;
    }
  }

  finish(attempt: Attempt, end: AttemptEnd): void {
    const call = this.calls.get(attempt);
    if (call === undefined) return;
    this.calls.delete(attempt);
    this.attempts.delete(call.id);
    this.setup.post({ kind: 'ended', ended: { id: call.id, end } });
    this.closeIfIdle();
  }

  private begin({ id, tag, assignment }: HandlerCall): void {
    const attempt = new Attempt(assignment, this.setup.clock.now());
    this.attempts.set(id, attempt);
    this.calls.set(attempt, { id, tag });
    const handled = this.handlers.get(attempt.exec);
    if (handled === undefined) this.finish(attempt, noHandler(attempt));
    else runAttempt(attempt, handled, new LazyAttemptContext(tag, attempt, handled.job), this);
  }

  private abort({ id, reason, detail }: HandlerAbort): void {
    const attempt = this.attempts.get(id);
    const call = attempt === undefined ? undefined : this.calls.get(attempt);
    if (attempt !== undefined && call !== undefined)
      attempt.abort(jobId(call.tag, attempt.job), reason, detail);
  }

  private closeIfIdle(): void {
    if (this.isClosing && this.calls.size === 0) this.setup.closed();
  }
}
