import type { JobsTimers } from '../../jobs-host.js';
import type { RunnerOffer, RunnerUse } from '../../protocol/worker/worker-messages.js';
import type { Attempt } from '../attempt/attempt.js';
import type { RunnerPlan } from './runner-plan.js';
import { RunnerPool } from './runner-pool.js';
import type { RunnerFailure, RunnerInstance, RunnerPort, RunnerReport } from './runner-port.js';

export interface RunnerPoolsSetup {
  readonly timers: JobsTimers;
  /** An attempt that waits may be ready. */
  readonly onReady: () => void;
  /** There is a change to report. */
  readonly onChange: () => void;
  readonly onLoadFailed: (attempt: Attempt, runner: string, failure: RunnerFailure) => void;
  /** The runner that it waits for is no longer here. */
  readonly onRetired: (attempt: Attempt) => void;
}

/** An attempt that waits for an instance, or holds the one of this number. */
interface Holder {
  readonly pool: RunnerPool;
  instance: number | undefined;
}

/** The warm runners of one worker. */
export class RunnerPools {
  private readonly setup: RunnerPoolsSetup;
  private port: RunnerPort | undefined = undefined;
  private readonly byName = new Map<string, RunnerPool>();
  private readonly byExec = new Map<string, RunnerPool>();
  /** Pools of runners that no handler names any more, until they are empty. */
  private readonly retired = new Set<RunnerPool>();
  private readonly changed = new Set<RunnerPool>();
  private readonly holders = new Map<Attempt, Holder>();
  private lastId = 0;
  private whenEmpty: (() => void) | undefined = undefined;

  constructor(setup: RunnerPoolsSetup) {
    this.setup = setup;
  }

  /** The runners of the present handlers. One that is named again goes on, unless it is in `replaced`. */
  use(port: RunnerPort, plans: readonly RunnerPlan[], replaced: ReadonlySet<string> = new Set()): void {
    this.port = port;
    this.byExec.clear();
    const names = new Set(plans.map(({ runner }) => runner));
    for (const [name, pool] of this.byName) if (!names.has(name)) this.retire(name, pool);
    for (const plan of plans) {
      const known = this.byName.get(plan.runner);
      const pool = known ?? this.makePool(plan);
      for (const exec of plan.execs) this.byExec.set(exec, pool);
      if (known !== undefined && replaced.has(plan.runner)) known.replace(plan);
    }
    this.grow();
  }

  get hasAny(): boolean {
    return this.byName.size > 0;
  }

  /** Another place may be free. */
  grow(): void {
    for (const pool of this.byName.values()) pool.grow();
  }

  /** Of every runner, for a new session. */
  restartCredit(): readonly RunnerOffer[] {
    this.changed.clear();
    return Array.from(this.byName.values(), (pool) => {
      pool.credit.restart();
      return { ...pool.use, execs: pool.plan.served };
    });
  }

  /** The runners that have changed since the last call; undefined: none. */
  takeChanges(): readonly RunnerUse[] | undefined {
    if (this.changed.size === 0) return undefined;
    const uses = Array.from(this.changed, (pool) => pool.use);
    this.changed.clear();
    return uses;
  }

  /** The name of the runner that the attempt waits for or holds. */
  nameOf(attempt: Attempt): string | undefined {
    return this.holders.get(attempt)?.pool.plan.runner;
  }

  /** An attempt has arrived. */
  accept(attempt: Attempt): void {
    if (this.byExec.size === 0) return;
    const pool = this.byExec.get(attempt.exec);
    if (pool === undefined) return;
    this.holders.set(attempt, { pool, instance: undefined });
    pool.credit.take();
  }

  /** Whether it could begin now; true where it needs no runner. */
  isReady(attempt: Attempt): boolean {
    return this.holders.size === 0 || (this.holders.get(attempt)?.pool.isReady ?? true);
  }

  /** False: it needs no runner. */
  wait(attempt: Attempt): boolean {
    const pool = this.holders.get(attempt)?.pool;
    pool?.wait(attempt);
    return pool !== undefined;
  }

  /** The oldest attempt that waits and can begin. */
  firstReady(): Attempt | undefined {
    if (this.holders.size === 0) return undefined;
    let first: Attempt | undefined;
    for (const pool of this.byName.values()) {
      const ready = pool.firstReady();
      if (ready !== undefined && (first === undefined || ready.since < first.since)) first = ready;
    }
    return first;
  }

  /** The attempt begins. Its instance; undefined where it needs none. */
  take(attempt: Attempt): RunnerInstance | undefined {
    const holder = this.holders.get(attempt);
    if (holder === undefined) return undefined;
    const instance = holder.pool.take(attempt);
    holder.instance = instance.id;
    return instance;
  }

  /** It holds nothing any more: its handler has ended, or it never began. */
  release(attempt: Attempt, options: { readonly isError: boolean }): void {
    if (this.holders.size === 0) return;
    const holder = this.holders.get(attempt);
    if (holder === undefined) return;
    this.holders.delete(attempt);
    const { pool, instance } = holder;
    pool.credit.release();
    if (this.byName.get(pool.plan.runner) === pool) this.changed.add(pool);
    if (instance === undefined) pool.stopWaiting(attempt);
    else pool.release(instance, options);
  }

  reported(report: RunnerReport): void {
    for (const pool of this.byName.values()) pool.reported(report);
    for (const pool of this.retired) pool.reported(report);
  }

  /** The thread of that number has ended. */
  lost(place: number): void {
    for (const pool of this.byName.values()) pool.lost(place);
    for (const pool of this.retired) pool.lost(place);
  }

  /** Unloads every instance that is not held. `closed`: none is left. */
  close(closed: () => void): void {
    this.whenEmpty = closed;
    for (const pool of this.byName.values()) pool.close();
    this.emptied();
  }

  private makePool(plan: RunnerPlan): RunnerPool {
    const { timers, onReady, onChange, onLoadFailed } = this.setup;
    const pool: RunnerPool = new RunnerPool({
      plan,
      port: this.port as RunnerPort, // set by `use`
      timers,
      nextId: () => {
        this.lastId += 1;
        return this.lastId;
      },
      onReady,
      onChange: () => {
        if (this.byName.get(plan.runner) !== pool) return;
        this.changed.add(pool);
        onChange();
      },
      onEmpty: () => this.emptied(),
      onLoadFailed: (attempt, failure) => onLoadFailed(attempt, plan.runner, failure),
    });
    this.byName.set(plan.runner, pool);
    return pool;
  }

  private retire(name: string, pool: RunnerPool): void {
    this.byName.delete(name);
    this.changed.delete(pool);
    if (!pool.isEmpty) this.retired.add(pool);
    pool.close();
    for (const attempt of pool.waitingAttempts) this.setup.onRetired(attempt);
  }

  private emptied(): void {
    for (const pool of this.retired) if (pool.isEmpty) this.retired.delete(pool);
    if (this.whenEmpty === undefined || this.retired.size > 0) return;
    for (const pool of this.byName.values()) if (!pool.isEmpty) return;
    const { whenEmpty } = this;
    this.whenEmpty = undefined;
    whenEmpty();
  }
}
