import type { Counter, Histogram, Meter } from '@opentelemetry/api';
import { consumedMessages, processDuration, sentMessages } from '../telemetry/messaging-instruments.js';
import type { JobLabels } from './job-labels.js';
import type { JobEvent, LogEvent } from './leader-events.js';

/** Bucket bounds in seconds, up to a job that took a day. */
const SECONDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3_600, 86_400];
const RECORDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000];

/** Counters and histograms of jobs, from the events of a leader. */
export class JobMetrics {
  private readonly labels: JobLabels;
  private readonly sent: Counter;
  private readonly consumed: Counter;
  private readonly processed: Histogram;
  private readonly delay: Histogram;
  private readonly total: Histogram;
  private readonly retries: Counter;
  private readonly dead: Counter;
  private readonly cancelled: Counter;
  private readonly refused: Counter;
  private readonly stale: Counter;
  private readonly workers: Counter;
  private readonly durable: Histogram;
  private readonly batch: Histogram;
  private readonly snapshots: Histogram;
  private readonly slowSyncs: Counter;

  constructor(meter: Meter, labels: JobLabels) {
    const counter = (name: string, unit: string, description: string): Counter =>
      meter.createCounter(name, { unit, description });
    const seconds = (name: string, description: string): Histogram =>
      meter.createHistogram(name, {
        unit: 's',
        description,
        advice: { explicitBucketBoundaries: SECONDS },
      });
    this.labels = labels;
    this.sent = sentMessages(meter);
    this.consumed = consumedMessages(meter);
    this.processed = processDuration(meter);
    this.delay = seconds('troupe.jobs.delivery.delay', 'Time from due to assigned.');
    this.total = seconds(
      'troupe.jobs.completion.time',
      'Time from the submit of a job until its result was durable.',
    );
    this.retries = counter('troupe.jobs.retries', '{attempt}', 'Attempts that were queued again, by cause.');
    this.dead = counter('troupe.jobs.dead', '{job}', 'Jobs that are dead, by reason.');
    this.cancelled = counter('troupe.jobs.cancelled', '{job}', 'Jobs cancelled.');
    this.refused = counter('troupe.jobs.refused', '{submit}', 'Submits refused, by code.');
    this.stale = counter(
      'troupe.jobs.stale',
      '{answer}',
      'Results of workers that no longer held the lease.',
    );
    this.workers = counter('troupe.jobs.worker.changes', '{change}', 'Workers that joined, left or stalled.');
    this.durable = seconds(
      'troupe.jobs.journal.duration',
      'Time from the append of a batch until it was durable.',
    );
    this.batch = meter.createHistogram('troupe.jobs.journal.batch', {
      unit: '{record}',
      description: 'Records that became durable together.',
      advice: { explicitBucketBoundaries: RECORDS },
    });
    this.snapshots = seconds('troupe.jobs.snapshot.duration', 'Time to write a snapshot.');
    this.slowSyncs = counter('troupe.jobs.journal.slow_syncs', '{sync}', 'Slow syncs of the log.');
  }

  /** `ranMs` is the run time of the attempt that this event ends; undefined if it ends none. */
  count(event: JobEvent, ranMs: number | undefined): void {
    const { exec } = event;
    switch (event.kind) {
      case 'accepted':
        return this.sent.add(1, this.labels.of(exec));
      case 'assigned':
        this.consumed.add(1, this.labels.of(exec));
        return this.delay.record((event.waitedMs ?? 0) / 1_000, this.labels.of(exec));
      case 'completed':
        this.total.record((event.sinceSubmitMs ?? 0) / 1_000, this.labels.of(exec));
        return this.ran(ranMs, exec, undefined);
      case 'requeued':
        this.retries.add(1, this.labels.with(exec, 'troupe.jobs.cause', event.cause));
        return this.ran(ranMs, exec, event.cause);
      case 'dead':
        this.dead.add(1, this.labels.with(exec, 'troupe.jobs.reason', event.reason));
        return this.ran(ranMs, exec, event.reason);
      case 'cancelled':
        this.cancelled.add(1, this.labels.of(exec));
        return this.ran(ranMs, exec, 'cancelled');
      default:
        return this.countOther(event);
    }
  }

  private countOther(event: JobEvent): void {
    switch (event.kind) {
      case 'refused':
        return this.refused.add(1, { 'error.type': this.labels.word(event.code) });
      case 'stale':
        return this.stale.add(1);
      case 'worker':
        return this.workers.add(1, { 'troupe.jobs.liveness': this.labels.word(event.liveness) });
      case 'durable':
        this.durable.record((event.tookMs ?? 0) / 1_000);
        return this.batch.record(event.records ?? 0);
      default:
        return;
    }
  }

  countLog(event: LogEvent): void {
    if (event.kind === 'snapshot-made') this.snapshots.record((event.ms ?? 0) / 1_000);
    else if (event.kind === 'sync-slow') this.slowSyncs.add(1);
  }

  private ran(ms: number | undefined, exec: string | undefined, errorType: string | undefined): void {
    if (ms === undefined) return;
    const labels =
      errorType === undefined ? this.labels.of(exec) : this.labels.with(exec, 'error.type', errorType);
    this.processed.record(ms / 1_000, labels);
  }
}
