import { jobId } from '../../job/job-id.js';
import type { AbortReason } from '../../jobs-error.js';
import type { JobsClock } from '../../jobs-host.js';
import type { AttemptProgress } from '../../protocol/worker/progress-messages.js';
import type { AttemptEnd } from '../../protocol/worker/worker-messages.js';
import { Attempt } from '../attempt/attempt.js';
import { noHandler } from '../attempt/attempt-end.js';
import { LazyAttemptContext } from '../attempt/lazy-attempt-context.js';
import { type AttemptOwner, runAttempt } from '../attempt/run-attempt.js';
import type { HandledJob } from '../handlers/handler.js';
import { RunnerInstances } from '../runners/runner-instances.js';
import { planRunners, type RunnerFunctions, type RunnerPlan } from '../runners/runner-plan.js';
import type { HandlerAbort, HandlerCall } from './handler-threads.js';
import type { FromHandlerThread, ToHandlerThread } from './thread-messages.js';

interface Call {
  readonly id: number;
  readonly tag: string;
  /** As the worker knows it. */
  isSilenceCounted: boolean;
  /** It has a chunk that the worker does not know of. */
  hasYielded: boolean;
}

export interface ThreadCallsSetup {
  readonly handlers: readonly HandledJob[];
  readonly clock: Pick<JobsClock, 'now'>;
  readonly post: (message: FromHandlerThread) => void;
  /** Runs after the messages that are here by now: chunks of one turn are one message. */
  readonly soon: (run: () => void) => void;
  /** After `close` the last call has ended. */
  readonly closed: () => void;
}

/** The thread's side: the calls under way on one thread. An attempt runs here as it would inline. */
export class ThreadCalls implements AttemptOwner {
  private readonly setup: ThreadCallsSetup;
  private readonly handlers = new Map<string, HandledJob>();
  private readonly attempts = new Map<number, Attempt>();
  private readonly calls = new Map<Attempt, Call>();
  private readonly plans: readonly RunnerPlan[];
  private readonly instances: RunnerInstances;
  private isClosing = false;

  constructor(setup: ThreadCallsSetup) {
    this.setup = setup;
    for (const handled of setup.handlers) this.handlers.set(handled.job.exec, handled);
    const planned = planRunners([...this.handlers.values()]);
    this.plans = planned.map(({ plan }) => plan);
    const functions = new Map(planned.map((one) => [one.plan.runner, one.functions]));
    this.instances = new RunnerInstances(
      (runner) => functions.get(runner) as RunnerFunctions, // the worker knows no others
      (report) => setup.post({ kind: 'runner', runner: { report } }),
    );
  }

  /** The jobs of the module are its first message. */
  start(): void {
    const jobs = Array.from(this.handlers.values(), ({ job, sharesThread }) => ({
      exec: job.exec,
      group: job.policy.group,
      sharesThread,
    }));
    this.setup.post({ kind: 'up', jobs, runners: this.plans });
  }

  receive(message: ToHandlerThread): void {
    switch (message.kind) {
      case 'call':
        return this.begin(message.call);
      case 'abort':
        return this.abort(message.abort);
      case 'runner':
        return this.instances[message.change.kind](message.change.instance);
      case 'window': {
        const { id, taken, bytes } = message.window;
        const attempt = this.attempts.get(id);
        return attempt?.stream?.opened({ job: attempt.job, attempt: attempt.number, taken, bytes });
      }
      case 'fed':
        return this.attempts.get(message.fed.id)?.feed?.push(message.fed.fed);
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
    this.flush(attempt, call);
    this.calls.delete(attempt);
    this.attempts.delete(call.id);
    const metadata = attempt.streamEnd?.metadata;
    const reported = metadata === undefined ? end : { ...end, metadata };
    this.setup.post({ kind: 'ended', ended: { id: call.id, end: reported } });
    this.closeIfIdle();
  }

  private begin({ id, tag, assignment, instance }: HandlerCall): void {
    const { clock } = this.setup;
    const attempt = new Attempt(assignment, clock.now());
    attempt.begin(attempt.since, clock);
    const call = { id, tag, isSilenceCounted: false, hasYielded: false };
    this.attempts.set(id, attempt);
    this.calls.set(attempt, call);
    this.follow(attempt, call);
    const handled = this.handlers.get(attempt.exec);
    if (handled === undefined) return this.finish(attempt, noHandler(attempt));
    const context = new LazyAttemptContext(tag, attempt, handled.job);
    if (instance !== undefined) context.useInstance(this.instances.valueOf(instance));
    runAttempt(attempt, handled, context, this);
  }

  /** Chunks, progress, silence and the state of its feed go to the worker. */
  private follow(attempt: Attempt, call: Call): void {
    const { id } = call;
    let isScheduled = false;
    const flushSoon = (): void => {
      if (isScheduled) return;
      isScheduled = true;
      this.setup.soon(() => {
        isScheduled = false;
        if (this.attempts.has(id)) this.flush(attempt, call);
      });
    };
    attempt.onProgress = flushSoon;
    if (attempt.stream !== undefined) attempt.stream.onChunk = flushSoon;
    attempt.onSilence = (isCounted) => this.silence(call, isCounted, flushSoon);
    const { feed } = attempt;
    if (feed !== undefined)
      feed.onTaken = () => this.setup.post({ kind: 'feed', feed: { id, request: feed.request } });
  }

  /** A change leaves at once: from here on the handler may compute. */
  private silence(call: Call, isCounted: boolean, flushSoon: () => void): void {
    if (call.isSilenceCounted === isCounted) {
      call.hasYielded = true;
      flushSoon();
      return;
    }
    call.isSilenceCounted = isCounted;
    this.setup.post({ kind: 'silence', silence: { id: call.id, isCounted } });
  }

  private flush(attempt: Attempt, call: Call): void {
    const { post } = this.setup;
    const { id } = call;
    if (call.hasYielded && call.isSilenceCounted) post({ kind: 'silence', silence: { id, isCounted: true } });
    call.hasYielded = false;
    const taken = attempt.stream?.take();
    if (taken !== undefined)
      post({ kind: 'chunks', chunks: { id, first: taken.first, chunks: taken.chunks } });
    const progress = attempt.takeProgress();
    if (progress !== undefined && hasNews(progress)) post({ kind: 'progress', progress: { id, progress } });
  }

  private abort({ id, reason, detail }: HandlerAbort): void {
    const attempt = this.attempts.get(id);
    const call = attempt === undefined ? undefined : this.calls.get(attempt);
    if (attempt !== undefined && call !== undefined)
      this.end(attempt, jobId(call.tag, attempt.job), reason, detail);
  }

  /** The attempt is over at the worker: its generator ends in its next `yield`. */
  private end(attempt: Attempt, id: string, reason: AbortReason, detail: string): void {
    attempt.abort(id, reason, detail);
    attempt.isOver = true;
    attempt.stream?.close();
  }

  private closeIfIdle(): void {
    if (this.isClosing && this.calls.size === 0) this.setup.closed();
  }
}

function hasNews({ share, lines }: AttemptProgress): boolean {
  return share !== undefined || lines.length > 0;
}
