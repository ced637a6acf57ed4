import type { JobsTimers } from '../../jobs-host.js';
import type { AttemptEnd } from '../../protocol/worker/worker-messages.js';
import type { Attempt } from '../attempt/attempt.js';
import { failed, noHandler, released } from '../attempt/attempt-end.js';
import type { HandlerRunner } from '../handlers/handler-runner.js';
import type { RunnerPools } from '../runners/runner-pools.js';
import type { RunnerInstance, RunnerPort } from '../runners/runner-port.js';
import type {
  HandlerChunks,
  HandlerEnded,
  HandlerFeedState,
  HandlerProgress,
  HandlerSilence,
  HandlerThreadReports,
  HandlerThreads,
  ThreadEnded,
  ThreadJob,
  ThreadRunnerReport,
  ThreadUp,
} from './handler-threads.js';
import { SuspectJobs } from './suspect-jobs.js';
import { ThreadStream } from './thread-stream.js';

export interface ThreadedHandlersSetup {
  readonly threads: HandlerThreads;
  readonly count: number;
  readonly graceMs: number;
  readonly timers: JobsTimers;
  readonly owner: ThreadedAttempts;
  readonly pools: RunnerPools;
}

/** The owner of the attempts on threads. */
export interface ThreadedAttempts {
  /** The jobs are known. */
  jobsKnown(): void;
  /** The attempt is over; its slot stays taken until `slotFreed`. */
  lost(attempt: Attempt, end: AttemptEnd): void;
  /** A handler has ended by itself. */
  ended(attempt: Attempt, end: AttemptEnd): void;
  /** The thread of a lost attempt has been replaced. */
  slotFreed(attempt: Attempt): void;
  /** A thread is up: queued attempts may begin. */
  roomMade(): void;
}

/** A place for handlers, over all the threads that replace each other in it. */
interface ThreadPlace {
  readonly number: number;
  stage: 'starting' | 'up' | 'ending';
  /** By the id of the call. */
  readonly calls: Map<number, Attempt>;
  /** All calls on it may share it. */
  isShared: boolean;
  /** Their slots are free once a thread is up again. */
  lost: Attempt[];
  /** Instances that are being loaded on it: nothing else begins there meanwhile. */
  loading: number;
  /** Instances on it, loaded or not. */
  instances: number;
  /** Ends of its threads since a handler last ended there by itself. */
  failures: number;
}

interface Call {
  readonly place: ThreadPlace;
  readonly id: number;
}

const RESTART_MS_MAX = 30_000;

/**
 * Which attempt runs on which thread, without threads: the thread of an attempt past its time or cancelled is
 * ended after a grace and replaced. Other attempts on it are handed back uncounted. A thread that ended by
 * itself blames its only attempt; of several all are handed back, and run alone the next time (ADR 0419).
 */
export class ThreadedHandlers implements HandlerRunner, HandlerThreadReports, RunnerPort {
  execs: readonly string[] | undefined = undefined;
  private readonly setup: ThreadedHandlersSetup;
  private readonly places: ThreadPlace[] = [];
  private readonly jobs = new Map<string, ThreadJob>();
  private readonly calls = new Map<Attempt, Call>();
  private readonly streams = new Map<Attempt, ThreadStream>();
  private readonly suspects = new SuspectJobs();
  private lastCall = 0;

  constructor(setup: ThreadedHandlersSetup) {
    this.setup = setup;
    for (let number = 0; number < setup.count; number += 1) {
      this.places.push({
        number,
        stage: 'starting',
        calls: new Map(),
        isShared: false,
        lost: [],
        loading: 0,
        instances: 0,
        failures: 0,
      });
    }
  }

  start(): void {
    for (const { number } of this.places) this.setup.threads.start(number);
  }

  stop(): void {
    this.setup.threads.close();
  }

  hasRoom(attempt: Attempt): boolean {
    if (!this.jobs.has(attempt.exec)) return true;
    if (this.setup.pools.nameOf(attempt) !== undefined) return this.setup.pools.isReady(attempt);
    return this.placeFor(attempt) !== undefined;
  }

