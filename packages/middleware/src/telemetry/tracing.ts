import {
  type Attributes,
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { MessageView, Outcome, SendView } from '@troupe/core';
import { boundedError } from '../bounded-error.js';
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
    const armedIn = spanContextOf(send.armedBy);
    if (!this.producers) {
      const trail = new Trail(now, labels, parent);
      trail.armedIn = armedIn;
      return trail;
    }
    const startTime = this.clock.epochOf(now);
    const links = cause === undefined ? this.linksOf(armedIn) : NO_LINKS;
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
      const error = boundedError(outcome.error);
      span.recordException(error, at);
      span.setAttribute('error.type', this.labels.errorType(outcome.error));
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    } else if (outcome.kind !== 'handled') {
      const why = outcome.kind === 'refused' ? outcome.why : 'the actor was killed or restarted meanwhile';
      span.setAttribute('error.type', outcome.kind);
      span.setStatus({ code: SpanStatusCode.ERROR, message: why });
    }
    span.end(at);
  }

  /** It was looked at, and held or put back, but its actor has ended: nobody will look again. */
  lost(trail: Trail, reason: string, now: number): void {
    const { span } = trail;
    if (span === undefined) return;
    trail.span = undefined;
    span.setAttribute('troupe.message.outcome', 'lost');
    span.setAttribute('error.type', reason);
    span.setStatus({ code: SpanStatusCode.ERROR, message: `a dead letter: ${reason}` });
    span.end(this.clock.epochOf(now));
  }

  private start(trail: Trail, message: MessageView, now: number): NonNullable<Trail['span']> {
    const origin = trail.origin ?? ROOT_CONTEXT;
    const producer = trace.getSpanContext(origin);
    const linked = this.producers ? producer : trail.armedIn;
    const links = linked === undefined ? NO_LINKS : [{ context: linked }];
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

  /** What a timer sends begins a trace, or one that is armed again and again would never end; it is linked to where it was armed. */
  private linksOf(armedIn: SpanContext | undefined): Link[] {
    const linked = armedIn ?? (this.isolated ? undefined : trace.getSpanContext(context.active()));
    return linked === undefined ? NO_LINKS : [{ context: linked }];
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

/** Of the span in whose handler something was done. */
function spanContextOf(trail: unknown): SpanContext | undefined {
  if (!(trail instanceof Trail)) return undefined;
  const inside = trail.inside ?? trail.origin;
  return inside === undefined ? undefined : trace.getSpanContext(inside);
}
