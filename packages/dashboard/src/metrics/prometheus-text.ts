import type { LeaderOverview } from '@troupe/jobs';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number, labels?: Labels];

/** The figures of a leader in the text format of Prometheus. */
export function prometheusText(leader: LeaderOverview): string {
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
    metric('troupe_log_replay_ms', 'gauge', 'Reading time of the log at the start.', [[leader.log.replayMs]]),
    metric('troupe_log_cut_bytes', 'gauge', 'Bytes that the opening cut.', [[leader.log.cutBytes]]),
    metric('troupe_log_failed_snapshots', 'gauge', 'Snapshots that failed since the last good one.', [
      [leader.log.failedSnapshots],
    ]),
    ...logMetrics(leader),
    ...execMetrics(leader),
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
    gauge(
      'troupe_log_commit_p50_ms',
      'From a batch of records to the disk that has it: half.',
      commitMs?.p50,
    ),
    gauge('troupe_log_commit_p99_ms', 'The same, 99 of 100.', commitMs?.p99),
    gauge('troupe_clock_step_ms', 'How far the clock was set since the start.', clockStepMs),
  ];
}

function execMetrics({ execs = [] }: LeaderOverview): string[] {
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
      'troupe_exec_oldest_ms',
      'gauge',
      'How long the oldest one waits that is due.',
      of(({ oldestMs }) => oldestMs),
    ),
    metric(
      'troupe_exec_unserved',
      'gauge',
      'Jobs that wait and that no connected worker may take.',
      of(({ unserved = 0 }) => unserved),
    ),
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
      'troupe_worker_lag_ms',
      'gauge',
      'Delay of its event loop.',
      of((worker) => worker.lagMs),
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

function metric(name: string, type: 'gauge' | 'counter', help: string, samples: readonly Sample[]): string {
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
