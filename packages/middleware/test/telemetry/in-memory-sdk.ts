import { context, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** One value of a metric with its labels. */
export interface Point {
  readonly labels: Readonly<Record<string, unknown>>;
  /** The number, or the count of a histogram. */
  readonly value: number;
}

export interface InMemorySdk {
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  spans(): readonly ReadableSpan[];
  /** The only span of that name. */
  span(name: string): ReadableSpan;
  metrics(): Promise<ReadonlyMap<string, readonly Point[]>>;
}

/** The SDK with in-memory exporters, not registered anywhere. */
export function openInMemorySdk(): InMemorySdk {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return {
    tracerProvider,
    meterProvider,
    spans,
    span(name) {
      const found = spans().filter((span) => span.name === name);
      if (found.length !== 1)
        throw new Error(`${found.length} spans are called ${name}: ${namesOf(spans())}`);
      return found[0] as ReadableSpan;
    },
    async metrics() {
      metricExporter.reset();
      await reader.forceFlush();
      const points = new Map<string, Point[]>();
      for (const { scopeMetrics } of metricExporter.getMetrics()) {
        for (const { descriptor, dataPoints } of scopeMetrics.flatMap((scope) => scope.metrics)) {
          const own = dataPoints.map(({ attributes, value }) => ({
            labels: attributes,
            value: typeof value === 'number' ? value : (value as { count: number }).count,
          }));
          points.set(descriptor.name, own);
        }
      }
      return points;
    },
  };
}

/** Registers a context manager, as the SDK for Node does; without one there is no active context. */
export function useAsyncContext(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** Runs `work` with an active span of its own, as the request handler of a web framework would. */
export async function inRequest<T>(
  sdk: InMemorySdk,
  name: string,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = sdk.tracerProvider.getTracer('test').startSpan(name);
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span));
  } finally {
    span.end();
  }
}

export function namesOf(spans: readonly ReadableSpan[]): string {
  return spans.map(({ name }) => name).join(', ');
}

export function traceOf(span: ReadableSpan): string {
  return span.spanContext().traceId;
}

/** Names from the span up to the root of its trace. */
export function ancestry(span: ReadableSpan, all: readonly ReadableSpan[]): string[] {
  const names = [span.name];
  let at: ReadableSpan | undefined = span;
  for (;;) {
    const parent: string | undefined = at?.parentSpanContext?.spanId;
    at = parent === undefined ? undefined : all.find((other) => other.spanContext().spanId === parent);
    if (at === undefined) return names;
    names.push(at.name);
  }
}
