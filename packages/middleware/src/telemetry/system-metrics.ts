import type { Attributes, Meter, Observable, ObservableResult } from '@opentelemetry/api';
import type { ActorSystem, Middleware, RuntimeEvent, SuspendReason } from '@troupe/core';
import type { Metric, MetricSource } from '../metric.js';
import type { MessageMetrics } from './message-metrics.js';
import type { MetricLabels } from './metric-labels.js';

/** Two readers that collect at nearly the same time see the same ratio. */
const RATIO_MS_MIN = 100;

type Observe = (observable: Observable, read: () => number, labels: Attributes) => void;

/** Metrics of a whole system: its statistics, its events and the metrics of its other middleware. */
export class SystemMetrics {
  private readonly meter: Meter;
  private readonly labels: MetricLabels;
  private readonly messages: MessageMetrics;
  private readonly now: () => number;

  constructor(meter: Meter, labels: MetricLabels, messages: MessageMetrics, now: () => number) {
    this.meter = meter;
    this.labels = labels;
    this.messages = messages;
    this.now = now;
  }

  observe(system: ActorSystem, middleware: readonly Middleware[]): Disposable {
    const detachAll: (() => void)[] = [];
    const observe: Observe = (observable, read, labels) => {
      const callback = (result: ObservableResult): void => result.observe(read(), labels);
      observable.addCallback(callback);
      detachAll.push(() => observable.removeCallback(callback));
    };
    this.messages.isCollected = true;
    detachAll.push(() => {
      this.messages.flush();
      this.messages.isCollected = false;
    });
    this.observeStats(system, observe);
    this.observeExecutor(system, observe);
    for (const one of middleware) this.observeMetrics((one as Partial<MetricSource>).metrics ?? [], observe);
    detachAll.push(this.countEvents(system));
    return {
      [Symbol.dispose]: () => {
        for (const detach of detachAll) detach();
      },
    };
  }

  private observeStats(system: ActorSystem, observe: Observe): void {
    const labels = { 'troupe.system.name': system.name };
    const gauge = (name: string, unit: string, description: string, read: () => number): void =>
      observe(this.meter.createObservableGauge(name, { unit, description }), read, labels);
    gauge(
      'troupe.mailbox.depth',
      '{message}',
      'Messages waiting in all mailboxes.',
      () => system.stats().queued,
    );
    gauge('troupe.ready_queue.depth', '{actor}', 'Actors waiting for a turn.', () => system.stats().ready);
    gauge('troupe.actors', '{actor}', 'Living actors.', () => system.stats().actors);
    gauge(
      'troupe.timers',
      '{timer}',
      'Armed timers, deadlines of asks included.',
      () => system.stats().timers,
    );
  }

  private observeExecutor(system: ActorSystem, observe: Observe): void {
    const labels = { 'troupe.system.name': system.name };
    const time = { unit: 's', description: 'Time that actors have run.' };
    observe(
      this.meter.createObservableCounter('troupe.executor.busy_time', time),
      () => {
        // The SDK calls observers before it reads counters.
        this.messages.flush();
        return this.messages.busySeconds;
      },
      labels,
    );
    const share = {
      unit: '1',
      description: 'Share of the time since the last collection in which actors ran.',
    };
    let at = this.now();
    let busy = this.messages.busySeconds;
    let ratio = 0;
    const read = (): number => {
      const now = this.now();
      if (now - at >= RATIO_MS_MIN) {
        ratio = Math.min(1, ((this.messages.busySeconds - busy) * 1_000) / (now - at));
        at = now;
        busy = this.messages.busySeconds;
      }
      return ratio;
    };
    observe(this.meter.createObservableGauge('troupe.executor.busy_ratio', share), read, labels);
  }

  private observeMetrics(metrics: readonly Metric[], observe: Observe): void {
    for (const { name, kind, unit, description, labels, read } of metrics) {
      const options = { unit, description };
      const observable =
        kind === 'counter'
          ? this.meter.createObservableCounter(name, options)
          : this.meter.createObservableGauge(name, options);
      observe(observable, read, labels);
    }
  }

  private countEvents(system: ActorSystem): () => void {
    const counter = (name: string, unit: string, description: string) =>
      this.meter.createCounter(name, { unit, description });
    const deadLetters = counter(
      'troupe.dead_letters',
      '{message}',
      'Messages that reached no handler, by reason.',
    );
    const suspensions = counter('troupe.suspensions', '{suspension}', 'Suspensions of actors, by reason.');
    const failures = counter('troupe.failures', '{failure}', 'Failures, by error type and directive.');
    const restarts = counter('troupe.restarts', '{restart}', 'Actors restarted.');
    const name = { 'troupe.system.name': system.name };
    return system.subscribe((event: RuntimeEvent) => {
      if (event.kind === 'dead-letter') deadLetters.add(1, { ...name, reason: event.letter.reason });
      else if (event.kind === 'suspended')
        suspensions.add(1, { ...name, reason: boundedReason(event.reason) });
      else if (event.kind === 'restarted') restarts.add(1, name);
      else if (event.kind === 'failed') {
        const type = this.labels.errorType(event.error);
        failures.add(1, { ...name, 'error.type': type, directive: event.directive });
      }
    });
  }
}

/** A user's own reason is free text, not a label. */
function boundedReason(reason: SuspendReason): string {
  return typeof reason === 'string' ? reason : 'user';
}
