import {
  type Attributes,
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { MessageView, Outcome, SendView } from '@troupe/core';
import type { LabelSet, LabelSets } from './label-sets.js';
import { LinkedContext } from './linked-context.js';
import { Trail } from './trail.js';
import type { WallClock } from './wall-clock.js';

const NO_LINKS: Link[] = [];

/**
 * Spans of messages:
 *
 *   sender    process order.place ─────────────────────────────
 *               └ send account.charge │                            producer: a moment
 *   receiver        └ process account.charge ├ waits ┤ runs ├      consumer: sent … dequeued … handled, linked to it
 *
 * A message that is never taken from its mailbox leaves its producer span behind and nothing open.
 */
export class Tracing {
  private readonly tracer: Tracer;
  private readonly clock: WallClock;
  private readonly labels: LabelSets;
  private readonly producers: boolean;
  /** Set when the host's callbacks run in no context: only then is the active context that of the sender. */
  isolated = false;

  constructor(tracer: Tracer, clock: WallClock, labels: LabelSets, producers: boolean) {
    this.tracer = tracer;
    this.clock = clock;
    this.labels = labels;
    this.producers = producers;
  }

  sent(send: SendView, labels: LabelSet, now: number): Trail {
    const cause = send.cause instanceof Trail ? (send.cause.inside ?? send.cause.origin) : undefined;
    const parent = cause ?? this.ambient();
    if (!this.producers) return new Trail(now, labels, parent);
    const startTime = this.clock.epochOf(now);
    const links = cause === undefined ? this.ambientLinks() : NO_LINKS;
    const attributes = this.attributes('send', labels, send.path);
    attributes['troupe.sender.path'] = send.from ?? '';
    const options = { kind: SpanKind.PRODUCER, attributes, links, startTime };
    const span = this.tracer.startSpan(labels.sendName, options, parent);
    span.end(startTime);
    return new Trail(now, labels, trace.setSpan(LinkedContext.on(parent), span));
  }

  /** Taken from the mailbox, not necessarily for the first time: it may have been held or be tried again. */
  dequeued(trail: Trail, message: MessageView, now: number): void {
    const at = this.clock.epochOf(now);
    trail.span ??= this.start(trail, message, at);
    if (!trail.span.isRecording()) return;
    trail.span.addEvent('dequeued', { 'troupe.message.waited_ms': now - trail.sentAt }, at);
  }

  run<T>(trail: Trail, run: () => T): T {
    return trail.inside === undefined ? run() : context.with(trail.inside, run);
  }

  ended(trail: Trail, message: MessageView, outcome: Outcome): void {
    const { span } = trail;
    if (span === undefined) return;
    const at = this.clock.epochOf(message.now);
    if (outcome.kind === 'held') {
      span.addEvent('held', {}, at);
      return;
    }
    trail.span = undefined;
    trail.runs += 1;
    span.setAttribute('troupe.message.outcome', outcome.kind);
    if (outcome.kind === 'failed') {
      span.recordException(outcome.error, at);
      span.setAttribute('error.type', this.labels.errorType(outcome.error));
      span.setStatus({ code: SpanStatusCode.ERROR, message: outcome.error.message });
    } else if (outcome.kind !== 'handled') {
      const why = outcome.kind === 'refused' ? outcome.why : 'the actor was killed or restarted meanwhile';
      span.setAttribute('error.type', outcome.kind);
      span.setStatus({ code: SpanStatusCode.ERROR, message: why });
    }
    span.end(at);
  }

  private start(trail: Trail, message: MessageView, now: number): NonNullable<Trail['span']> {
    const origin = trail.origin ?? ROOT_CONTEXT;
    const producer = trace.getSpanContext(origin);
    const links = producer === undefined || !this.producers ? NO_LINKS : [{ context: producer }];
    const attributes = this.attributes('process', trail.labels, message.path);
    attributes['troupe.message.asked'] = message.asked;
    attributes['troupe.message.retries'] = message.retries;
    // The one span from enqueue to dequeue to invoke; another try begins when it begins.
    const startTime = trail.runs === 0 ? this.clock.epochOf(trail.sentAt) : now;
    const options = { kind: SpanKind.CONSUMER, attributes, links, startTime };
    const span = this.tracer.startSpan(trail.labels.processName, options, origin);
    trail.inside = trace.setSpan(LinkedContext.on(origin), span);
    return span;
  }

  /**
   * Where a send that no message caused comes from. Without isolation the active context may be that of whoever woke
   * the runtime, so a trace of its own is begun and only linked.
   */
  private ambient(): Context {
    return this.isolated ? context.active() : ROOT_CONTEXT;
  }

  private ambientLinks(): Link[] {
    const active = this.isolated ? undefined : trace.getSpanContext(context.active());
    return active === undefined ? NO_LINKS : [{ context: active }];
  }

  private attributes(operation: 'send' | 'process', labels: LabelSet, path: string): Attributes {
    const { attributes } = labels;
    return {
      'messaging.system': 'troupe',
      'messaging.destination.name': attributes['messaging.destination.name'],
      'troupe.message.name': attributes['troupe.message.name'],
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'troupe.actor.path': path,
    };
  }
}
