// Hot path: once per traced submit.
import { context, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { contextOfTrace, type TraceContext, traceContextOfSpan } from '../telemetry/trace-context.js';
import { truncateError } from '../truncate-error.js';
import type { JobLabels } from './job-labels.js';
import { jobSpanAttributes, jobSpanName } from './job-span-attributes.js';

/** A submit or a run of a client of @troupe/jobs; structural, as the events of a leader. */
export interface SubmitView {
  readonly exec: string;
  readonly call: 'submit' | 'run';
  readonly jobs: number;
  readonly trace: TraceContext | undefined;
}

export interface SubmitEnd {
  readonly jobs: readonly number[];
  readonly error: Error | undefined;
}

export interface SubmitTrace {
  readonly trace: TraceContext | undefined;
  ended(end: SubmitEnd): void;
}

/** The option `tracing` of a client. */
export interface ClientTracing {
  submit(view: SubmitView): SubmitTrace;
}

/**
 * Spans of a client, children of the caller's span or of the context given with the call:
 *
 *   send media.transcode ├──┤                    submit … its receipt is here: the job is durable
 *   run media.transcode  ├───────────────┤       the same, until the output is here
 */
export class ClientJobSpans implements ClientTracing {
  private readonly tracer: Tracer;
  private readonly labels: JobLabels;

  constructor(tracer: Tracer, labels: JobLabels) {
    this.tracer = tracer;
    this.labels = labels;
  }

  submit({ exec, call, jobs, trace: given }: SubmitView): SubmitTrace {
    const operation = call === 'run' ? 'run' : 'send';
    const attributes = jobSpanAttributes(operation, this.labels, exec);
    if (jobs !== 1) attributes['messaging.batch.message_count'] = jobs;
    const parent = given === undefined ? context.active() : contextOfTrace(given);
    const options = { kind: SpanKind.PRODUCER, attributes };
    return new SubmitSpan(this.tracer.startSpan(jobSpanName(operation, this.labels, exec), options, parent));
  }
}

class SubmitSpan implements SubmitTrace {
  readonly trace: TraceContext | undefined;
  private readonly span: Span;

  constructor(span: Span) {
    this.span = span;
    this.trace = traceContextOfSpan(span);
  }

  ended({ jobs, error }: SubmitEnd): void {
    const { span } = this;
    if (jobs.length === 1) span.setAttribute('messaging.message.id', String(jobs[0]));
    if (error !== undefined) {
      const short = truncateError(error);
      const { code } = error as { readonly code?: unknown };
      span.recordException(short);
      span.setAttribute('error.type', typeof code === 'string' ? code : error.name);
      span.setStatus({ code: SpanStatusCode.ERROR, message: short.message });
    }
    span.end();
  }
}
