import {
  createNoopMeter,
  type MeterProvider,
  metrics,
  type ProxyTracerProvider,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { SECOND_TELEMETRY_API } from '../errors.js';

/** The registered providers; undefined where none is registered. */
export interface RegisteredSdk {
  readonly tracers: TracerProvider | undefined;
  readonly meters: MeterProvider | undefined;
}

export type Warn = (text: string, code: string) => void;

const SCOPE = '@troupe/middleware';
let warned = false;

/**
 * Looks for a registered SDK. The OpenTelemetry API has no query for it, but the no-op placeholder that it
 * returns without an SDK can be recognised.
 */
export function findRegisteredSdk(warn: Warn = warnProcess): RegisteredSdk {
  const tracers = registeredTracers();
  const meters = metrics.getMeter(SCOPE) === createNoopMeter() ? undefined : metrics.getMeterProvider();
  if (tracers === undefined && meters === undefined && !warned) {
    const problem = invisibleSdk();
    if (problem !== undefined) {
      warned = true;
      warn(problem, SECOND_TELEMETRY_API);
    }
  }
  return { tracers, meters };
}

function registeredTracers(): TracerProvider | undefined {
  const provider = trace.getTracerProvider();
  if (!('getDelegateTracer' in provider)) return provider;
  const proxy = provider as ProxyTracerProvider;
  return proxy.getDelegateTracer(SCOPE) === undefined ? undefined : proxy;
}

/**
 * Every copy of the API package keeps its registrations under one global symbol per major version, and a copy
 * ignores registrations of a lower version. An SDK that is registered but invisible therefore belongs to
 * another copy.
 */
function invisibleSdk(): string | undefined {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (!/^opentelemetry\.js\.api\.\d+$/.test(symbol.description ?? '')) continue;
    const api = (globalThis as Record<symbol, unknown>)[symbol] as Record<string, unknown>;
    if (api['trace'] === undefined && api['metrics'] === undefined) continue;
    return (
      `An OpenTelemetry SDK is registered with version ${String(api['version'])} of @opentelemetry/api, but ${SCOPE} ` +
      'uses another copy, which cannot see it: nothing of Troupe will be recorded. ' +
      'Install one version only (npm ls @opentelemetry/api shows them; npm dedupe, or an override, joins them).'
    );
  }
  return undefined;
}

function warnProcess(text: string, code: string): void {
  process.emitWarning(text, { code });
}
