// Hot path: `accept`, `begin` and `finish` run once per attempt.

import { jobId } from '../job/job-id.js';
import { type AbortReason, SessionRefusedError } from '../jobs-error.js';
import type { JobsClock } from '../jobs-host.js';
import { MachineTimers } from '../machine-timers.js';
import { JOB_FEATURES, JOB_PROTOCOL } from '../protocol/job-protocol.js';
import { RunTimeEstimate } from '../protocol/worker/run-time-estimate.js';
import type {
  Assignment,
  AttemptAbort,
  AttemptEnd,
  AttemptRange,
  AttemptRef,
  ToWorker,
} from '../protocol/worker/worker-messages.js';
import { Attempt, attemptKey } from './attempt/attempt.js';
import {
  failed,
  isRunnerSuspect,
  released,
  runnerFailed,
  runnerWaitExceeded,
} from './attempt/attempt-end.js';
import { AttemptQueue, QUEUED_FOR_THREAD_MS_MAX, QUEUED_MS_MAX } from './attempt/attempt-queue.js';
import type { AttemptOwner } from './attempt/run-attempt.js';
import { RunTimeLimits } from './attempt/run-time-limits.js';
import { UnacknowledgedEnds } from './attempt/unacknowledged-ends.js';
import { HandlerSlots } from './credit/handler-slots.js';
import type { LoadMeter } from './credit/load-meter.js';
import { FeedQueues } from './feed/feed-queues.js';
import type { HandledJob } from './handlers/handler.js';
import type { HandlerRunner } from './handlers/handler-runner.js';
import { InlineHandlers } from './handlers/inline-handlers.js';
import { ProgressOutbox } from './progress/progress-outbox.js';
import { RunnerPools } from './runners/runner-pools.js';
import type { RunnerReport } from './runners/runner-port.js';
import { ChunkSenders } from './stream/chunk-senders.js';
import type { HandlerThreadReports, HandlerThreads } from './threads/handler-threads.js';
import { type ThreadedAttempts, ThreadedHandlers } from './threads/threaded-handlers.js';
import { WorkerDrain } from './worker-drain.js';
import type { WorkerEffects } from './worker-effects.js';
import type { AttemptFailure, StaleAttempt, WorkerSettings } from './worker-options.js';
import { WorkerReporter } from './worker-reporter.js';
import type { WorkerTracing } from './worker-tracing.js';

export interface WorkerSetup {
  readonly worker: string;
  readonly incarnation: string;
  /** They run inline. */
  readonly handlers: readonly HandledJob[];
  /** With threads, which have handlers of their own, there are none. */
  readonly threads?: ThreadSetup | undefined;
  readonly settings: WorkerSettings;
  readonly clock: JobsClock;
  readonly effects: WorkerEffects;
  readonly load: LoadMeter;
  readonly onFailure?: ((failure: AttemptFailure) => void) | undefined;
  readonly onStale?: ((attempt: StaleAttempt) => void) | undefined;
  readonly tracing?: WorkerTracing | undefined;
}

export interface ThreadSetup {
  readonly port: HandlerThreads;
  readonly count: number;
  readonly graceMs: number;
}

/**
 * The worker as a state machine without I/O: takes assignments, runs handlers, reports each end until
 * the leader has acknowledged it, sends heartbeats. An attempt that it holds already is not run twice; an
 * unacknowledged end is reported again after a reconnect. Its inputs are its methods, its outputs
 * {@link WorkerEffects}.
 */
export class Worker implements AttemptOwner {
  private readonly setup: WorkerSetup;
  private readonly effects: WorkerEffects;
  private readonly timers: MachineTimers;
  private readonly handlers: HandlerRunner;
  private readonly inline: InlineHandlers | undefined;
  private readonly threaded: ThreadedHandlers | undefined;
  /** Queued and running attempts, by `attemptKey`. */
  private readonly attempts = new Map<number, Attempt>();
  private readonly ended = new UnacknowledgedEnds((job, attempt) => this.streams.remove(job, attempt));
  private readonly estimate = new RunTimeEstimate();
  private readonly slots: HandlerSlots;
  private readonly queue: AttemptQueue;
  private readonly reporter: WorkerReporter;
  private readonly limits: RunTimeLimits;
  private readonly runners: RunnerPools;
  private readonly progress: ProgressOutbox;
  private readonly streams = new ChunkSenders(() => this.reporter.scheduleChunks());
  private readonly feeds = new FeedQueues(() => this.reporter.scheduleChunks());
  private tag = '';
  private isConnected = false;
  private isDraining = false;
  private hasReleased = false;
  private isStopped = false;
  private isBeginning = false;
  private readonly onProgress = (attempt: Attempt): void => this.progress.add(attempt);
  private readonly draining: WorkerDrain;