  placeToLoad(): number | undefined {
    return this.emptyPlace()?.number;
  }

  isFree(number: number): boolean {
    return isEmpty(this.place(number));
  }

  load(instance: RunnerInstance): void {
    const place = this.place(instance.place);
    place.loading += 1;
    place.instances += 1;
    this.setup.threads.changeRunner(instance.place, { kind: 'load', instance: dataOf(instance) });
  }

  check(instance: RunnerInstance): void {
    this.setup.threads.changeRunner(instance.place, { kind: 'check', instance: dataOf(instance) });
  }

  unload(instance: RunnerInstance): void {
    this.setup.threads.changeRunner(instance.place, { kind: 'unload', instance: dataOf(instance) });
  }

  threadRunner({ thread, report }: ThreadRunnerReport): void {
    const place = this.place(thread);
    const { kind, failure } = report;
    if (kind === 'loaded') place.loading -= 1;
    if (kind === 'unloaded' || (kind === 'loaded' && failure !== undefined)) place.instances -= 1;
    this.setup.pools.reported(report);
    this.setup.pools.grow();
    this.setup.owner.roomMade();
  }

  run(attempt: Attempt, tag: string): boolean {
    const { threads, owner } = this.setup;
    if (!this.jobs.has(attempt.exec)) {
      owner.ended(attempt, noHandler(attempt));
      return false;
    }
    const instance = this.setup.pools.take(attempt);
    // The caller has looked for room.
    const place =
      instance === undefined ? (this.placeFor(attempt) as ThreadPlace) : this.place(instance.place);
    this.lastCall += 1;
    const id = this.lastCall;
    place.isShared = this.mayShare(attempt);
    place.calls.set(id, attempt);
    this.calls.set(attempt, { place, id });
    const assignment = attempt.takeAssignment();
    threads.call(place.number, { id, tag, assignment, instance: instance?.id });
    this.follow(attempt, place.number, id);
    return true;
  }

  /** The handler has a grace to react to its signal. */
  aborted(attempt: Attempt): void {
    const call = this.calls.get(attempt);
    if (call === undefined || attempt.aborted === undefined) return;
    const { threads, timers, graceMs } = this.setup;
    const { place, id } = call;
    threads.abort(place.number, { id, reason: attempt.aborted, detail: attempt.abortDetail });
    timers.setTimer(graceMs, () => {
      if (this.calls.get(attempt) === call) this.endThread(place);
    });
  }

  threadUp({ thread, jobs, runners }: ThreadUp): void {
    const place = this.place(thread);
    place.stage = 'up';
    const { owner, pools } = this.setup;
    if (this.execs === undefined) {
      for (const job of jobs) this.jobs.set(job.exec, job);
      this.execs = jobs.map(({ group, exec }) => `${group}/${exec}`);
      pools.use(this, runners);
      owner.jobsKnown();
    }
    pools.grow();
    for (const attempt of place.lost.splice(0)) owner.slotFreed(attempt);
    owner.roomMade();
  }

  handlerEnded({ thread, id, end }: HandlerEnded): void {
    const place = this.place(thread);
    const attempt = place.calls.get(id);
    if (attempt === undefined) return;
    place.calls.delete(id);
    place.failures = 0;
    this.calls.delete(attempt);
    this.suspects.delete(attempt.job);
    const stream = this.streams.get(attempt);
    if (stream === undefined) this.setup.owner.ended(attempt, end);
    else stream.finish(end);
    this.setup.pools.grow();
    this.setup.owner.roomMade();
  }

  handlerChunks(chunks: HandlerChunks): void {
    const attempt = this.attemptOf(chunks);
    if (attempt !== undefined) this.streams.get(attempt)?.take(chunks);
  }

  handlerProgress({ progress, ...call }: HandlerProgress): void {
    this.attemptOf(call)?.mergeProgress(progress);
  }

  handlerFeed({ request, ...call }: HandlerFeedState): void {
    this.attemptOf(call)?.feed?.follow(request);
  }

