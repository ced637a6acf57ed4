import type { ExecStatsView, ExecTotals, LeaderOverview, Quantiles } from '@troupe/jobs';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number, labels?: Labels];

/** The figures of a leader, and of each exec, in the text format of Prometheus. Times are in seconds. */
export function prometheusText(leader: LeaderOverview, execs: readonly ExecStatsView[]): string {
  const tables = Object.entries(leader.tables);
  return [
    metric('troupe_jobs', 'gauge', 'Jobs by state.', byLabel('state', Object.entries(leader.counts))),
    metric('troupe_jobs_delayed', 'gauge', 'Queued jobs that are not due yet.', [[leader.delayed]]),
    metric('troupe_jobs_accepted_total', 'counter', 'Jobs accepted in all.', [[leader.accepted]]),
    metric('troupe_table_used', 'gauge', 'Use of the bounded tables.', uses(tables, 'used')),
    metric('troupe_table_max', 'gauge', 'Limits of the bounded tables.', uses(tables, 'max')),
    metric('troupe_submits_refused', 'gauge', '1 for each reason why submits are refused now.', [
      ...leader.refusing.map(({ code }): Sample => [1, { code }]),
    ]),
    metric('troupe_disk_low', 'gauge', '1 while the disk has too little space.', [[leader.diskLow ? 1 : 0]]),
    metric('troupe_log_lsn', 'counter', 'The last durable record.', [[leader.lsn]]),
    metric('troupe_log_bytes', 'gauge', 'Bytes of sealed segments.', [[leader.log.bytes]]),
    metric('troupe_log_replay_seconds', 'gauge', 'Reading time of the log at the start.', [
      [leader.log.replayMs / 1_000],
    ]),
    metric('troupe_log_cut_bytes', 'gauge', 'Bytes that the opening cut.', [[leader.log.cutBytes]]),
    metric('troupe_log_failed_snapshots', 'gauge', 'Snapshots that failed since the last good one.', [
      [leader.log.failedSnapshots],
    ]),
    ...logMetrics(leader),
    ...depthMetrics(leader),
    ...execMetrics(execs),
    ...workerMetrics(leader),
  ].join('');
}

/** Figures that a leader of an earlier version does not have are left out. */
function logMetrics({ log, clockStepMs }: LeaderOverview): string[] {
  const { segments, freeBytes, commitMs } = log;
  const gauge = (name: string, help: string, value: number | undefined): string =>
    value === undefined ? '' : metric(name, 'gauge', help, [[value]]);
  return [
    gauge('troupe_log_segments', 'Segments in use.', segments),
    gauge('troupe_log_free_bytes', 'Space on the disk as it was last looked at.', freeBytes),
    commitMs === undefined
      ? ''
      : metric(
          'troupe_log_commit_seconds',
          'summary',
          'From a batch of records to the disk that has it.',
          quantiles(commitMs, {}),
        ),
    gauge(
      'troupe_clock_step_seconds',
      'How far the clock was set since the start.',
      clockStepMs === undefined ? undefined : clockStepMs / 1_000,
    ),
  ];
}

function depthMetrics({ execs = [] }: LeaderOverview): string[] {
  const of = (value: (exec: (typeof execs)[number]) => number): Sample[] =>
    execs.map((exec): Sample => [value(exec), { exec: exec.exec }]);
  return [
    metric(
      'troupe_exec_queued',
      'gauge',
      'Jobs that wait, of the deepest queues.',
      of(({ queued }) => queued),
    ),
    metric(
      'troupe_exec_running',
      'gauge',
      'Jobs that run.',
      of(({ running }) => running),
    ),
    metric(
      'troupe_exec_oldest_seconds',
      'gauge',
      'How long the oldest one waits that is due.',
      of(({ oldestMs }) => oldestMs / 1_000),
    ),
    metric(
      'troupe_exec_unserved',
      'gauge',
      'Jobs that wait and that no connected worker may take.',
      of(({ unserved = 0 }) => unserved),
    ),
  ];
}

/** Counters of the leader of now: they begin at 0 with the next one. */
function execMetrics(execs: readonly ExecStatsView[]): string[] {
  const totals = execs.flatMap(({ exec, totals: of }): [string, ExecTotals][] =>
    of === undefined ? [] : [[exec, of]],
  );
  const times = (of: (exec: ExecStatsView) => Quantiles): Sample[] =>
    execs.flatMap((one) => quantiles(of(one), { exec: one.exec }));
  return [
    metric(
      'troupe_exec_accepted_total',
      'counter',
      'Jobs accepted.',
      totals.map(([exec, { accepted }]): Sample => [accepted, { exec }]),
    ),
    metric(
      'troupe_exec_ended_total',
      'counter',
      'Jobs that ended, by outcome.',
      totals.flatMap(([exec, of]) =>
        (['done', 'dead', 'cancelled'] as const).map((outcome): Sample => [of[outcome], { exec, outcome }]),
      ),
    ),
    metric(
      'troupe_exec_failed_attempts_total',
      'counter',
      'Attempts that failed, ran out of time or lost their worker.',
      totals.map(([exec, { failed }]): Sample => [failed, { exec }]),
    ),
    metric(
      'troupe_exec_wait_seconds',
      'summary',
      'From being due to being assigned; the last five to ten minutes.',
      times(({ waitMs }) => waitMs),
    ),
    metric(
      'troupe_exec_run_seconds',
      'summary',
      'From being assigned to the end of the attempt; the last five to ten minutes.',
      times(({ runMs }) => runMs),
    ),
  ];
}

function quantiles({ p50, p99 }: Quantiles, labels: Labels): Sample[] {
  return [
    [p50 / 1_000, { ...labels, quantile: '0.5' }],
    [p99 / 1_000, { ...labels, quantile: '0.99' }],
  ];
}

function workerMetrics({ workers }: LeaderOverview): string[] {
  const of = (value: (worker: LeaderOverview['workers'][number]) => number): Sample[] =>
    workers.map((worker): Sample => [value(worker), { worker: worker.worker, liveness: worker.liveness }]);
  return [
    metric(
      'troupe_worker_running',
      'gauge',
      'Attempts of a worker.',
      of((worker) => worker.running),
    ),
    metric(
      'troupe_worker_slots',
      'gauge',
      'Attempts it runs at once.',
      of((worker) => worker.slots),
    ),
    metric(
      'troupe_worker_credit',
      'gauge',
      'Attempts it would take.',
      of((worker) => worker.credit),
    ),
    metric(
      'troupe_worker_overrun',
      'gauge',
      'Handlers beyond their end.',
      of((worker) => worker.overrun),
    ),
    metric(
      'troupe_worker_lag_seconds',
      'gauge',
      'Delay of its event loop.',
      of((worker) => worker.lagMs / 1_000),
    ),
    metric(
      'troupe_worker_cpu',
      'gauge',
      'Its share of a processor.',
      of((worker) => worker.cpu),
    ),
  ];
}

function uses(tables: [string, { used: number; max: number }][], part: 'used' | 'max'): Sample[] {
  return tables.map(([table, use]): Sample => [use[part], { table }]);
}

function byLabel(label: string, entries: [string, number][]): Sample[] {
  return entries.map(([name, value]): Sample => [value, { [label]: name }]);
}

function metric(
  name: string,
  type: 'gauge' | 'counter' | 'summary',
  help: string,
  samples: readonly Sample[],
): string {
  const lines = samples.map(([value, labels]) => `${name}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Labels | undefined): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
