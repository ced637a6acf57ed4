import { createRequire } from 'node:module';
import type { TraceContext } from '@troupe/jobs';
import { type JobTelemetry, jobTelemetry } from '@troupe/middleware';

/** `context`: every job has a trace context, without a tracer. `spans`: client, leader and worker make spans. */
export const TRACED = ['context', 'spans'] as const;
export type Traced = (typeof TRACED)[number];

interface ApiModule {
  readonly context: { setGlobalContextManager(manager: object): boolean };
}
interface ContextModule {
  readonly AsyncLocalStorageContextManager: new () => { enable(): object };
}
interface TraceModule {
  readonly BasicTracerProvider: new () => NonNullable<Parameters<typeof jobTelemetry>[0]>['tracerProvider'];
}

/** The sides of telemetry in this process. Spans are started and ended, without export. */
export function tracedSides(traced: Traced | undefined): Pick<JobTelemetry, 'client' | 'leader' | 'worker'> {
  if (traced !== 'spans') return { client: {}, leader: {}, worker: {} };
  // The SDK is a development dependency of the middleware package and is resolved from there.
  const require = createRequire(createRequire(import.meta.url).resolve('@troupe/middleware/package.json'));
  const { context } = require('@opentelemetry/api') as ApiModule;
  const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks') as ContextModule;
  const { BasicTracerProvider } = require('@opentelemetry/sdk-trace-base') as TraceModule;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return jobTelemetry({ tracerProvider: new BasicTracerProvider() });
}

/** A context for each job, as a gateway passes on that of a request. */
export class TraceContexts {
  private made = 0;

  next(): TraceContext {
    this.made += 1;
    const span = this.made.toString(16).padStart(16, '0');
    return { traceparent: `00-0af7651916cd43dd8448eb21${span.slice(8)}-${span}-01` };
  }
}
