import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { InvokeResult, MessageView, Outcome, SendView, TurnView } from '@troupe/core';
import type { LabelSets } from './label-sets.js';
import type { Trail } from './trail.js';

/** Seconds. Finer below than the conventions propose: most handlers take microseconds. */
const SECONDS = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const COUNTS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000];

/** What is counted and timed per message and turn. */
export class Metering {
  /** Seconds that actors have run, for the busy ratio. */
  busySeconds = 0;
  private readonly labels: LabelSets;
  private readonly sentTotal: Counter;
  private readonly consumedTotal: Counter;
  private readonly processSeconds: Histogram;
  private readonly waitSeconds: Histogram;
  private readonly turnSeconds: Histogram;
  private readonly backlog: Histogram;
  private readonly failedLabels = new WeakMap<Attributes, Map<string, Attributes>>();

  constructor(meter: Meter, labels: LabelSets) {
    this.labels = labels;
    this.sentTotal = meter.createCounter('messaging.client.sent.messages', {
      unit: '{message}',
      description: 'Messages put into a mailbox.',
    });
    this.consumedTotal = meter.createCounter('messaging.client.consumed.messages', {
      unit: '{message}',
      description: 'Messages taken from a mailbox for good: handled, failed or refused.',
    });
    this.processSeconds = meter.createHistogram('messaging.process.duration', {
      unit: 's',
      description: 'From the start of a handler until it has returned or settled.',
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.waitSeconds = meter.createHistogram('troupe.scheduler.latency', {
      unit: 's',
      description: 'From a mailbox taking a message until the actor first looked at it.',
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.turnSeconds = meter.createHistogram('troupe.turn.duration', {
      unit: 's',
      description: 'One turn of an actor, by how it ended.',
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.backlog = meter.createHistogram('troupe.mailbox.backlog', {
      unit: '{message}',
      description: 'Messages waiting for an actor when its turn began.',
      advice: { explicitBucketBoundaries: COUNTS },
    });
  }

  sent(send: SendView): void {
    this.sentTotal.add(1, this.labels.of(send.actor, send.message));
  }

  dequeued(trail: Trail, message: MessageView): void {
    const waited = (message.now - trail.sentAt) / 1_000;
    this.waitSeconds.record(waited, this.labels.of(message.actor, message.message));
  }

  ended(message: MessageView, outcome: Outcome): void {
    if (outcome.kind === 'held') return;
    const labels = this.labels.of(message.actor, message.message);
    this.consumedTotal.add(1, labels);
    if (outcome.kind === 'handled') this.processSeconds.record(outcome.ms / 1_000, labels);
    if (outcome.kind === 'abandoned')
      this.processSeconds.record(outcome.ms / 1_000, this.failed(labels, 'abandoned'));
    if (outcome.kind === 'failed') {
      const type = this.labels.errorType(outcome.error);
      this.processSeconds.record(outcome.ms / 1_000, this.failed(labels, type));
    }
  }

  turnBegan(turn: TurnView): void {
    this.backlog.record(turn.depth, { 'messaging.destination.name': this.destination(turn) });
  }

  /** Every turn has one duration, however it ended (E24). */
  turnEnded(turn: TurnView, result: InvokeResult): void {
    const seconds = (turn.endedAt - turn.startedAt) / 1_000;
    this.busySeconds += seconds;
    this.turnSeconds.record(seconds, {
      'messaging.destination.name': this.destination(turn),
      'troupe.turn.result': result.kind,
    });
  }

  /** Through the label sets, so that turns are bounded like messages. */
  private destination(turn: TurnView): string {
    return String(this.labels.of(turn.actor, '')['messaging.destination.name']);
  }

  private failed(labels: Attributes, type: string): Attributes {
    let byType = this.failedLabels.get(labels);
    if (byType === undefined) {
      byType = new Map();
      this.failedLabels.set(labels, byType);
    }
    let failed = byType.get(type);
    if (failed === undefined) {
      failed = { ...labels, 'error.type': type };
      byType.set(type, failed);
    }
    return failed;
  }
}