  constructor(setup: WorkerSetup) {
    this.setup = setup;
    const { clock, effects, load, settings } = setup;
    this.effects = effects;
    this.timers = new MachineTimers(clock, (ms) => effects.startTick(ms));
    const { timers } = this;
    this.draining = new WorkerDrain(timers, {
      releaseAll: () => this.releaseAll(),
      closeRunners: (done) => this.runners.close(done),
      drained: () => {
        this.stop();
        effects.drained();
      },
    });
    this.runners = new RunnerPools({
      timers,
      onReady: () => this.beginNext(),
      onChange: () => this.reporter.schedule(),
      onLoadFailed: (attempt, runner, failure) => this.end(attempt, runnerFailed(attempt, runner, failure)),
      onRetired: (attempt) => this.end(attempt, released(attempt)),
    });
    this.threaded = this.threadedHandlers();
    this.inline =
      this.threaded === undefined
        ? new InlineHandlers(this, this.runners, (report) => effects.runnerReport(report))
        : undefined;
    this.handlers = (this.threaded ?? this.inline) as HandlerRunner; // one of them is there
    const { estimate } = this;
    this.slots = new HandlerSlots({ settings, estimate, timers, load }, () => this.reporter.schedule());
    const queuedMsMax = this.threaded === undefined ? QUEUED_MS_MAX : QUEUED_FOR_THREAD_MS_MAX;
    this.queue = new AttemptQueue(timers, queuedMsMax, (attempt) => this.end(attempt, released(attempt)));
    this.reporter = new WorkerReporter({
      timers,
      load,
      slots: this.slots,
      request: () => effects.requestReport(),
      write: (message) => effects.write(message),
      takeChunks: () => this.streams.take(),
      takeRunners: () => this.runners.takeChanges(),
      takeProgress: () => this.progress.take(),
      takeFeedRequests: () => this.feeds.take(),
    });
    this.progress = new ProgressOutbox(timers, () => this.reporter.schedule());
    this.limits = new RunTimeLimits(timers, this.attempts, (attempt) => this.exceedLimit(attempt));
    this.inline?.use(setup.handlers);
    this.threaded?.start();
  }

  /**
   * Opens a session, and claims the attempts that are still held. Without known jobs the session waits for
   * `jobsKnown`.
   */
  connect(): void {
    const { worker, incarnation, settings } = this.setup;
    this.isConnected = false;
    const { execs } = this.handlers;
    if (execs === undefined) return;
    const held: AttemptRef[] = [];
    for (const { job, number } of this.attempts.values()) held.push({ job, attempt: number });
    const ends = this.ended.all();
    for (const { job, attempt } of ends) held.push({ job, attempt });
    this.reporter.restart(ends);
    this.streams.rewind();
    // A report that was lost had the progress of before.
    for (const attempt of this.attempts.values()) if (attempt.hasProgress) this.progress.add(attempt);
    this.feeds.rewind();
    const { patterns, slots } = settings;
    const credit = this.slots.restart();
    const runners = this.runners.restartCredit();
    const offer = { protocol: JOB_PROTOCOL, features: JOB_FEATURES };
    const streams = this.streams.held();
    this.effects.open({
      ...offer,
      worker,
      incarnation,
      execs,
      patterns,
      slots,
      credit,
      held,
      streams,
      runners,
      ...(settings.labels.length === 0 ? {} : { labels: settings.labels }),
    });
  }

  disconnected(): void {
    this.isConnected = false;
    this.reporter.close();
  }

  /** Other handlers from now on. Attempts under way keep theirs. */
  replaceHandlers(handlers: readonly HandledJob[]): void {
    if (this.isStopped) return;
    this.inline?.use(handlers);
    this.connect();
  }

