import type { Context, MeterProvider, Span, TracerProvider } from '@opentelemetry/api';
import {
  callback,
  checkOption,
  checkOptions,
  flag,
  name,
  object,
  wholeNumber,
} from '@troupe/core/option-check';
import { NoTelemetrySdkError } from '../errors.js';
import { findRegisteredSdk, type Warn } from '../telemetry/find-registered-sdk.js';
import { ClientJobSpans, type ClientTracing } from './client-job-spans.js';
import { JobGauges } from './job-gauges.js';
import { JobLabels } from './job-labels.js';
import { JobMetrics } from './job-metrics.js';
import type { JobEvent, LogEvent } from './leader-events.js';
import { LeaderJobSpans } from './leader-job-spans.js';
import type { LeaderOverviewSource } from './leader-overview.js';
import { WorkerJobSpans, type WorkerTracing } from './worker-job-spans.js';

export interface JobTelemetryOptions {
  /** Makes the spans. Default: the registered one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the metrics. Default: the registered one. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Execs with labels of their own; the others share `_OTHER`. Default 200. */
  readonly execsMax?: number | undefined;
  /**
   * Running attempts that a leader times and traces, and waiting jobs without a trace context whose submit
   * span it remembers. Further attempts are counted only; further jobs begin a trace at their first attempt.
   * Default 10,000 each.
   */
  readonly trackedJobsMax?: number | undefined;
  /** Throws ERR_NO_TELEMETRY_SDK instead of doing nothing when no SDK is registered. Default false. */
  readonly required?: boolean | undefined;
  /** Called when a second copy of the API package hides the SDK. Default: a process warning, once. */
  readonly warn?: Warn | undefined;
}

/** Options to spread into those of a client. Empty without an SDK for traces. */
export interface ClientHooks {
  readonly tracing?: ClientTracing;
}

/** Options to spread into those of a worker. Empty without an SDK for traces. */
export interface WorkerHooks {
  readonly tracing?: WorkerTracing;
}

/** Options to spread into those of `embedded` or of a leader. Empty without an SDK. */
export interface LeaderHooks {
  readonly observe?: (event: JobEvent) => void;
}

/** Options to spread into the `wal` options of a leader. Empty without an SDK. */
export interface LogHooks {
  readonly onEvent?: (event: LogEvent) => void;
}

/** Each process uses the sides that it has; an embedded leader with workers and clients uses all. */
export interface JobTelemetry extends Disposable {
  /** For the options of a client. */
  readonly client: ClientHooks;
  /** For the options of a leader. */
  readonly leader: LeaderHooks;
  /** For the options of a worker. */
  readonly worker: WorkerHooks;
  /** For the option `wal` of a leader: its log. */
  readonly log: LogHooks;
  /** Reads the overview of this leader whenever metrics are collected. `name` is its label. */
  observeLeader(source: LeaderOverviewSource, name?: string): void;
}

const SCOPE = '@troupe/middleware';

/**
 * Metrics and traces of @troupe/jobs: from the events and the overview of one leader, the submits of clients
 * and the attempts of workers. Like `telemetry`, the call looks for a registered SDK.
 */
export function jobTelemetry(options: JobTelemetryOptions = {}): JobTelemetry {
  checkOptions('jobTelemetry', options, {
    tracerProvider: object,
    meterProvider: object,
    execsMax: wholeNumber(1),
    trackedJobsMax: wholeNumber(0),
    required: flag,
    warn: callback,
  });
  const labels = new JobLabels(options.execsMax ?? 200);
  const trackedJobsMax = options.trackedJobsMax ?? 10_000;
  const sdk = findRegisteredSdk(options.warn);
  const tracers = options.tracerProvider ?? sdk.tracers;
  const meters = options.meterProvider ?? sdk.meters;
  if (tracers === undefined && meters === undefined) {
    if (options.required === true) throw new NoTelemetrySdkError('no SDK is registered');
    return NO_TELEMETRY;
  }
  return new SdkJobTelemetry(labels, trackedJobsMax, tracers, meters);
}

const NO_TELEMETRY: JobTelemetry = {
  client: {},
  leader: {},
  worker: {},
  log: {},
  observeLeader: () => undefined,
  [Symbol.dispose]: () => undefined,
};

