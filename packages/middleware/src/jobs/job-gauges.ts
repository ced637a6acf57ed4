import type { Attributes, BatchObservableResult, Meter, ObservableGauge } from '@opentelemetry/api';
import type { LeaderOverview, LeaderOverviewSource, RunnerUse } from './leader-overview.js';

/** Gauges of a leader's fill levels, read whenever metrics are collected. */
export class JobGauges {
  private readonly meter: Meter;
  private readonly queue: ObservableGauge;
  private readonly depth: ObservableGauge;
  private readonly oldest: ObservableGauge;
  private readonly waiting: ObservableGauge;
  private readonly delayed: ObservableGauge;
  private readonly credit: ObservableGauge;
  private readonly slots: ObservableGauge;
  private readonly leases: ObservableGauge;
  private readonly unserved: ObservableGauge;
  private readonly workers: ObservableGauge;
  private readonly bytes: ObservableGauge;
  private readonly keys: ObservableGauge;
  private readonly snapshotAge: ObservableGauge;
  private readonly overrun: ObservableGauge;
  private readonly refusing: ObservableGauge;
  private readonly logBytes: ObservableGauge;
  private readonly replay: ObservableGauge;
  private readonly cutBytes: ObservableGauge;
  private readonly failedSnapshots: ObservableGauge;
  private readonly runnerInstances: ObservableGauge;
  private readonly runnerWaiting: ObservableGauge;
  private readonly runnerJobs: ObservableGauge;
  private readonly tableUsed: ObservableGauge;
  private readonly tableMax: ObservableGauge;

  constructor(meter: Meter) {
    const gauge = (name: string, unit: string, description: string): ObservableGauge =>
      meter.createObservableGauge(name, { unit, description });
    this.meter = meter;
    this.queue = gauge('troupe.jobs.queue.length', '{job}', 'Jobs by state.');
    this.depth = gauge('troupe.jobs.exec.depth', '{job}', 'Jobs of a definition, by state.');
    this.oldest = gauge('troupe.jobs.exec.oldest', 's', 'Wait of the oldest due job of a definition.');
    this.waiting = gauge('troupe.jobs.exec.queued', '{job}', 'Jobs of a definition that wait, by priority.');
    this.unserved = gauge(
      'troupe.jobs.exec.unserved',
      '{job}',
      'Jobs of a definition that no connected worker may take.',
    );
    this.delayed = gauge('troupe.jobs.delayed', '{job}', 'Jobs that are not due yet.');
    this.credit = gauge('troupe.jobs.credit', '{job}', 'Jobs that workers can take now.');
    this.slots = gauge('troupe.jobs.slots', '{job}', 'Jobs that workers can run at once.');
    this.leases = gauge('troupe.jobs.leases', '{lease}', 'Attempts that a worker holds.');
    this.workers = gauge('troupe.jobs.workers', '{worker}', 'Workers by liveness.');
    this.bytes = gauge('troupe.jobs.live_bytes', 'By', 'Payload bytes of waiting and running jobs.');
    this.keys = gauge('troupe.jobs.keys', '{key}', 'Idempotency keys remembered.');
    this.snapshotAge = gauge(
      'troupe.jobs.snapshot.age',
      's',
      'Time since the last snapshot, or since the start.',
    );
    this.overrun = gauge(
      'troupe.jobs.overrun',
      '{handler}',
      'Handlers that run although their attempt ended.',
    );
    this.refusing = gauge(
      'troupe.jobs.refusing',
      '{reason}',
      'Reasons why submits are refused now, by code.',
    );
    this.logBytes = gauge('troupe.jobs.log.bytes', 'By', 'Bytes of the sealed segments of the log.');
    this.replay = gauge('troupe.jobs.log.replay', 's', 'Time that the last start took to read the log.');
    this.cutBytes = gauge('troupe.jobs.log.cut_bytes', 'By', 'Bytes that the last start cut from the log.');
    this.failedSnapshots = gauge(
      'troupe.jobs.snapshot.failed',
      '{snapshot}',
      'Snapshots that failed since the last one that was made.',
    );
    this.runnerInstances = gauge(
      'troupe.jobs.runner.instances',
      '{instance}',
      'Instances of warm runners, by runner and stage.',
    );
    this.runnerWaiting = gauge(
      'troupe.jobs.runner.waiting',
      '{attempt}',
      'Attempts that wait for a warm runner at their worker, by runner.',
    );
    this.runnerJobs = gauge(
      'troupe.jobs.runner.queued',
      '{job}',
      'Jobs that wait in the leader for a warm runner, by runner.',
    );
    this.tableUsed = gauge('troupe.jobs.table.used', '1', 'Use of the bounded tables, by table.');
    this.tableMax = gauge('troupe.jobs.table.max', '1', 'Limits of the bounded tables, by table.');
  }

