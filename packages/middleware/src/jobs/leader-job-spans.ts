import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { JobLabels } from './job-labels.js';
import type { JobEvent } from './leader-events.js';

/**
 * Spans of jobs, one trace per job, as its leader sees it:
 *
 *   send media.transcode │                                     producer: the submit is durable
 *     └ process media.transcode ├─ attempt 1: retry ─┤         consumer: assigned … its end is durable
 *     └ process media.transcode            ├─ attempt 2 ─┤
 */
export class LeaderJobSpans {
  private readonly tracer: Tracer;
  private readonly labels: JobLabels;

  constructor(tracer: Tracer, labels: JobLabels) {
    this.tracer = tracer;
    this.labels = labels;
  }

  /** Returns the parent context of the attempts. */
  accepted(event: JobEvent): Context {
    const span = this.tracer.startSpan(
      `send ${this.nameOf(event)}`,
      { kind: SpanKind.PRODUCER, attributes: this.attributes('send', event) },
      ROOT_CONTEXT,
    );
    span.end();
    return trace.setSpan(ROOT_CONTEXT, span);
  }

  /** A job from before the start of this process has no parent context: its attempt begins a trace. */
  assigned(event: JobEvent, parent: Context = ROOT_CONTEXT): Span {
    const producer = trace.getSpanContext(parent);
    const links = producer === undefined ? [] : [{ context: producer }];
    const attributes = {
      ...this.attributes('process', event),
      'troupe.job.attempt': event.attempt ?? 0,
      'troupe.job.waited_ms': event.waitedMs ?? 0,
    };
    const options = { kind: SpanKind.CONSUMER, attributes, links };
    return this.tracer.startSpan(`process ${this.nameOf(event)}`, options, parent);
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

  private nameOf(event: JobEvent): string {
    return String(this.labels.of(event.exec)['messaging.destination.name']);
  }

  private attributes(operation: 'send' | 'process', event: JobEvent) {
    return {
      ...this.labels.of(event.exec),
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.message.id': String(event.job),
    };
  }
}
