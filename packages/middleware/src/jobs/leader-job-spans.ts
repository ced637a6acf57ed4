import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { contextOfTrace } from '../telemetry/trace-context.js';
import type { JobLabels } from './job-labels.js';
import { type JobOperation, jobSpanAttributes, jobSpanName } from './job-span-attributes.js';
import type { JobEvent } from './leader-events.js';

/**
 * Spans of a leader, children of the submit's span in the client:
 *
 *   send media.transcode  ├──┤                                 in the client
 *     └ deliver media.transcode ├─ attempt 1: retry ─┤         assigned … its end is durable
 *     └ deliver media.transcode            ├─ attempt 2 ─┤
 *
 * A job without a trace context is a trace of its own: the leader writes the span `send` when the submit is
 * durable. The spans of a worker are not children of these but their siblings, so that no trace has a gap
 * where a leader is not traced.
 */
export class LeaderJobSpans {
  private readonly tracer: Tracer;
  private readonly labels: JobLabels;

  constructor(tracer: Tracer, labels: JobLabels) {
    this.tracer = tracer;
    this.labels = labels;
  }

  /** Returns the parent context of the attempts; undefined for a job that has one already. */
  accepted(event: JobEvent): Context | undefined {
    if (event.trace !== undefined) return undefined;
    const options = { kind: SpanKind.PRODUCER, attributes: this.attributes('send', event) };
    const span = this.tracer.startSpan(jobSpanName('send', this.labels, event.exec), options, ROOT_CONTEXT);
    span.end();
    return trace.setSpan(ROOT_CONTEXT, span);
  }

  /**
   * `submit` is what `accepted` returned. A job without a trace context from before the start of this process
   * has none: its attempt begins a trace.
   */
  assigned(event: JobEvent, submit: Context | undefined): Span {
    const parent = submit ?? contextOfTrace(event.trace);
    const producer = trace.getSpanContext(parent);
    const links = producer === undefined ? [] : [{ context: producer }];
    const attributes = {
      ...this.attributes('deliver', event),
      'troupe.job.attempt': event.attempt ?? 0,
      'troupe.job.waited_ms': event.waitedMs ?? 0,
    };
    const options = { kind: SpanKind.INTERNAL, attributes, links };
    return this.tracer.startSpan(jobSpanName('deliver', this.labels, event.exec), options, parent);
  }

  /** `release` is a job that a worker gave back unharmed; all other ends without a result are errors. */
  ended(span: Span, event: JobEvent): void {
    const why = event.cause ?? event.reason ?? event.kind;
    span.setAttribute('troupe.job.outcome', why);
    if (event.kind !== 'completed' && why !== 'release') {
      span.setAttribute('error.type', this.labels.word(why));
      span.setStatus({ code: SpanStatusCode.ERROR, message: why });
    }
    span.end();
  }

  /** The end of the attempt is unknown: telemetry was disposed first. */
  abandoned(span: Span): void {
    span.setAttribute('troupe.job.outcome', 'unknown');
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'the end of the attempt was not seen' });
    span.end();
  }

  private attributes(operation: JobOperation, event: JobEvent): Attributes {
    return {
      ...jobSpanAttributes(operation, this.labels, event.exec),
      'messaging.message.id': String(event.job),
    };
  }
}