  /** The requested report. */
  report(): void {
    this.reporter.report();
  }

  /** The time of `startTick` is over. */
  tick(): void {
    if (!this.isStopped) this.timers.tick();
  }

  fromLeader(message: ToWorker): void {
    if (this.isStopped) return;
    switch (message.kind) {
      case 'welcome':
        this.isConnected = true;
        if (this.tag !== '' && this.tag !== message.tag) this.forget();
        this.tag = message.tag;
        if (this.isDraining) this.effects.write({ kind: 'drain' });
        return this.reporter.open(message.heartbeatMs);
      case 'assign':
        return this.assigned(message.items);
      case 'acknowledged':
        for (const range of message.items) this.acknowledged(range);
        return;
      case 'abort':
        for (const item of message.items) this.abort(item);
        return;
      case 'stale':
        for (const item of message.items) this.answeredStale(item);
        return;
      case 'stream_windows':
        for (const window of message.items) this.streams.opened(window);
        return;
      case 'fed_items':
        for (const items of message.items) this.feeds.push(items);
        return;
      case 'refused':
        this.disconnected();
        return this.effects.refused(new SessionRefusedError(message.code, message.problem));
      case 'heartbeat':
        return;
      default:
        return message satisfies never;
    }
  }

  /** Attempts held: queued, running, or ended and not acknowledged. */
  get held(): number {
    return this.attempts.size + this.ended.size;
  }

  get running(): number {
    return this.slots.running;
  }

  /**
   * Takes nothing more, lets attempts run until the deadline, then aborts them and releases their leases
   * uncounted. The effect `drained` comes when the leader has acknowledged every end, at the latest a second
   * after the deadline.
   */
  drain(deadlineMs: number): void {
    this.isDraining = true;
    this.slots.close();
    if (this.isConnected) this.effects.write({ kind: 'drain' });
    this.draining.start(deadlineMs);
    if (this.held === 0) this.draining.emptied();
  }

  stop(): void {
    this.isStopped = true;
    this.disconnected();
    this.slots.close();
    this.limits.cancel();
    this.progress.clear();
    this.queue.clear();
    for (const attempt of this.attempts.values()) {
      this.signalAbort(attempt, 'draining');
      endTrace(attempt, released(attempt));
    }
    this.handlers.stop();
  }

  runnerReported(report: RunnerReport): void {
    if (!this.isStopped) this.runners.reported(report);
  }

  /** Takes the reports of handler threads. Undefined: there are none, or the worker has stopped. */
  get threads(): HandlerThreadReports | undefined {
    return this.isStopped ? undefined : this.threaded;
  }

  /**
   * After slow handlers that ran inline, only as many assignments as there are slots are kept, and the rest
   * released.
   */
  private assigned(items: readonly Assignment[]): void {
    const { clock, settings } = this.setup;
    const arrivedAt = clock.now();
    let now = arrivedAt;
    let kept = items.length;
    for (let index = 0; index < items.length; index += 1) {
      if (now - arrivedAt > QUEUED_MS_MAX) kept = Math.min(kept, index + settings.slots);
      const attempt = this.accept(items[index] as Assignment, arrivedAt); // index < length
      if (attempt === undefined) continue;
      if (index >= kept || this.hasReleased) this.end(attempt, released(attempt));
      else if (this.canBegin(attempt)) this.begin(attempt, now);
      else this.enqueue(attempt);
      now = clock.now();
    }
  }

  /** Undefined for an attempt that is held already. */
  private accept(assignment: Assignment, now: number): Attempt | undefined {
    const key = attemptKey(assignment.job, assignment.attempt);
    if (this.attempts.has(key) || this.ended.has(key)) return undefined;
    const attempt = new Attempt(assignment, now);
    this.slots.take(attempt);
    this.runners.accept(attempt);
    attempt.onProgress = this.onProgress;
    return attempt;
  }

  /** First come, first served: an attempt that waits for a thread is not passed by one that could share. */
  private canBegin(attempt: Attempt): boolean {
    return !this.slots.isFull && this.queue.peek() === undefined && this.handlers.hasRoom(attempt);
  }

