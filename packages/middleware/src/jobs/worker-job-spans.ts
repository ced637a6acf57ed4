// Hot path: once per attempt of a worker that traces.
import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { remoteSpanContext, type TraceContext, traceContextOfSpan } from '../telemetry/trace-context.js';
import type { JobLabels } from './job-labels.js';
import { jobSpanAttributes, jobSpanName } from './job-span-attributes.js';

/** An attempt of a worker of @troupe/jobs; structural, as the events of a leader. */
export interface AttemptView {
  readonly jobId: string;
  readonly job: number;
  readonly attempt: number;
  readonly exec: string;
  readonly client: string;
  readonly trace: TraceContext | undefined;
}

export interface AttemptEnd {
  readonly outcome: string;
  readonly failure?: { readonly name: string; readonly message: string } | undefined;
}

export interface AttemptTrace {
  readonly trace: TraceContext | undefined;
  run<T>(call: () => T): T;
  ended(end: AttemptEnd): void;
}

/** The option `tracing` of a worker. */
export interface WorkerTracing {
  attempt(view: AttemptView): AttemptTrace;
}

/**
 * Spans of a worker: one per attempt, a child of the submit's span in the client and linked to it. The
 * handler runs inside it, so that its own calls are the children of the attempt.
 */
export class WorkerJobSpans implements WorkerTracing {
  private readonly tracer: Tracer;
  private readonly labels: JobLabels;

  constructor(tracer: Tracer, labels: JobLabels) {
    this.tracer = tracer;
    this.labels = labels;
  }

  /** A job without a trace context begins a trace here: the active context is not that of its submit. */
  attempt(view: AttemptView): AttemptTrace {
    const { exec } = view;
    const submit = remoteSpanContext(view.trace);
    const attributes = jobSpanAttributes('process', this.labels, exec);
    attributes['messaging.message.id'] = String(view.job);
    attributes['troupe.job.id'] = view.jobId;
    attributes['troupe.job.attempt'] = view.attempt;
    attributes['troupe.job.client'] = view.client;
    const links = submit === undefined ? [] : [{ context: submit }];
    const parent = submit === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, submit);
    const options = { kind: SpanKind.CONSUMER, attributes, links };
    const span = this.tracer.startSpan(jobSpanName('process', this.labels, exec), options, parent);
    return new AttemptSpan(span, trace.setSpan(parent, span));
  }
}

class AttemptSpan implements AttemptTrace {
  readonly trace: TraceContext | undefined;
  private readonly span: Span;
  private readonly handlerContext: Context;

  constructor(span: Span, handlerContext: Context) {
    this.span = span;
    this.handlerContext = handlerContext;
    this.trace = traceContextOfSpan(span);
  }

  run<T>(call: () => T): T {
    return context.with(this.handlerContext, call);
  }

  /** `released` is an attempt that was handed back unharmed; all other ends without a result are errors. */
  ended({ outcome, failure }: AttemptEnd): void {
    const { span } = this;
    span.setAttribute('troupe.job.outcome', outcome);
    if (outcome !== 'ok' && outcome !== 'released') {
      span.setAttribute('error.type', failure?.name ?? outcome);
      if (failure !== undefined) span.recordException(failure);
      span.setStatus({ code: SpanStatusCode.ERROR, message: failure?.message ?? outcome });
    }
    span.end();
  }
}
