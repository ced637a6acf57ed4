// Hot path: `start`, `finish` and `report` run once per attempt or batch; a synchronous handler meets no promise.
import type { JobsHost, JobsTimer } from '../host.js';
import { jobId } from '../job/job-id.js';
import { type Payload, payloadOfText, payloadText } from '../job/payload.js';
import { checkValue } from '../job/schema-check.js';
import type { AbortReason, JobFailure } from '../jobs-error.js';
import type {
  Assignment,
  AttemptEnd,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '../protocol/worker-messages.js';
import { Attempt, failureOf, isFinal } from './attempt.js';
import type { AttemptContext, HandledJob } from './handler.js';
import { Slots } from './slots.js';
import type { WorkerSettings } from './worker-options.js';

/** How a worker reaches its leader. `open` starts a session; what is sent before that, or after it broke, is lost. */
export interface LeaderLink {
  open(hello: WorkerHello): void;
  send(message: WorkerMessage): void;
}

/** How busy the process is. */
export interface LoadMeter {
  /** Share of one processor, 0 to 1. */
  cpu(): number;
  lagMs(): number;
}

export interface WorkerSetup {
  readonly worker: string;
  readonly incarnation: string;
  readonly handlers: readonly HandledJob[];
  readonly settings: WorkerSettings;
  readonly host: JobsHost;
  readonly load: LoadMeter;
  readonly link: LeaderLink;
}

/**
 * The worker as a machine: takes assignments, runs handlers inline, reports ends until the leader has settled them, beats.
 * A job it already has in hand is not run twice (A33); an end that may be lost is sent again after a reconnect.
 */
export class Worker {
  private readonly setup: WorkerSetup;
  private readonly handlers = new Map<string, HandledJob>();
  private readonly attempts = new Map<number, Attempt>();
  private readonly slots: Slots;
  private tag = '';
  private beatMs = 0;
  private connected = false;
  private ends: AttemptEnd[] = [];
  private ranMs = 0;
  private reportScheduled = false;
  private beatTimer: JobsTimer | undefined = undefined;
  private runTimer: JobsTimer | undefined = undefined;
  private runTimerAt = Number.POSITIVE_INFINITY;
  private quiet = false;
  private gaveBack = false;
  private stopped = false;
  private whenEmpty: (() => void) | undefined = undefined;

  constructor(setup: WorkerSetup) {
    this.setup = setup;
    for (const handled of setup.handlers) this.handlers.set(handled.job.exec, handled);
    this.slots = new Slots(setup.settings, setup.host, setup.load, () => this.scheduleReport());
  }

  /** Says hello, with what is still in hand. */
  connect(): void {
    const { worker, incarnation, settings, link } = this.setup;
    this.connected = false;
    this.ends = [];
    const held = [];
    for (const attempt of this.attempts.values()) {
      held.push({ job: attempt.assignment.job, attempt: attempt.assignment.attempt });
      if (attempt.end !== undefined) this.ends.push(attempt.end);
    }
    const credit = this.slots.restart();
    const execs = [...this.handlers.keys()];
    link.open({
      worker,
      incarnation,
      execs,
      patterns: settings.patterns,
      slots: settings.slots,
      credit,
      held,
    });
  }

  disconnected(): void {
    this.connected = false;
    this.beatTimer?.cancel();
  }

  fromLeader(message: ToWorker): void {
    if (this.stopped) return;
    switch (message.kind) {
      case 'welcome':
        this.connected = true;
        this.tag = message.tag;
        this.beatMs = message.beatMs;
        if (this.quiet) this.setup.link.send({ kind: 'quiet' });
        this.report();
        return;
      case 'assign':
        for (const assignment of message.items) this.start(assignment);
        return;
      case 'settled':
        for (const { job, attempt } of message.items) this.settled(job, attempt);
        return;
      case 'abort':
        for (const { job, attempt, reason } of message.items) this.abort(job, attempt, reason);
        return;
      case 'refused':
        return this.disconnected();
      case 'beat':
        return;
      default:
        return message satisfies never;
    }
  }

  /** Attempts in hand: running, or ended and not settled. */
  get inHand(): number {
    return this.attempts.size;
  }

  get running(): number {
    return this.slots.running;
  }

  /**
   * Takes nothing more, lets what runs finish until the deadline, then aborts it and gives its leases back uncounted. `done` comes
   * when the leader has settled everything, or at the latest a second after the deadline.
   */
  drain(deadlineMs: number, done: () => void): void {
    this.quiet = true;
    this.slots.close();
    if (this.connected) this.setup.link.send({ kind: 'quiet' });
    const { host } = this.setup;
    const deadline = host.setTimer(deadlineMs, () => this.giveBack());
    const last = host.setTimer(deadlineMs + 1_000, () => this.whenEmpty?.());
    this.whenEmpty = () => {
      this.whenEmpty = undefined;
      deadline.cancel();
      last.cancel();
      this.stop();
      done();
    };
    if (this.attempts.size === 0) this.whenEmpty();
  }

  stop(): void {
    this.stopped = true;
    this.connected = false;
    this.beatTimer?.cancel();
    this.slots.close();
    this.runTimer?.cancel();
    for (const attempt of this.attempts.values()) this.abortAttempt(attempt, 'draining');
  }

  private start(assignment: Assignment): void {
    const key = attemptKey(assignment.job, assignment.attempt);
    if (this.attempts.has(key)) return;
    const attempt = new Attempt(assignment, this.setup.host.now());
    this.attempts.set(key, attempt);
    this.slots.take(assignment.payload.length);
    if (this.gaveBack) return this.release(attempt);
    const handled = this.handlers.get(assignment.exec);
    if (handled === undefined) {
      const failure = { name: 'NoHandler', message: `worker has no handler for ${assignment.exec}` };
      return this.finish(attempt, this.failed(attempt, 'failed', failure));
    }
    this.run(attempt, handled);
  }

  private run(attempt: Attempt, handled: HandledJob): void {
    try {
      const value: unknown = JSON.parse(payloadText(attempt.assignment.payload));
      const input = checkValue(handled.job.exec, 'input', handled.job.input, value);
      const output =
        input instanceof Promise
          ? input.then((checked) => handled.run(checked, this.contextOf(attempt)))
          : handled.run(input, this.contextOf(attempt));
      if (!isThenable(output)) return this.complete(attempt, handled, output);
      this.armRunTimer(attempt.deadline);
      Promise.resolve(output).then(
        (settled) => this.completeLater(attempt, handled, settled),
        (error: unknown) => this.threw(attempt, error),
      );
    } catch (error) {
      this.threw(attempt, error);
    }
  }

  private completeLater(attempt: Attempt, handled: HandledJob, output: unknown): void {
    try {
      this.complete(attempt, handled, output);
    } catch (error) {
      this.threw(attempt, error);
    }
  }

  private complete(attempt: Attempt, handled: HandledJob, output: unknown): void {
    const checked = checkValue(handled.job.exec, 'output', handled.job.output, output);
    if (checked instanceof Promise) {
      checked.then(
        () => this.succeed(attempt, output),
        (error: unknown) => this.threw(attempt, error),
      );
      return;
    }
    // The raw output travels; the caller's schema transforms it once, on the other side.
    this.succeed(attempt, output);
  }

  private succeed(attempt: Attempt, output: unknown): void {
    let result: Payload;
    try {
      result = payloadOfText(output === undefined ? 'null' : JSON.stringify(output));
    } catch (error) {
      return this.finish(attempt, this.failed(attempt, 'final', failureOf(error)));
    }
    const { job, attempt: number, outputBytes } = attempt.assignment;
    if (result.length > outputBytes) {
      const message = `output of ${result.length} bytes, at most ${outputBytes}`;
      const failure = { name: 'OutputTooLarge', message };
      return this.finish(attempt, this.failed(attempt, 'final', failure));
    }
    this.finish(attempt, { outcome: 'ok', job, attempt: number, result });
  }

  private threw(attempt: Attempt, error: unknown): void {
    if (attempt.aborted === 'draining') return this.release(attempt);
    const outcome = attempt.aborted === 'run-time' ? 'timed-out' : isFinal(error) ? 'final' : 'failed';
    this.finish(attempt, this.failed(attempt, outcome, failureOf(error)));
  }

  private failed(
    attempt: Attempt,
    outcome: 'failed' | 'final' | 'timed-out',
    failure: JobFailure,
  ): AttemptEnd {
    return { outcome, job: attempt.assignment.job, attempt: attempt.assignment.attempt, failure };
  }

  /** The first end counts: a handler that comes back after its run time or its lease is too late. */
  private finish(attempt: Attempt, end: AttemptEnd): void {
    if (attempt.end !== undefined) return;
    attempt.end = end;
    this.ranMs += this.setup.host.now() - attempt.startedAt;
    this.ends.push(end);
    this.slots.giveBack(attempt.assignment.payload.length);
    this.scheduleReport();
  }

  /** One timer for all: it stands at the earliest deadline, and finds the next when it fires. */
  private armRunTimer(deadline: number): void {
    if (deadline >= this.runTimerAt) return;
    const { host } = this.setup;
    this.runTimer?.cancel();
    this.runTimerAt = deadline;
    this.runTimer = host.setTimer(Math.max(0, deadline - host.now()), () => this.checkRunTimes());
  }

  private checkRunTimes(): void {
    const now = this.setup.host.now();
    let next = Number.POSITIVE_INFINITY;
    for (const attempt of this.attempts.values()) {
      if (attempt.end !== undefined) continue;
      if (attempt.deadline <= now) this.runTimeOver(attempt);
      else next = Math.min(next, attempt.deadline);
    }
    this.runTimerAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.armRunTimer(next);
  }

  /** The signal first; whether or not the handler listens, its attempt is over. */
  private runTimeOver(attempt: Attempt): void {
    this.abortAttempt(attempt, 'run-time');
    const message = `still running after ${attempt.assignment.runMs} ms`;
    this.finish(attempt, this.failed(attempt, 'timed-out', { name: 'RunTimeExceeded', message }));
  }

  private abort(job: number, number: number, reason: 'cancelled' | 'fenced'): void {
    const attempt = this.attempts.get(attemptKey(job, number));
    if (attempt === undefined) return;
    this.abortAttempt(attempt, reason);
    this.finish(attempt, this.failed(attempt, 'failed', { name: 'Aborted', message: reason }));
  }

  private giveBack(): void {
    this.gaveBack = true;
    for (const attempt of this.attempts.values()) {
      if (attempt.end !== undefined) continue;
      this.abortAttempt(attempt, 'draining');
      this.release(attempt);
    }
  }

  private release(attempt: Attempt): void {
    const { job, attempt: number } = attempt.assignment;
    this.finish(attempt, { outcome: 'released', job, attempt: number });
  }

  private abortAttempt(attempt: Attempt, reason: AbortReason): void {
    attempt.abort(jobId(this.tag, attempt.assignment.job), reason);
  }

  private settled(job: number, number: number): void {
    const key = attemptKey(job, number);
    if (this.attempts.get(key)?.end === undefined) return;
    this.attempts.delete(key);
    if (this.attempts.size === 0) this.whenEmpty?.();
  }

  private contextOf(attempt: Attempt): AttemptContext {
    return new RunContext(this.tag, attempt);
  }

  /** Ends of one burst leave together. */
  private scheduleReport(): void {
    if (this.reportScheduled || !this.connected) return;
    this.reportScheduled = true;
    this.setup.host.soon(() => {
      this.reportScheduled = false;
      this.report();
    });
  }

  private report(): void {
    if (!this.connected || this.stopped) return;
    const { host, load, link } = this.setup;
    const { ends, ranMs: runMs } = this;
    this.ends = [];
    this.ranMs = 0;
    const credit = this.slots.credit();
    link.send({ kind: 'report', ends, credit, cpu: load.cpu(), lagMs: load.lagMs(), runMs });
    this.beatTimer?.cancel();
    this.beatTimer = host.setTimer(this.beatMs, () => this.report());
  }
}

/** Text and signal are made when a handler asks for them; most do not. */
class RunContext implements AttemptContext {
  private readonly tag: string;
  private readonly current: Attempt;

  constructor(tag: string, current: Attempt) {
    this.tag = tag;
    this.current = current;
  }

  get jobId(): string {
    return jobId(this.tag, this.current.assignment.job);
  }

  get attempt(): number {
    return this.current.assignment.attempt;
  }

  get client(): string {
    return this.current.assignment.client;
  }

  get signal(): AbortSignal {
    return this.current.signal(this.jobId);
  }
}

/** One number for both. Two attempts of one job that are 1,024 apart are never in one hand. */
function attemptKey(job: number, attempt: number): number {
  return job * 1_024 + (attempt & 1_023);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
