// The middleware of a traced thread, and the actors that run there.
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { defineActor, type Ref } from '@troupe/core';
import { telemetry } from '@troupe/middleware';

/** A finished span as plain data. */
export interface SpanData {
  readonly name: string;
  readonly trace: string;
  readonly span: string;
  readonly parent: string | undefined;
  readonly path: unknown;
  readonly startMs: number;
  readonly endMs: number;
}

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

export const middleware = [telemetry({ tracerProvider })];

/** Spans of this thread so far. */
export function finishedSpans(): SpanData[] {
  return exporter.getFinishedSpans().map(dataOf);
}

export const tracer = tracerProvider.getTracer('test');

export interface Relay {
  pass(next: Ref<Relay> | undefined): Promise<string>;
  spans(): SpanData[];
}

export const Relay = defineActor.of<Relay>()('relay', {
  handlers: {
    async pass(ctx, next) {
      if (next === undefined) return 'end';
      return ctx.ask(next).pass(undefined);
    },
    spans: () => finishedSpans(),
  },
});

function dataOf(span: ReadableSpan): SpanData {
  const { traceId, spanId } = span.spanContext();
  const millis = ([seconds, nanos]: readonly [number, number]): number => 1e3 * seconds + nanos / 1e6;
  return {
    name: span.name,
    trace: traceId,
    span: spanId,
    parent: span.parentSpanContext?.spanId,
    path: span.attributes['troupe.actor.path'],
    startMs: millis(span.startTime),
    endMs: millis(span.endTime),
  };
}
