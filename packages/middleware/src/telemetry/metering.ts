import type { Counter, Histogram, Meter } from '@opentelemetry/api';
import type { InvokeResult, Outcome, TurnView } from '@troupe/core';
import type { LabelSet, LabelSets } from './label-sets.js';
import { consumedMessages, processDuration, SECONDS, sentMessages } from './messaging-instruments.js';
import type { Trail } from './trail.js';

const COUNTS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000];

/** What is counted and timed per message and turn. */
export class Metering {
  /** Seconds that actors have run, for the busy ratio. */
  busySeconds = 0;
  /** Somebody calls `flush` whenever metrics are collected; else it is done after every turn. */
  isCollected = false;
  private readonly touched: LabelSet[] = [];
  private readonly labels: LabelSets;
  private readonly sentTotal: Counter;
  private readonly consumedTotal: Counter;
  private readonly processSeconds: Histogram;
  private readonly waitSeconds: Histogram;
  private readonly turnSeconds: Histogram;
  private readonly backlog: Histogram;

  constructor(meter: Meter, labels: LabelSets) {
    this.labels = labels;
    this.sentTotal = sentMessages(meter);
    this.consumedTotal = consumedMessages(meter);
    this.processSeconds = processDuration(meter);
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

  sent(labels: LabelSet): void {
    this.touch(labels);
    labels.sent += 1;
  }

  dequeued(trail: Trail, now: number): void {
    this.waitSeconds.record((now - trail.sentAt) / 1_000, trail.labels.attributes);
  }

  ended(labels: LabelSet, outcome: Outcome): void {
    if (outcome.kind === 'held') return;
    this.touch(labels);
    labels.consumed += 1;
    switch (outcome.kind) {
      case 'handled':
        return this.processSeconds.record(outcome.ms / 1_000, labels.attributes);
      case 'abandoned':
        return this.processSeconds.record(outcome.ms / 1_000, labels.failedBy('abandoned'));
      case 'failed':
        return this.processSeconds.record(
          outcome.ms / 1_000,
          labels.failedBy(this.labels.errorType(outcome.error)),
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

  /** Every turn has one duration, however it ended (E24). */
  turnEnded(turn: TurnView, result: InvokeResult): void {
    const seconds = (turn.endedAt - turn.startedAt) / 1_000;
    this.busySeconds += seconds;
    this.turnSeconds.record(seconds, this.labels.ofTurns(turn.actor).endedBy(result.kind));
    if (!this.isCollected) this.flush();
  }

  /** Adds up what was counted since: an SDK looks its labels up for every single addition. */
  flush(): void {
    for (const labels of this.touched.splice(0)) {
      if (labels.sent > 0) this.sentTotal.add(labels.sent, labels.attributes);
      if (labels.consumed > 0) this.consumedTotal.add(labels.consumed, labels.attributes);
      labels.sent = 0;
      labels.consumed = 0;
    }
  }

  private touch(labels: LabelSet): void {
    if (labels.sent === 0 && labels.consumed === 0) this.touched.push(labels);
  }
}