  /** Returns the function that detaches it. */
  observeLeader(source: LeaderOverviewSource, labels: Attributes, snapshotAgeMs: () => number): () => void {
    const { queue, delayed, credit, slots, leases, workers, bytes, keys, snapshotAge } = this;
    const { overrun, refusing, logBytes, replay, cutBytes, failedSnapshots, tableUsed, tableMax } = this;
    const { runnerInstances, runnerWaiting, runnerJobs } = this;
    const all = [queue, delayed, credit, slots, leases, workers, bytes, keys, snapshotAge];
    all.push(overrun, refusing, logBytes, replay, cutBytes, failedSnapshots, tableUsed, tableMax);
    all.push(
      runnerInstances,
      runnerWaiting,
      runnerJobs,
      this.depth,
      this.oldest,
      this.waiting,
      this.unserved,
    );
    const callback = async (result: BatchObservableResult): Promise<void> => {
      result.observe(snapshotAge, snapshotAgeMs() / 1_000, labels);
      const overview = await source.overview().catch(() => undefined);
      // A leader that is stopping has no overview; the other metrics are still collected.
      if (overview !== undefined) this.observe(result, overview, labels);
    };
    this.meter.addBatchObservableCallback(callback, all);
    return () => this.meter.removeBatchObservableCallback(callback, all);
  }

  private observeLog(result: BatchObservableResult, overview: LeaderOverview, labels: Attributes): void {
    const { log, refusing = [] } = overview;
    // A series that is always there shows that nothing is refused.
    if (refusing.length === 0) result.observe(this.refusing, 0, labels);
    for (const { code } of refusing)
      result.observe(this.refusing, 1, { ...labels, 'troupe.jobs.code': code });
    if (log === undefined) return;
    result.observe(this.logBytes, log.bytes, labels);
    result.observe(this.replay, log.replayMs / 1_000, labels);
    result.observe(this.cutBytes, log.cutBytes, labels);
    result.observe(this.failedSnapshots, log.failedSnapshots, labels);
  }

  private observeRunners(
    result: BatchObservableResult,
    { workers, runnerWaits = [] }: LeaderOverview,
    labels: Attributes,
  ): void {
    const queued = new Map(runnerWaits.map(({ runner, jobs }) => [runner, jobs]));
    const uses = workers.flatMap(({ runners = [] }) => runners);
    for (const runner of new Set(uses.map((use) => use.runner))) {
      const own = uses.filter((use) => use.runner === runner);
      const named = { ...labels, 'troupe.jobs.runner': runner };
      const sum = (of: (use: RunnerUse) => number): number => own.reduce((total, use) => total + of(use), 0);
      for (const stage of ['loading', 'idle', 'held'] as const) {
        const count = sum((use) => use[stage]);
        result.observe(this.runnerInstances, count, { ...named, 'troupe.jobs.stage': stage });
      }
      result.observe(
        this.runnerWaiting,
        sum(({ waiting }) => waiting),
        named,
      );
      result.observe(this.runnerJobs, queued.get(runner) ?? 0, named);
    }
  }

  /** A leader names the deepest ones, so the number of series is bounded. */
  private observeDepths(
    result: BatchObservableResult,
    { execs = [] }: LeaderOverview,
    labels: Attributes,
  ): void {
    for (const { exec, queued, running, oldestMs, unserved = 0, queuedByPriority = {} } of execs) {
      const named = { ...labels, 'troupe.jobs.exec': exec };
      result.observe(this.depth, queued, { ...named, 'troupe.jobs.state': 'queued' });
      result.observe(this.depth, running, { ...named, 'troupe.jobs.state': 'running' });
      result.observe(this.oldest, oldestMs / 1_000, named);
      result.observe(this.unserved, unserved, named);
      for (const [priority, jobs] of Object.entries(queuedByPriority))
        result.observe(this.waiting, jobs, { ...named, 'troupe.jobs.priority': priority });
    }
  }

  private observe(result: BatchObservableResult, overview: LeaderOverview, labels: Attributes): void {
    for (const [state, count] of Object.entries(overview.counts)) {
      result.observe(this.queue, count, { ...labels, 'troupe.jobs.state': state });
    }
    const { workers } = overview;
    const sum = (of: (worker: LeaderOverview['workers'][number]) => number): number =>
      workers.reduce((total, worker) => total + of(worker), 0);
    result.observe(this.delayed, overview.delayed, labels);
    result.observe(
      this.credit,
      sum(({ credit }) => credit),
      labels,
    );
    result.observe(
      this.slots,
      sum(({ slots }) => slots),
      labels,
    );
    result.observe(
      this.leases,
      sum(({ running }) => running),
      labels,
    );
    result.observe(this.bytes, overview.liveBytes, labels);
    result.observe(this.keys, overview.keys, labels);
    result.observe(
      this.overrun,
      sum((worker) => worker.overrun ?? 0),
      labels,
    );
    this.observeLog(result, overview, labels);
    this.observeRunners(result, overview, labels);
    this.observeDepths(result, overview, labels);
    for (const [table, { used, max }] of Object.entries(overview.tables ?? {})) {
      result.observe(this.tableUsed, used, { ...labels, 'troupe.jobs.table': table });
      result.observe(this.tableMax, max, { ...labels, 'troupe.jobs.table': table });
    }
    for (const liveness of new Set(workers.map((worker) => worker.liveness))) {
      const count = workers.filter((worker) => worker.liveness === liveness).length;
      result.observe(this.workers, count, { ...labels, 'troupe.jobs.liveness': liveness });
    }
  }
}
