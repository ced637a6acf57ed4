import type { Counter, Histogram, Meter } from '@opentelemetry/api';
import type { InvokeResult, Outcome, TurnView } from '@troupe/core';
import type { MessageTrace } from './message-trace.js';
import { consumedMessages, processDuration, SECONDS, sentMessages } from './messaging-instruments.js';
import type { MessageLabels, MetricLabels } from './metric-labels.js';

const COUNTS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000];

/** Counters and histograms per message and turn. */
export class MessageMetrics {
  /** Seconds that actors have run. */
  busySeconds = 0;
  /** Whether a metrics collection calls `flush`; else it happens after every turn. */
  isCollected = false;
  private readonly unflushed: MessageLabels[] = [];
  private readonly labels: MetricLabels;
  private readonly sentTotal: Counter;
  private readonly consumedTotal: Counter;
  private readonly processSeconds: Histogram;
  private readonly waitSeconds: Histogram;
  private readonly turnSeconds: Histogram;
  private readonly backlog: Histogram;

  constructor(meter: Meter, labels: MetricLabels) {
    this.labels = labels;
    this.sentTotal = sentMessages(meter);
    this.consumedTotal = consumedMessages(meter);
    this.processSeconds = processDuration(meter);
    this.waitSeconds = meter.createHistogram('troupe.scheduler.latency', {
      unit: 's',
      description: 'From the arrival of a message in a mailbox until its actor first took it.',
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.turnSeconds = meter.createHistogram('troupe.turn.duration', {
      unit: 's',
      description: 'One turn of an actor, by result.',
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.backlog = meter.createHistogram('troupe.mailbox.backlog', {
      unit: '{message}',
      description: 'Messages waiting for an actor when its turn began.',
      advice: { explicitBucketBoundaries: COUNTS },
    });
  }

  sent(labels: MessageLabels): void {
    this.markUnflushed(labels);
    labels.sent += 1;
  }

  dequeued(trace: MessageTrace, now: number): void {
    this.waitSeconds.record((now - trace.sentAt) / 1_000, trace.labels.attributes);
  }

  ended(labels: MessageLabels, outcome: Outcome): void {
    if (outcome.kind === 'held') return;
    this.markUnflushed(labels);
    labels.consumed += 1;
    switch (outcome.kind) {
      case 'handled':
        return this.processSeconds.record(outcome.ms / 1_000, labels.attributes);
      case 'abandoned':
        return this.processSeconds.record(outcome.ms / 1_000, labels.withErrorType('abandoned'));
      case 'failed':
        return this.processSeconds.record(
          outcome.ms / 1_000,
          labels.withErrorType(this.labels.errorType(outcome.error)),
        );
      case 'refused':
        return;
      default:
        outcome satisfies never;
    }
  }

  turnBegan(turn: TurnView): void {
    this.backlog.record(turn.depth, this.labels.ofTurns(turn.actor).attributes);
  }

  /** Every turn records exactly one duration, whatever its result. */
  turnEnded(turn: TurnView, result: InvokeResult): void {
    const seconds = (turn.endedAt - turn.startedAt) / 1_000;
    this.busySeconds += seconds;
    this.turnSeconds.record(seconds, this.labels.ofTurns(turn.actor).withResult(result.kind));
    if (!this.isCollected) this.flush();
  }

  /** Adds the counts since the last flush at once: an SDK looks up the labels for every single addition. */
  flush(): void {
    for (const labels of this.unflushed.splice(0)) {
      if (labels.sent > 0) this.sentTotal.add(labels.sent, labels.attributes);
      if (labels.consumed > 0) this.consumedTotal.add(labels.consumed, labels.attributes);
      labels.sent = 0;
      labels.consumed = 0;
    }
  }

  private markUnflushed(labels: MessageLabels): void {
    if (labels.sent === 0 && labels.consumed === 0) this.unflushed.push(labels);
  }
}