  /** An attempt that waits for a warm runner holds up no other, and has its run time for it. */
  private enqueue(attempt: Attempt): void {
    this.attempts.set(attemptKey(attempt.job, attempt.number), attempt);
    if (!this.runners.wait(attempt)) return this.queue.push(attempt);
    attempt.setRunnerWait(this.runners.nameOf(attempt) ?? '');
    attempt.deadline = attempt.since + attempt.runMs;
    this.limits.watch(attempt.deadline);
  }

  private begin(attempt: Attempt, now: number): void {
    attempt.begin(now, this.setup.clock);
    this.slots.begin();
    if (attempt.stream !== undefined) this.streams.add(attempt.stream);
    if (attempt.feed !== undefined) this.feeds.add(attempt.feed);
    if (attempt.hasProgress) this.endRunnerWait(attempt);
    const { tracing } = this.setup;
    const isRunning =
      tracing === undefined ? this.handlers.run(attempt, this.tag) : this.runTraced(attempt, tracing);
    if (!isRunning) return;
    attempt.isUnderWay = true;
    this.attempts.set(attemptKey(attempt.job, attempt.number), attempt);
    this.limits.watch(attempt.nextCheckAt(attempt.since));
  }

  private runTraced(attempt: Attempt, tracing: WorkerTracing): boolean {
    const { job, number, exec, client, trace } = attempt;
    const view = { jobId: jobId(this.tag, job), job, attempt: number, exec, client, trace };
    const traced = tracing.attempt(view);
    attempt.traced = traced;
    attempt.trace = traced.trace;
    return traced.run(() => this.handlers.run(attempt, this.tag));
  }

  private endRunnerWait(attempt: Attempt): void {
    attempt.setRunnerWait('');
    this.progress.hurry(attempt);
  }

  /** A handler that was called has ended: now, or after the promise it returned. */
  finish(attempt: Attempt, end: AttemptEnd): void {
    if (attempt.isUnderWay) this.effects.settled(attempt, end);
    else this.attemptEnded(attempt, end);
  }

  /** The first end counts: after its run time or its lease it is too late. */
  attemptEnded(attempt: Attempt, end: AttemptEnd): void {
    attempt.isUnderWay = false;
    if (!attempt.isOver) this.end(attempt, end);
    else this.freeOverrun(attempt);
  }

  private freeOverrun(attempt: Attempt): void {
    attempt.isUnderWay = false;
    this.slots.endOverrun(attempt);
    this.runners.release(attempt, { isError: isRunnerSuspect(attempt) });
    this.reporter.schedule();
    this.beginNext();
  }

  /** A handler that is under way keeps its slot until it ends, however its attempt ended. */
  private end(attempt: Attempt, end: AttemptEnd): void {
    attempt.isOver = true;
    if (attempt.hasProgress) this.progress.hurry(attempt);
    endTrace(attempt, end);
    attempt.stream?.close();
    if (attempt.feed !== undefined) this.feeds.remove(attempt.job, attempt.number);
    const key = attemptKey(attempt.job, attempt.number);
    this.attempts.delete(key);
    const { streamEnd } = attempt;
    const reported = streamEnd === undefined ? end : { ...end, ...streamEnd };
    this.ended.add(key, reported);
    if (end.outcome !== 'ok') this.reportFailure(attempt, end);
    // For an attempt that never began this is its wait: the worker was busy for so long.
    const tookMs = this.setup.clock.now() - attempt.since;
    const isStream = attempt.stream !== undefined;
    // A stream is never short, however soon it ends.
    if (!isStream) this.estimate.add(1, tookMs);
    if (attempt.isUnderWay) this.slots.startOverrun();
    else {
      this.slots.release(attempt);
      this.runners.release(attempt, { isError: isRunnerSuspect(attempt, end) });
    }
    this.reporter.add(reported, isStream ? 0 : tookMs);
    this.beginNext();
  }

  /** Not reentrant: a synchronous handler finishes its attempt inside this loop. */
  private beginNext(): void {
    if (this.isBeginning) return;
    this.isBeginning = true;
    while (!this.slots.isFull) {
      const attempt = this.takeNext();
      if (attempt === undefined) break;
      this.begin(attempt, this.setup.clock.now());
    }
    this.isBeginning = false;
  }

