import { createRequire } from 'node:module';
import type { Middleware } from '@troupe/core';
import {
  circuitBreaker,
  deadline,
  idempotency,
  logging,
  rateLimit,
  retry,
  telemetry,
  timeout,
} from '@troupe/middleware';

/** Stacks compared with `troupe`, which has no middleware. None ever rejects, delays or retries a message. */
export const stacks: Readonly<Record<string, () => readonly Middleware[]>> = {
  troupe: () => [],
  'empty-list': () => [],
  'telemetry-without-sdk': () => [telemetry()],
  'telemetry-with-sdk': () => [telemetry(recordingProviders())],
  'metrics-with-sdk': () => [telemetry({ meterProvider: recordingProviders().meterProvider })],
  logging: () => [logging()],
  'rate-limit': () => [rateLimit({ name: 'bench', perSecond: 1e9, burst: 1e9 })],
  'circuit-breaker': () => [circuitBreaker()],
  deadline: () => [deadline({ withinMs: 3_600_000 })],
  timeout: () => [timeout({ withinMs: 60_000 })],
  retry: () => [retry()],
  idempotency: () => [
    idempotency({ key: ({ payload }) => (payload === undefined ? undefined : String(payload)) }),
  ],
  'one-idle-hook': () => [idleHook()],
  'all-of-them': () => [
    rateLimit({ name: 'all', perSecond: 1e9, burst: 1e9 }),
    circuitBreaker(),
    deadline({ withinMs: 3_600_000 }),
    timeout({ withinMs: 60_000 }),
    retry(),
    logging(),
  ],
};

export const stackNames: readonly string[] = Object.keys(stacks);

/** The smallest possible middleware: its cost is that of the pipeline. */
function idleHook(): Middleware {
  return { name: 'idle', beforeMessage: () => undefined };
}

interface SdkModules {
  readonly traces: { readonly BasicTracerProvider: new () => NonNullable<Providers['tracerProvider']> };
  readonly metrics: {
    readonly MeterProvider: new (options: {
      readonly readers: readonly object[];
    }) => NonNullable<Providers['meterProvider']>;
    readonly MetricReader: new () => object;
  };
}
type Providers = NonNullable<Parameters<typeof telemetry>[0]>;

/** Spans are started and ended and metrics aggregated, without export: exporters are not measured. */
function recordingProviders(): Required<Pick<Providers, 'tracerProvider' | 'meterProvider'>> {
  const { traces, metrics } = sdk();
  // Without a reader a provider does not aggregate.
  class IdleReader extends metrics.MetricReader {
    protected onShutdown(): Promise<void> {
      return Promise.resolve();
    }
    protected onForceFlush(): Promise<void> {
      return Promise.resolve();
    }
  }
  return {
    tracerProvider: new traces.BasicTracerProvider(),
    meterProvider: new metrics.MeterProvider({ readers: [new IdleReader()] }),
  };
}

/** The SDK is a development dependency of the middleware package and is resolved from there. */
function sdk(): SdkModules {
  const require = createRequire(createRequire(import.meta.url).resolve('@troupe/middleware/package.json'));
  return {
    traces: require('@opentelemetry/sdk-trace-base') as SdkModules['traces'],
    metrics: require('@opentelemetry/sdk-metrics') as SdkModules['metrics'],
  };
}

/** The reason why a stack cannot run here, `undefined` if it can. */
export function missingStack(name: string): string | undefined {
  if (!name.endsWith('-with-sdk')) return undefined;
  try {
    sdk();
    return undefined;
  } catch (error) {
    return `the OpenTelemetry SDK is not installed: ${String(error)}`;
  }
}
