import type { JobsTimer, JobsTimers } from '../../jobs-host.js';
import type { RunnerUse } from '../../protocol/worker/worker-messages.js';
import type { Attempt } from '../attempt/attempt.js';
import { RunnerCredit } from './runner-credit.js';
import type { RunnerPlan } from './runner-plan.js';
import type { RunnerFailure, RunnerInstance, RunnerPort, RunnerReport } from './runner-port.js';

/** A check without an answer for so long counts as failed. */
const CHECK_MS_MAX = 5_000;
/** An instance whose `unload` takes longer counts as gone. */
const UNLOAD_MS_MAX = 10_000;
const RELOAD_MS_MAX = 30_000;

export interface RunnerPoolSetup {
  readonly plan: RunnerPlan;
  readonly port: RunnerPort;
  readonly timers: JobsTimers;
  /** Numbers the instances of a worker. */
  readonly nextId: () => number;
  /** An attempt that waits may be ready. */
  readonly onReady: () => void;
  /** Its use has changed. */
  readonly onChange: () => void;
  /** Its last instance is gone. */
  readonly onEmpty: () => void;
  /** An instance could not be loaded for this attempt. */
  readonly onLoadFailed: (attempt: Attempt, failure: RunnerFailure) => void;
}

type Stage = 'loading' | 'idle' | 'held' | 'checking' | 'unloading';

class Instance implements RunnerInstance {
  readonly id: number;
  readonly runner: string;
  readonly place: number;
  stage: Stage = 'loading';
  since: number;
  runs = 0;
  /** It is recycled when its attempt has ended. */
  isStale = false;
  timer: JobsTimer | undefined = undefined;

  constructor(id: number, runner: string, place: number, now: number) {
    this.id = id;
    this.runner = runner;
    this.place = place;
    this.since = now;
  }

  enter(stage: Stage, now: number): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.stage = stage;
    this.since = now;
  }
}

/**
 * The instances of one warm runner without their values: which is loaded, held, checked or recycled, and
 * which attempts wait for one. An instance is held from the beginning of a handler to its end, whatever
 * became of the attempt, so a stream keeps it until its generator has returned (ADR 0422).
 */
export class RunnerPool {
  plan: RunnerPlan;
  readonly credit: RunnerCredit;
  private readonly setup: RunnerPoolSetup;
  private readonly instances = new Map<number, Instance>();
  /** In the order of their arrival. */
  private readonly waiting = new Set<Attempt>();
  private isClosed = false;
  private checkTimer: JobsTimer | undefined = undefined;
  private reloadTimer: JobsTimer | undefined = undefined;
  /** Loads that failed since the last that did not. */
  private failedLoads = 0;
  private readonly counts = { loads: 0, loadFailures: 0, recycled: 0, runs: 0 };

  constructor(setup: RunnerPoolSetup) {
    this.setup = setup;
    this.plan = setup.plan;
    this.credit = new RunnerCredit(setup.plan.size);
  }

  get use(): RunnerUse {
    const stages = { loading: 0, idle: 0, held: 0, checking: 0, unloading: 0 };
    for (const { stage } of this.instances.values()) stages[stage] += 1;
    const { runner, size } = this.plan;
    const { loading, idle, held, checking } = stages;
    const granted = this.credit.granted;
    const waiting = this.waiting.size;
    return { runner, size, granted, loading, idle: idle + checking, held, waiting, ...this.counts };
  }

  /** No instance is left. */
  get isEmpty(): boolean {
    return this.instances.size === 0;
  }

  /** An attempt that waits for nothing else could begin. */
  get isReady(): boolean {
    return this.waiting.size === 0 && this.available() !== undefined;
  }

  /** Loads what is wanted and has a place. */
  grow(): void {
    while (this.mayLoad()) {
      const place = this.setup.port.placeToLoad();
      if (place === undefined) return;
      const { nextId, timers, port, onChange } = this.setup;
      const instance = new Instance(nextId(), this.plan.runner, place, timers.now());
      this.instances.set(instance.id, instance);
      onChange();
      port.load(instance);
    }
  }

  wait(attempt: Attempt): void {
    this.waiting.add(attempt);
    this.setup.onChange();
    this.grow();
  }

  stopWaiting(attempt: Attempt): void {
    if (this.waiting.delete(attempt)) this.setup.onChange();
  }

  get waitingAttempts(): readonly Attempt[] {
    return [...this.waiting];
  }

  /** The first attempt that waits, if there is an instance for it. */
  firstReady(): Attempt | undefined {
    if (this.waiting.size === 0 || this.available() === undefined) return undefined;
    const [first] = this.waiting;
    return first;
  }

  /** The attempt begins: it holds an instance until `release`. */
  take(attempt: Attempt): RunnerInstance {
    const instance = this.available() as Instance; // the caller has looked
    this.waiting.delete(attempt);
    instance.enter('held', this.setup.timers.now());
    instance.runs += 1;
    this.counts.runs += 1;
    this.setup.onChange();
    return instance;
  }

  /** The handler has ended. `isError`: its state may be damaged. */
  release(id: number, { isError }: { readonly isError: boolean }): void {
    const instance = this.instances.get(id);
    if (instance === undefined) return; // lost with its thread
    const { runsMax, keepAfterError } = this.plan;
    const isWorn = instance.runs >= runsMax || (isError && !keepAfterError);
    if (instance.isStale || isWorn || this.isClosed) this.recycle(instance);
    else this.rest(instance);
  }

