// Hot path: `take`, `begin` and `finish` run once per attempt.

import type { JobsHost } from '../host.js';
import { jobId } from '../job/job-id.js';
import { type AbortReason, SessionRefusedError } from '../jobs-error.js';
import { RunTimeEstimate } from '../protocol/run-time-estimate.js';
import type {
  Assignment,
  AttemptEnd,
  AttemptRef,
  AttemptRun,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '../protocol/worker-messages.js';
import { Attempt, attemptKey, failed, released } from './attempt.js';
import { Line, QUEUED_MS_MAX } from './attempt-queue.js';
import type { HandledJob } from './handler.js';
import { runHandler } from './handler-run.js';
import type { LoadMeter } from './load-meter.js';
import { Reporter } from './reporter.js';
import { RunContext } from './run-context.js';
import { RunTimes } from './run-times.js';
import { Slots } from './slots.js';
import type { AttemptFailure, WorkerSettings } from './worker-options.js';

/** How a worker reaches its leader. `open` starts a session; what is sent before that, or after it broke, is lost. */
export interface LeaderLink {
  open(hello: WorkerHello): void;
  send(message: WorkerMessage): void;
}

export interface WorkerSetup {
  readonly worker: string;
  readonly incarnation: string;
  readonly handlers: readonly HandledJob[];
  readonly settings: WorkerSettings;
  readonly host: JobsHost;
  readonly load: LoadMeter;
  readonly link: LeaderLink;
  /** The leader has ended the session, and says why. */
  readonly onRefused: (error: SessionRefusedError) => void;
  readonly onFailure?: ((failure: AttemptFailure) => void) | undefined;
}

/**
 * The worker as a machine: takes assignments, runs handlers inline, reports ends until the leader has settled them, beats.
 * A job it already has in hand is not run twice (A33); an end that may be lost is sent again after a reconnect.
 */
export class Worker {
  private readonly setup: WorkerSetup;
  private readonly handlers = new Map<string, HandledJob>();
  private readonly attempts = new Map<number, Attempt>();
  /** Ended and not settled: of an attempt only its end is kept, because it waits for the leader longer than it ran. */
  private readonly ended = new Map<number, AttemptEnd>();
  private readonly runTimeEstimate = new RunTimeEstimate();
  private readonly slots: Slots;
  private readonly line: Line;
  private readonly reporter: Reporter;
  private readonly runTimes: RunTimes;
  private tag = '';
  private connected = false;
  private quiet = false;
  private gaveBack = false;
  private stopped = false;
  private isBeginning = false;
  private whenEmpty: (() => void) | undefined = undefined;
  private readonly finish: (attempt: Attempt, end: AttemptEnd) => void;

  constructor(setup: WorkerSetup) {
    this.setup = setup;
    const { host, load, settings, link } = setup;
    for (const handled of setup.handlers) this.handlers.set(handled.job.exec, handled);
    this.slots = new Slots({ settings, runTimeEstimate: this.runTimeEstimate, host, load }, () =>
      this.reporter.soon(),
    );
    this.line = new Line(host, (attempt) => this.finish(attempt, released(attempt)));
    this.reporter = new Reporter({ host, load, slots: this.slots, send: (message) => link.send(message) });
    this.runTimes = new RunTimes(host, this.attempts, (attempt) => this.runTimeOver(attempt));
    // The first end counts: a handler that comes back after its run time or its lease is too late.
    this.finish = (attempt, end) => {
      if (attempt.isOver) return;
      attempt.isOver = true;
      const key = attemptKey(attempt.job, attempt.number);
      this.attempts.delete(key);
      this.ended.set(key, end);
      if (end.outcome !== 'ok') this.tellFailure(attempt, end);
      // Of one that has not begun, for how long it has waited: its worker was busy for so long.
      const tookMs = host.now() - attempt.since;
      this.runTimeEstimate.ran(1, tookMs);
      this.slots.giveBack(attempt);
      this.reporter.add(end, tookMs);
      this.beginNext();
    };
  }

  /** Says hello, with what is still in hand. */
  connect(): void {
    const { worker, incarnation, settings, link } = this.setup;
    this.connected = false;
    const held: AttemptRef[] = [];
    for (const { job, number } of this.attempts.values()) held.push({ job, attempt: number });
    const ends = [...this.ended.values()];
    for (const { job, attempt } of ends) held.push({ job, attempt });
    this.reporter.restart(ends);
    const { patterns, slots } = settings;
    const credit = this.slots.restart();
    const execs = Array.from(this.handlers.values(), ({ job }) => `${job.policy.group}/${job.exec}`);
    link.open({ worker, incarnation, execs, patterns, slots, credit, held });
  }

  disconnected(): void {
    this.connected = false;
    this.reporter.close();
  }

  fromLeader(message: ToWorker): void {
    if (this.stopped) return;
    switch (message.kind) {
      case 'welcome':
        this.connected = true;
        if (this.tag !== '' && this.tag !== message.tag) this.forget();
        this.tag = message.tag;
        if (this.quiet) this.setup.link.send({ kind: 'quiet' });
        return this.reporter.open(message.beatMs);
      case 'assign':
        return this.assigned(message.items);
      case 'settled':
        for (const run of message.items) this.settled(run);
        return;
      case 'abort':
        for (const { job, attempt, reason } of message.items) this.abort(job, attempt, reason);
        return;
      case 'refused':
        this.disconnected();
        return this.setup.onRefused(new SessionRefusedError(message.code, message.problem));
      case 'beat':
        return;
      default:
        return message satisfies never;
    }
  }

  /** Attempts in hand: running, or ended and not settled. */
  get inHand(): number {
    return this.attempts.size + this.ended.size;
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
    if (this.inHand === 0) this.whenEmpty();
  }

  stop(): void {
    this.stopped = true;
    this.disconnected();
    this.slots.close();
    this.runTimes.cancel();
    this.line.clear();
    for (const attempt of this.attempts.values()) this.abortAttempt(attempt, 'draining');
  }

  /** Handlers run inline: if those before took long, what is behind them is kept as far as there are slots, and given back beyond. */
  private assigned(items: readonly Assignment[]): void {
    const { host, settings } = this.setup;
    const cameAt = host.now();
    let now = cameAt;
    let kept = items.length;
    for (let place = 0; place < items.length; place += 1) {
      if (now - cameAt > QUEUED_MS_MAX) kept = Math.min(kept, place + settings.slots);
      const attempt = this.take(items[place] as Assignment, cameAt);
      if (attempt === undefined) continue;
      if (place >= kept || this.gaveBack) this.finish(attempt, released(attempt));
      else if (this.slots.isFull) this.lineUp(attempt);
      else this.begin(attempt, now);
      now = host.now();
    }
  }

  /** Undefined for what is in hand already. */
  private take(assignment: Assignment, now: number): Attempt | undefined {
    const key = attemptKey(assignment.job, assignment.attempt);
    if (this.attempts.has(key) || this.ended.has(key)) return undefined;
    const attempt = new Attempt(assignment, now);
    this.slots.take(attempt);
    return attempt;
  }

  private lineUp(attempt: Attempt): void {
    this.attempts.set(attemptKey(attempt.job, attempt.number), attempt);
    this.line.join(attempt);
  }

  private begin(attempt: Attempt, now: number): void {
    attempt.begin(now);
    this.slots.begin();
    const handled = this.handlers.get(attempt.exec);
    if (handled === undefined) {
      const failure = { name: 'NoHandler', message: `worker has no handler for ${attempt.exec}` };
      return this.finish(attempt, failed(attempt, 'failed', failure));
    }
    const goesOn = runHandler(attempt, handled, new RunContext(this.tag, attempt), this.finish);
    if (!goesOn) return;
    this.attempts.set(attemptKey(attempt.job, attempt.number), attempt);
    this.runTimes.watch(attempt.deadline);
  }

  /** Not from within itself: a handler that returns at once ends its attempt here. */
  private beginNext(): void {
    if (this.isBeginning) return;
    this.isBeginning = true;
    while (!this.slots.isFull) {
      const attempt = this.line.next();
      if (attempt === undefined) break;
      this.begin(attempt, this.setup.host.now());
    }
    this.isBeginning = false;
  }

  /** The signal first; whether or not the handler listens, its attempt is over. */
  private runTimeOver(attempt: Attempt): void {
    this.abortAttempt(attempt, 'run-time');
    const message = `still running after ${attempt.runMs} ms`;
    this.finish(attempt, failed(attempt, 'timed-out', { name: 'RunTimeExceeded', message }));
  }

  private abort(job: number, number: number, reason: 'cancelled' | 'fenced'): void {
    const attempt = this.attempts.get(attemptKey(job, number));
    if (attempt === undefined) return;
    this.abortAttempt(attempt, reason);
    this.finish(attempt, failed(attempt, 'failed', { name: 'Aborted', message: reason }));
  }

  /** Another leader: its numbers are other jobs, and what the last one assigned is nothing to it (A43). */
  private forget(): void {
    this.line.clear();
    for (const { job, number } of this.attempts.values()) this.abort(job, number, 'fenced');
    this.ended.clear();
    this.reporter.restart([]);
    this.whenEmpty?.();
  }

  private giveBack(): void {
    this.gaveBack = true;
    this.line.clear();
    for (const attempt of this.attempts.values()) {
      this.abortAttempt(attempt, 'draining');
      this.finish(attempt, released(attempt));
    }
  }

  private abortAttempt(attempt: Attempt, reason: AbortReason): void {
    attempt.abort(jobId(this.tag, attempt.job), reason);
  }

  /** What was taken from it or given back did not fail here. */
  private tellFailure(attempt: Attempt, end: AttemptEnd): void {
    const { onFailure } = this.setup;
    const wasTaken = attempt.aborted !== undefined && attempt.aborted !== 'run-time';
    if (onFailure === undefined || wasTaken || end.outcome === 'ok' || end.outcome === 'released') return;
    const { job, exec, number } = attempt;
    const { outcome, failure } = end;
    onFailure({ jobId: jobId(this.tag, job), exec, attempt: number, outcome, failure });
  }

  private settled({ job, attempt, count }: AttemptRun): void {
    const before = this.ended.size;
    for (let i = 0; i < count && this.ended.size > 0; i += 1) this.ended.delete(attemptKey(job + i, attempt));
    if (this.ended.size < before && this.inHand === 0) this.whenEmpty?.();
  }
}
