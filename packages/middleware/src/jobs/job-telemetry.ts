import type { Context, MeterProvider, Span, TracerProvider } from '@opentelemetry/api';
import { NoTelemetrySdkError } from '../errors.js';
import { aName, onlyKnown, whole } from '../option-check.js';
import { registeredSdk, type Warn } from '../telemetry/sdk.js';
import type { JobEvent, JobsSource, LogEvent } from './job-event.js';
import { JobGauges } from './job-gauges.js';
import { JobLabels } from './job-labels.js';
import { JobMetrics } from './job-metrics.js';
import { JobSpans } from './job-spans.js';

export interface JobTelemetryOptions {
  /** Default: what an SDK has registered. */
  readonly tracerProvider?: TracerProvider;
  /** Default: what an SDK has registered. */
  readonly meterProvider?: MeterProvider;
  /** Execs with labels of their own; the rest share `_OTHER`. Default 200. */
  readonly execsMax?: number;
  /**
   * Attempts timed and traced at a time, and waiting jobs whose submit is remembered; beyond it they are counted only, or
   * begin a trace of their own. Default 10,000 each.
   */
  readonly openMax?: number;
  /** Throws ERR_NO_TELEMETRY_SDK instead of doing nothing when no SDK is registered. Default false. */
  readonly required?: boolean;
  /** Told when a second copy of the api hides the SDK. Default: a warning of the process, once. */
  readonly warn?: Warn;
}

/** What a leader is given: spread into the options of `embedded` or of a leader. Empty without an SDK. */
export interface JobHooks {
  readonly observe?: (event: JobEvent) => void;
}

/** What its log is given: spread into `wal`. Empty without an SDK. */
export interface LogHooks {
  readonly onEvent?: (event: LogEvent) => void;
}

export interface JobTelemetry extends Disposable {
  readonly hooks: JobHooks;
  readonly logHooks: LogHooks;
  /** Asks this leader how full it is whenever metrics are collected. `name` is its label. */
  watch(source: JobsSource, name?: string): void;
}

const SCOPE = '@troupe/middleware';

/**
 * Metrics and traces of @troupe/jobs, from the events of one leader and from what it says when it is asked. Like
 * `telemetry`, it looks for a registered SDK when it is called.
 */
export function jobTelemetry(options: JobTelemetryOptions = {}): JobTelemetry {
  onlyKnown('jobTelemetry', options, [
    'tracerProvider',
    'meterProvider',
    'execsMax',
    'openMax',
    'required',
    'warn',
  ]);
  const labels = new JobLabels(whole('jobTelemetry.execsMax', options.execsMax ?? 200, 1));
  const openMax = whole('jobTelemetry.openMax', options.openMax ?? 10_000, 0);
  const sdk = registeredSdk(options.warn);
  const tracers = options.tracerProvider ?? sdk.tracers;
  const meters = options.meterProvider ?? sdk.meters;
  if (tracers === undefined && meters === undefined) {
    if (options.required === true) throw new NoTelemetrySdkError('no SDK is registered');
    return { hooks: {}, logHooks: {}, watch: () => undefined, [Symbol.dispose]: () => undefined };
  }
  return new LeaderTelemetry(labels, openMax, tracers, meters);
}

/** An attempt under way. */
interface Running {
  readonly since: number;
  readonly span: Span | undefined;
}

class LeaderTelemetry implements JobTelemetry {
  readonly hooks: JobHooks;
  readonly logHooks: LogHooks;
  private readonly openMax: number;
  private readonly spans: JobSpans | undefined = undefined;
  private readonly metrics: JobMetrics | undefined = undefined;
  private readonly gauges: JobGauges | undefined = undefined;
  /** Where jobs that are not done were submitted. Those that came first, as they are the next to run. */
  private readonly origins = new Map<number, Context>();
  private readonly running = new Map<number, Running>();
  private readonly ends: (() => void)[] = [];
  private snapshotAt = performance.now();

  constructor(
    labels: JobLabels,
    openMax: number,
    tracers: TracerProvider | undefined,
    meters: MeterProvider | undefined,
  ) {
    this.openMax = openMax;
    if (tracers !== undefined) this.spans = new JobSpans(tracers.getTracer(SCOPE), labels);
    if (meters !== undefined) {
      const meter = meters.getMeter(SCOPE);
      this.metrics = new JobMetrics(meter, labels);
      this.gauges = new JobGauges(meter);
    }
    this.hooks = { observe: (event) => this.observe(event) };
    this.logHooks = { onEvent: (event) => this.observeLog(event) };
  }

  watch(source: JobsSource, name = 'leader'): void {
    const labels = { 'troupe.jobs.leader': aName('jobTelemetry.watch.name', name) };
    const ageMs = (): number => performance.now() - this.snapshotAt;
    const end = this.gauges?.watch(source, labels, ageMs);
    if (end !== undefined) this.ends.push(end);
  }

  [Symbol.dispose](): void {
    for (const end of this.ends.splice(0)) end();
    for (const { span } of this.running.values()) if (span !== undefined) this.spans?.abandoned(span);
    this.running.clear();
    this.origins.clear();
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
      case 'requeued':
        this.metrics?.count(event, job === undefined ? undefined : this.attemptEnded(job, event));
        if (job !== undefined && event.kind !== 'requeued') this.origins.delete(job);
        return;
      default:
        return this.metrics?.count(event, undefined);
    }
  }

  private observeLog(event: LogEvent): void {
    if (event.kind === 'snapshot-made') this.snapshotAt = performance.now();
    this.metrics?.countLog(event);
  }

  private accepted(job: number, event: JobEvent): void {
    const origin = this.spans?.accepted(event);
    if (origin !== undefined && this.origins.size < this.openMax) this.origins.set(job, origin);
  }

  private assigned(job: number, event: JobEvent): void {
    if (this.running.size >= this.openMax) return;
    const span = this.spans?.assigned(event, this.origins.get(job));
    this.running.set(job, { since: performance.now(), span });
  }

  /** How long the attempt took; undefined for one that was not under way, or not followed. */
  private attemptEnded(job: number, event: JobEvent): number | undefined {
    const attempt = this.running.get(job);
    if (attempt === undefined) return undefined;
    this.running.delete(job);
    if (attempt.span !== undefined) this.spans?.ended(attempt.span, event);
    return performance.now() - attempt.since;
  }
}
