import { type OptionRule, rule } from '@troupe/core/option-check';

/**
 * The trace context of a job, in the two texts of the W3C recommendation. It travels from the submit to the
 * handler of every attempt, and the leader stores it with the job; what it means is known to tracers alone.
 */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`, in lower-case hex. */
  readonly traceparent: string;
  /** A list of `key=value`, of at most 512 characters. Absent: none. */
  readonly tracestate?: string | undefined;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
/** Visible ASCII and blanks. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Undefined without a valid traceparent, and without the tracestate unless that is valid, as W3C demands. */
export function traceContextOf(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return undefined;
  return tracestate !== undefined && TRACESTATE.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}

export const traceContextRule: OptionRule = rule('a W3C trace context with a valid traceparent', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { traceparent, tracestate, ...others } = value as Record<string, unknown>;
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return false;
  const isState = typeof tracestate === 'string' && TRACESTATE.test(tracestate);
  return Object.keys(others).length === 0 && (tracestate === undefined || isState);
});

/** The length of its texts, which are ASCII. */
export function traceBytes({ traceparent, tracestate = '' }: TraceContext): number {
  return traceparent.length + tracestate.length;
}