  handlerSilence({ isCounted, ...call }: HandlerSilence): void {
    const attempt = this.attemptOf(call);
    if (isCounted) attempt?.startSilence();
    else attempt?.stopSilence();
  }

  private attemptOf({ thread, id }: { readonly thread: number; readonly id: number }): Attempt | undefined {
    return this.place(thread).calls.get(id);
  }

  /** Chunks and items of its feed pass this worker. */
  private follow(attempt: Attempt, thread: number, id: number): void {
    const { threads, owner } = this.setup;
    const { stream, feed } = attempt;
    if (feed !== undefined) feed.forward = (fed) => threads.feed(thread, { id, fed });
    if (stream === undefined) return;
    const followed = new ThreadStream(stream, id, {
      open: (window) => threads.openWindow(thread, window),
      ended: (end) => {
        this.streams.delete(attempt);
        owner.ended(attempt, end);
      },
    });
    this.streams.set(attempt, followed);
  }

  threadEnded({ thread, failure }: ThreadEnded): void {
    const place = this.place(thread);
    const wasEnded = place.stage === 'ending';
    const attempts = [...place.calls.values()];
    place.stage = 'starting';
    place.calls.clear();
    place.loading = 0;
    place.instances = 0;
    this.setup.pools.lost(thread);
    for (const attempt of attempts) {
      this.calls.delete(attempt);
      this.streams.delete(attempt);
      if (attempt.stream !== undefined) attempt.stream.onChange = undefined;
      place.lost.push(attempt);
      if (attempt.isOver) continue;
      const isBlamed = !wasEnded && attempts.length === 1;
      if (!wasEnded && !isBlamed) this.suspects.add(attempt.job);
      this.setup.owner.lost(attempt, isBlamed ? failed(attempt, 'failed', failure) : released(attempt));
    }
    this.replace(place, attempts.length > 0);
  }

  /** A thread that ended without a handler on it would end again: the next one waits. */
  private replace(place: ThreadPlace, hadHandlers: boolean): void {
    const { threads, timers } = this.setup;
    if (hadHandlers) return threads.start(place.number);
    place.failures += 1;
    const waitMs = Math.min(RESTART_MS_MAX, 50 * 2 ** place.failures);
    timers.setTimer(waitMs, () => threads.start(place.number));
  }

  private endThread(place: ThreadPlace): void {
    if (place.stage !== 'up') return;
    place.stage = 'ending';
    this.setup.threads.end(place.number);
  }

  /** An empty thread first; then the shared one with the fewest handlers. */
  private placeFor(attempt: Attempt): ThreadPlace | undefined {
    const empty = this.emptyPlace();
    if (empty !== undefined) return empty;
    const shares = this.mayShare(attempt);
    let best: ThreadPlace | undefined;
    for (const place of this.places) {
      if (place.stage !== 'up' || place.loading > 0) continue;
      const { size } = place.calls;
      if (!shares || size === 0 || !place.isShared || hasOver(place)) continue;
      if (best === undefined || size < best.calls.size) best = place;
    }
    return best;
  }

  /** One without instances first: attempts that need these have no other thread. */
  private emptyPlace(): ThreadPlace | undefined {
    let best: ThreadPlace | undefined;
    for (const place of this.places)
      if (isEmpty(place) && (best === undefined || place.instances < best.instances)) best = place;
    return best;
  }

  private mayShare({ exec, job }: Attempt): boolean {
    return this.jobs.get(exec)?.sharesThread === true && !this.suspects.has(job);
  }

  private place(thread: number): ThreadPlace {
    return this.places[thread] as ThreadPlace; // reports name threads that were started
  }
}

/** Its thread may be ended soon: no other attempt should go with it. */
function hasOver({ calls }: ThreadPlace): boolean {
  for (const attempt of calls.values()) if (attempt.isOver) return true;
  return false;
}

function isEmpty({ stage, calls, loading }: ThreadPlace): boolean {
  return stage === 'up' && calls.size === 0 && loading === 0;
}

/** Its fields alone: an instance of a pool has timers. */
function dataOf({ id, runner, place }: RunnerInstance): RunnerInstance {
  return { id, runner, place };
}