  /** The older one of the queue and of the attempts that have waited for a runner. */
  private takeNext(): Attempt | undefined {
    const ready = this.runners.firstReady();
    const queued = this.queue.peek();
    const isQueued = queued !== undefined && this.handlers.hasRoom(queued);
    if (isQueued && (ready === undefined || queued.since <= ready.since)) return this.queue.shift();
    return ready;
  }

  /** The signal first; the attempt is over even if its handler ignores it. */
  private exceedLimit(attempt: Attempt): void {
    const runner = attempt.hasBegun ? undefined : this.runners.nameOf(attempt);
    const isSilent = attempt.deadline > this.setup.clock.now();
    this.signalAbort(attempt, isSilent ? 'silence' : 'run-time');
    if (runner !== undefined) return this.end(attempt, runnerWaitExceeded(attempt, runner));
    const name = isSilent ? 'SilenceExceeded' : 'RunTimeExceeded';
    const message = isSilent
      ? `no chunk for ${attempt.silenceMs} ms`
      : `still running after ${attempt.runMs} ms`;
    this.end(attempt, failed(attempt, 'timed-out', { name, message }));
  }

  private abort({ job, attempt: number, reason, detail }: AttemptAbort): void {
    const attempt = this.attempts.get(attemptKey(job, number));
    if (attempt === undefined) return;
    this.signalAbort(attempt, reason, detail);
    this.streams.remove(job, number);
    this.end(attempt, failed(attempt, 'failed', { name: 'Aborted', message: reason }));
  }

  /** Another leader: its numbers are other jobs, and the assignments of the last one mean nothing to it. */
  private forget(): void {
    this.queue.clear();
    const detail = 'another leader has taken over';
    for (const { job, number } of this.attempts.values())
      this.abort({ job, attempt: number, reason: 'fenced', detail });
    this.ended.clear();
    this.streams.clear();
    this.reporter.restart([]);
    this.draining.emptied();
  }

  private releaseAll(): void {
    this.hasReleased = true;
    this.queue.clear();
    for (const attempt of this.attempts.values()) {
      this.signalAbort(attempt, 'draining');
      this.end(attempt, released(attempt));
    }
  }

  private signalAbort(attempt: Attempt, reason: AbortReason, detail = ''): void {
    attempt.abort(jobId(this.tag, attempt.job), reason, detail);
    this.handlers.aborted(attempt);
  }

  private threadedHandlers(): ThreadedHandlers | undefined {
    const { threads } = this.setup;
    if (threads === undefined) return undefined;
    const { port, count, graceMs } = threads;
    const owner: ThreadedAttempts = {
      jobsKnown: () => this.connect(),
      lost: (attempt, end) => this.end(attempt, end),
      ended: (attempt, end) => this.attemptEnded(attempt, end),
      slotFreed: (attempt) => this.freeOverrun(attempt),
      roomMade: () => this.beginNext(),
    };
    const { timers, runners: pools } = this;
    return new ThreadedHandlers({ threads: port, count, graceMs, timers, owner, pools });
  }

  /** An attempt that was taken away or released did not fail here. */
  private reportFailure(attempt: Attempt, end: AttemptEnd): void {
    const { onFailure } = this.setup;
    const wasTaken =
      attempt.aborted === 'cancelled' || attempt.aborted === 'fenced' || attempt.aborted === 'draining';
    if (onFailure === undefined || wasTaken || !('failure' in end)) return;
    const { job, exec, number } = attempt;
    const { outcome, failure } = end;
    onFailure({ jobId: jobId(this.tag, job), exec, attempt: number, outcome, failure });
  }

  private acknowledged(range: AttemptRange): void {
    if (this.ended.acknowledge(range) && this.held === 0) this.draining.emptied();
  }

  /** The result or failure came too late. Only a result was worth something: its loss is reported. */
  private answeredStale(ref: AttemptRef): void {
    const end = this.ended.takeStale(ref);
    if (end === undefined) return;
    const { job, attempt } = ref;
    if (end.outcome === 'ok') this.setup.onStale?.({ jobId: jobId(this.tag, job), attempt });
    if (this.held === 0) this.draining.emptied();
  }
}

function endTrace(attempt: Attempt, end: AttemptEnd): void {
  attempt.traced?.ended(end);
  attempt.traced = undefined;
}
