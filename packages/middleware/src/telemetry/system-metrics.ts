import type { Attributes, Meter, Observable, ObservableResult } from '@opentelemetry/api';
import type { ActorSystem, Middleware, RuntimeEvent, SuspendReason } from '@troupe/core';
import type { Figure, Measured } from '../figure.js';
import type { LabelSets } from './label-sets.js';
import type { Metering } from './metering.js';

/** Two readers that collect at nearly the same time see the same ratio. */
const RATIO_MS_MIN = 100;

type Watch = (observable: Observable, read: () => number, labels: Attributes) => void;

/** What is known about a system as a whole, from its statistics, its events and its other middleware. */
export class SystemMetrics {
  private readonly meter: Meter;
  private readonly labels: LabelSets;
  private readonly metering: Metering;
  private readonly now: () => number;

  constructor(meter: Meter, labels: LabelSets, metering: Metering, now: () => number) {
    this.meter = meter;
    this.labels = labels;
    this.metering = metering;
    this.now = now;
  }

  /** Returns the function that ends it. */
  attach(system: ActorSystem, middleware: readonly Middleware[]): () => void {
    const ends: (() => void)[] = [];
    const watch: Watch = (observable, read, labels) => {
      const callback = (result: ObservableResult): void => result.observe(read(), labels);
      observable.addCallback(callback);
      ends.push(() => observable.removeCallback(callback));
    };
    this.metering.isCollected = true;
    ends.push(() => {
      this.metering.flush();
      this.metering.isCollected = false;
    });
    this.watchStats(system, watch);
    this.watchExecutor(system, watch);
    for (const one of middleware) this.watchFigures((one as Partial<Measured>).figures ?? [], watch);
    ends.push(this.countEvents(system));
    return () => {
      for (const end of ends) end();
    };
  }

  private watchStats(system: ActorSystem, watch: Watch): void {
    const labels = { 'troupe.system.name': system.name };
    const gauge = (name: string, unit: string, description: string, read: () => number): void =>
      watch(this.meter.createObservableGauge(name, { unit, description }), read, labels);
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

  private watchExecutor(system: ActorSystem, watch: Watch): void {
    const labels = { 'troupe.system.name': system.name };
    const time = { unit: 's', description: 'Time that actors of this telemetry have run.' };
    watch(
      this.meter.createObservableCounter('troupe.executor.busy_time', time),
      () => {
        // Observers are asked before counters are read.
        this.metering.flush();
        return this.metering.busySeconds;
      },
      labels,
    );
    const share = { unit: '1', description: 'Share of the time since the last collection that actors ran.' };
    let at = this.now();
    let busy = this.metering.busySeconds;
    let ratio = 0;
    const read = (): number => {
      const now = this.now();
      if (now - at >= RATIO_MS_MIN) {
        ratio = Math.min(1, ((this.metering.busySeconds - busy) * 1_000) / (now - at));
        at = now;
        busy = this.metering.busySeconds;
      }
      return ratio;
    };
    watch(this.meter.createObservableGauge('troupe.executor.busy_ratio', share), read, labels);
  }

  private watchFigures(figures: readonly Figure[], watch: Watch): void {
    for (const { name, kind, unit, about, labels, read } of figures) {
      const options = { unit, description: about };
      const observable =
        kind === 'counter'
          ? this.meter.createObservableCounter(name, options)
          : this.meter.createObservableGauge(name, options);
      watch(observable, read, labels);
    }
  }

  private countEvents(system: ActorSystem): () => void {
    const counter = (name: string, unit: string, description: string) =>
      this.meter.createCounter(name, { unit, description });
    const deadLetters = counter('troupe.dead_letters', '{message}', 'Messages that reached no handler.');
    const suspensions = counter('troupe.suspensions', '{suspension}', 'Times that an actor was suspended.');
    const failures = counter('troupe.failures', '{failure}', 'Failures, by what the supervisor decided.');
    const restarts = counter('troupe.restarts', '{restart}', 'Actors restarted.');
    const name = { 'troupe.system.name': system.name };
    return system.subscribe((event: RuntimeEvent) => {
      if (event.kind === 'dead-letter') deadLetters.add(1, { ...name, reason: event.letter.reason });
      else if (event.kind === 'suspended')
        suspensions.add(1, { ...name, reason: boundedReason(event.reason) });
      else if (event.kind === 'restarted') restarts.add(1, name);
      else if (event.kind === 'failed') {
        const type = this.labels.errorType(event.error);
        failures.add(1, { ...name, 'error.type': type, directive: boundedDirective(event.directive) });
      }
    });
  }
}

/** A user's reason is a text of the user: not a label. */
function boundedReason(reason: SuspendReason): string {
  return typeof reason === 'string' ? reason : 'user';
}

/** `escalate (why)` and `ignored: why` carry a text behind the word. */
function boundedDirective(directive: string): string {
  return /^[a-z]+/.exec(directive)?.[0] ?? 'unknown';
}