  reported({ kind, instance: id, failure }: RunnerReport): void {
    const instance = this.instances.get(id);
    if (instance === undefined) return;
    if (kind === 'loaded' && instance.stage === 'loading') this.loaded(instance, failure);
    else if (kind === 'checked' && instance.stage === 'checking') this.checked(instance, failure);
    else if (kind === 'unloaded') this.unloaded(instance);
  }

  /** The thread of an instance has ended. */
  lost(place: number): void {
    for (const instance of this.instances.values()) {
      if (instance.place !== place) continue;
      if (instance.stage !== 'loading' && instance.stage !== 'unloading') this.counts.recycled += 1;
      this.remove(instance);
    }
  }

  /** Instances of before are recycled: idle ones now, others when their attempt has ended. */
  replace(plan: RunnerPlan): void {
    this.plan = plan;
    this.credit.resize(plan.size);
    this.failedLoads = 0;
    this.recycleAll();
    this.grow();
  }

  /** Nothing more begins, and every instance is unloaded once it is not held. */
  close(): void {
    this.isClosed = true;
    this.credit.close();
    this.checkTimer?.cancel();
    this.reloadTimer?.cancel();
    this.recycleAll();
  }

  private mayLoad(): boolean {
    if (this.isClosed || this.reloadTimer !== undefined) return false;
    if (this.instances.size >= this.plan.size) return false;
    if (this.plan.warm) return true;
    let coming = 0;
    for (const instance of this.instances.values()) if (this.isComing(instance)) coming += 1;
    return this.waiting.size > coming;
  }

  /** It will serve an attempt that waits now. */
  private isComing({ stage, place, isStale }: Instance): boolean {
    if (stage === 'idle') return this.setup.port.isFree(place);
    return (stage === 'loading' || stage === 'checking') && !isStale;
  }

  /** The one used last: its caches are the warmest. */
  private available(): Instance | undefined {
    let latest: Instance | undefined;
    for (const instance of this.instances.values()) {
      if (instance.stage !== 'idle' || !this.setup.port.isFree(instance.place)) continue;
      if (latest === undefined || instance.since >= latest.since) latest = instance;
    }
    return latest;
  }

  private loaded(instance: Instance, failure: RunnerFailure | undefined): void {
    if (failure !== undefined) return this.loadFailed(instance, failure);
    this.failedLoads = 0;
    this.counts.loads += 1;
    if (instance.isStale || this.isClosed) this.recycle(instance);
    else this.rest(instance);
  }

  /** The first attempt that waits fails with it; the next load waits. */
  private loadFailed(instance: Instance, failure: RunnerFailure): void {
    const { timers, onLoadFailed } = this.setup;
    this.failedLoads += 1;
    this.counts.loadFailures += 1;
    this.remove(instance);
    const waitMs = Math.min(RELOAD_MS_MAX, 50 * 2 ** this.failedLoads);
    this.reloadTimer?.cancel();
    this.reloadTimer = this.isClosed ? undefined : timers.setTimer(waitMs, () => this.reload());
    const [first] = this.waiting;
    if (first === undefined) return;
    this.waiting.delete(first);
    onLoadFailed(first, failure);
  }

  private reload(): void {
    this.reloadTimer = undefined;
    this.grow();
  }

  private checked(instance: Instance, failure: RunnerFailure | undefined): void {
    if (failure !== undefined || instance.isStale) this.recycle(instance);
    else this.rest(instance);
  }

  private unloaded(instance: Instance): void {
    this.remove(instance);
    this.grow();
  }

  private remove(instance: Instance): void {
    instance.timer?.cancel();
    this.instances.delete(instance.id);
    this.setup.onChange();
    if (this.isEmpty) this.setup.onEmpty();
  }

  private rest(instance: Instance): void {
    instance.enter('idle', this.setup.timers.now());
    this.checkLater();
    this.setup.onChange();
    this.setup.onReady();
  }

  /** Another is loaded when this one is gone: two would need twice the memory. */
  private recycle(instance: Instance): void {
    const { timers, port, onChange } = this.setup;
    this.counts.recycled += 1;
    instance.enter('unloading', timers.now());
    instance.timer = timers.setTimer(UNLOAD_MS_MAX, () => this.unloaded(instance));
    onChange();
    port.unload(instance);
  }

  private recycleAll(): void {
    for (const instance of this.instances.values()) {
      if (instance.stage === 'idle') this.recycle(instance);
      else instance.isStale = true;
    }
  }

  private checkLater(): void {
    const { checkMs } = this.plan;
    if (checkMs === Number.POSITIVE_INFINITY || this.checkTimer !== undefined || this.isClosed) return;
    this.checkTimer = this.setup.timers.setTimer(checkMs, () => {
      this.checkTimer = undefined;
      this.checkIdle();
    });
  }

  private checkIdle(): void {
    const { timers, port } = this.setup;
    const now = timers.now();
    let hasIdle = false;
    for (const instance of this.instances.values()) {
      if (instance.stage !== 'idle') continue;
      hasIdle = true;
      // A handler that blocks the thread would look like a failed check.
      if (instance.since + this.plan.checkMs > now || !port.isFree(instance.place)) continue;
      instance.enter('checking', now);
      instance.timer = timers.setTimer(CHECK_MS_MAX, () => this.recycle(instance));
      port.check(instance);
    }
    if (hasIdle) this.checkLater();
  }
}
