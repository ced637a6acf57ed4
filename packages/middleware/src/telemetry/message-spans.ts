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
import { truncateError } from '../truncate-error.js';
import { ChainedContext } from './chained-context.js';
import { MessageTrace } from './message-trace.js';
import type { MessageLabels, MetricLabels } from './metric-labels.js';
import type { WallClock } from './wall-clock.js';

const NO_LINKS: Link[] = [];

/**
 * Spans of messages:
 *
 *   sender    process order.place ─────────────────────────────
 *               └ send account.charge │                            producer: a moment
 *   receiver        └ process account.charge ├ waits ┤ runs ├      consumer: sent … dequeued … handled
 *
 * A message that is never taken from its mailbox has a producer span, which has ended, and no consumer span.
 */
export class MessageSpans {
  private readonly tracer: Tracer;
  private readonly clock: WallClock;
  private readonly labels: MetricLabels;
  private readonly producers: boolean;
  /**
   * Whether callbacks of the host run outside any context: only then the active context is that of the
   * sender.
   */
  isolated = false;

  constructor(tracer: Tracer, clock: WallClock, labels: MetricLabels, producers: boolean) {
    this.tracer = tracer;
    this.clock = clock;
    this.labels = labels;
    this.producers = producers;
  }

  sent(send: SendView, labels: MessageLabels, now: number): MessageTrace {
    const cause =
      send.cause instanceof MessageTrace ? (send.cause.handlerContext ?? send.cause.parent) : undefined;
    const parent = cause ?? this.outsideContext();
    const armedIn = spanContextOf(send.armedBy);
    if (!this.producers) {
      const messageTrace = new MessageTrace(now, labels, parent);
      messageTrace.armedIn = armedIn;
      return messageTrace;
    }
    const startTime = this.clock.epochOf(now);
    const links = cause === undefined ? this.linksOf(armedIn) : NO_LINKS;
    const attributes = this.attributes('send', labels, send.path);
    attributes['troupe.sender.path'] = send.from ?? '';
    const options = { kind: SpanKind.PRODUCER, attributes, links, startTime };
    const span = this.tracer.startSpan(labels.sendName, options, parent);
    span.end(startTime);
    return new MessageTrace(now, labels, trace.setSpan(ChainedContext.on(parent), span));
  }

  /** A message may be dequeued more than once: after a hold and for each retry. */
  dequeued(messageTrace: MessageTrace, message: MessageView, now: number): void {
    const at = this.clock.epochOf(now);
    messageTrace.span ??= this.start(messageTrace, message, at);
    if (!messageTrace.span.isRecording()) return;
    messageTrace.span.addEvent('dequeued', { 'troupe.message.waited_ms': now - messageTrace.sentAt }, at);
  }

  run<T>(messageTrace: MessageTrace, run: () => T): T {
    return messageTrace.handlerContext === undefined ? run() : context.with(messageTrace.handlerContext, run);
  }

  ended(messageTrace: MessageTrace, message: MessageView, outcome: Outcome): void {
    const { span } = messageTrace;
    if (span === undefined) return;
    const at = this.clock.epochOf(message.now);
    if (outcome.kind === 'held') {
      span.addEvent('held', {}, at);
      return;
    }
    messageTrace.span = undefined;
    messageTrace.runs += 1;
    span.setAttribute('troupe.message.outcome', outcome.kind);
    if (outcome.kind === 'failed') {
      const error = truncateError(outcome.error);
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

  /** The actor of a message that was dequeued and held has ended. */
  lost(messageTrace: MessageTrace, reason: string, now: number): void {
    const { span } = messageTrace;
    if (span === undefined) return;
    messageTrace.span = undefined;
    span.setAttribute('troupe.message.outcome', 'lost');
    span.setAttribute('error.type', reason);
    span.setStatus({ code: SpanStatusCode.ERROR, message: `a dead letter: ${reason}` });
    span.end(this.clock.epochOf(now));
  }

  private start(
    messageTrace: MessageTrace,
    message: MessageView,
    now: number,
  ): NonNullable<MessageTrace['span']> {
    const parent = messageTrace.parent ?? ROOT_CONTEXT;
    const producer = trace.getSpanContext(parent);
    const linked = this.producers ? producer : messageTrace.armedIn;
    const links = linked === undefined ? NO_LINKS : [{ context: linked }];
    const attributes = this.attributes('process', messageTrace.labels, message.path);
    attributes['troupe.message.asked'] = message.asked;
    attributes['troupe.message.retries'] = message.retries;
    // The first span covers the wait in the mailbox too; the span of a retry begins with its dequeue.
    const startTime = messageTrace.runs === 0 ? this.clock.epochOf(messageTrace.sentAt) : now;
    const options = { kind: SpanKind.CONSUMER, attributes, links, startTime };
    const span = this.tracer.startSpan(messageTrace.labels.processName, options, parent);
    messageTrace.handlerContext = trace.setSpan(ChainedContext.on(parent), span);
    return span;
  }

  /**
   * The parent of a send outside any handler. Without isolation the active context may be that of the caller
   * who woke the runtime, so the send begins a new trace, which is only linked.
   */
  private outsideContext(): Context {
    return this.isolated ? context.active() : ROOT_CONTEXT;
  }

  /**
   * A message of a timer begins a new trace, else the trace of a timer that is armed again and again would
   * never end. It is linked to the span in which the timer was armed.
   */
  private linksOf(armedIn: SpanContext | undefined): Link[] {
    const linked = armedIn ?? (this.isolated ? undefined : trace.getSpanContext(context.active()));
    return linked === undefined ? NO_LINKS : [{ context: linked }];
  }

  private attributes(operation: 'send' | 'process', labels: MessageLabels, path: string): Attributes {
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

/** The span of the handler whose message has this trace data. */
function spanContextOf(messageTrace: unknown): SpanContext | undefined {
  if (!(messageTrace instanceof MessageTrace)) return undefined;
  const within = messageTrace.handlerContext ?? messageTrace.parent;
  return within === undefined ? undefined : trace.getSpanContext(within);
}