/** A running attempt. */
interface RunningAttempt {
  readonly since: number;
  readonly span: Span | undefined;
}

class SdkJobTelemetry implements JobTelemetry {
  readonly client: ClientHooks = {};
  readonly leader: LeaderHooks;
  readonly worker: WorkerHooks = {};
  readonly log: LogHooks;
  private readonly trackedJobsMax: number;
  private readonly spans: LeaderJobSpans | undefined = undefined;
  private readonly metrics: JobMetrics | undefined = undefined;
  private readonly gauges: JobGauges | undefined = undefined;
  /** Submit spans of jobs that have not ended, by job; the oldest jobs, as they run next. */
  private readonly submits = new Map<number, Context>();
  private readonly running = new Map<number, RunningAttempt>();
  private readonly detachAll: (() => void)[] = [];
  private snapshotAt = performance.now();

  constructor(
    labels: JobLabels,
    trackedJobsMax: number,
    tracers: TracerProvider | undefined,
    meters: MeterProvider | undefined,
  ) {
    this.trackedJobsMax = trackedJobsMax;
    if (tracers !== undefined) {
      const tracer = tracers.getTracer(SCOPE);
      this.spans = new LeaderJobSpans(tracer, labels);
      this.client = { tracing: new ClientJobSpans(tracer, labels) };
      this.worker = { tracing: new WorkerJobSpans(tracer, labels) };
    }
    if (meters !== undefined) {
      const meter = meters.getMeter(SCOPE);
      this.metrics = new JobMetrics(meter, labels);
      this.gauges = new JobGauges(meter);
    }
    this.leader = { observe: (event) => this.observe(event) };
    this.log = { onEvent: (event) => this.observeLog(event) };
  }

  observeLeader(source: LeaderOverviewSource, leader = 'leader'): void {
    const labels = { 'troupe.jobs.leader': checkOption('jobTelemetry.observeLeader.name', leader, name) };
    const ageMs = (): number => performance.now() - this.snapshotAt;
    const detach = this.gauges?.observeLeader(source, labels, ageMs);
    if (detach !== undefined) this.detachAll.push(detach);
  }

  [Symbol.dispose](): void {
    for (const detach of this.detachAll.splice(0)) detach();
    for (const { span } of this.running.values()) if (span !== undefined) this.spans?.abandoned(span);
    this.running.clear();
    this.submits.clear();
  }

  private observe(event: JobEvent): void {
    const { job } = event;
    switch (event.kind) {
      case 'accepted':
        if (job !== undefined) this.accepted(job, event);
        return this.metrics?.count(event, undefined);
      case 'assigned':
        if (job !== undefined) this.assigned(job, event);
        return this.metrics?.count(event, undefined);
      case 'completed':
      case 'dead':
      case 'cancelled':
      case 'requeued': {
        // The span of the attempt ends also where nothing is counted.
        const ranMs = job === undefined ? undefined : this.attemptEnded(job, event);
        if (job !== undefined && event.kind !== 'requeued') this.submits.delete(job);
        return this.metrics?.count(event, ranMs);
      }
      default:
        return this.metrics?.count(event, undefined);
    }
  }

  private observeLog(event: LogEvent): void {
    if (event.kind === 'snapshot-made') this.snapshotAt = performance.now();
    this.metrics?.countLog(event);
  }

  private accepted(job: number, event: JobEvent): void {
    const submit = this.spans?.accepted(event);
    if (submit !== undefined && this.submits.size < this.trackedJobsMax) this.submits.set(job, submit);
  }

  private assigned(job: number, event: JobEvent): void {
    if (this.running.size >= this.trackedJobsMax) return;
    const span = this.spans?.assigned(event, this.submits.get(job));
    this.running.set(job, { since: performance.now(), span });
  }

  /** Returns the run time of the attempt; undefined for one that was not running or is not tracked. */
  private attemptEnded(job: number, event: JobEvent): number | undefined {
    const attempt = this.running.get(job);
    if (attempt === undefined) return undefined;
    this.running.delete(job);
    if (attempt.span !== undefined) this.spans?.ended(attempt.span, event);
    return performance.now() - attempt.since;
  }
}
