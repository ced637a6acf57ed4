import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  trace,
} from '@opentelemetry/api';

/** A trace context as data, in the texts of W3C. Structural, as the events of a leader. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** The context of a span as it travels; undefined where a span has none. */
export function traceContextOfSpan(span: Span): TraceContext | undefined {
  return traceContextOf(span.spanContext());
}

export function traceContextOf(spanContext: SpanContext | undefined): TraceContext | undefined {
  if (spanContext === undefined || !isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = spanContext;
  const flags = traceFlags.toString(16).padStart(2, '0');
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const tracestate = traceState?.serialize();
  return tracestate === undefined || tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

/** Undefined without a trace context, and for one that is not valid. */
export function remoteSpanContext(given: TraceContext | undefined): SpanContext | undefined {
  if (given === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = given.traceparent.split('-');
  const traceState = given.tracestate === undefined ? {} : { traceState: createTraceState(given.tracestate) };
  const spanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...traceState,
  };
  return isSpanContextValid(spanContext) ? spanContext : undefined;
}

/**
 * The context whose span is that of a job's trace context, for `context.with`: for example in a handler on a
 * thread, which has `trace` as data.
 */
export function contextOfTrace(given: TraceContext | undefined): Context {
  const remote = remoteSpanContext(given);
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
}
