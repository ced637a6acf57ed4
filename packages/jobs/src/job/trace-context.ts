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

const TRACEPARENT_CHARS = 55;
const DASH = 0x2d;
const INVALID_VERSION = 'ff';
const NO_TRACE_ID = '0'.repeat(32);
const NO_SPAN_ID = '0'.repeat(16);
/** Visible ASCII and blanks. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Undefined without a valid traceparent, and without the tracestate unless that is valid, as W3C demands. */
export function traceContextOf(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  if (traceparent === undefined || !isTraceparent(traceparent)) return undefined;
  return tracestate !== undefined && TRACESTATE.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}

export const traceContextRule: OptionRule = rule('a W3C trace context with a valid traceparent', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) if (name !== 'traceparent' && name !== 'tracestate') return false;
  const { traceparent, tracestate } = value as Record<string, unknown>;
  if (typeof traceparent !== 'string' || !isTraceparent(traceparent)) return false;
  return tracestate === undefined || (typeof tracestate === 'string' && TRACESTATE.test(tracestate));
});

/** By hand: a pattern that excludes ids of zeros takes ten times as long, and this runs once per job. */
function isTraceparent(text: string): boolean {
  if (text.length !== TRACEPARENT_CHARS || text.startsWith(INVALID_VERSION)) return false;
  if (text.startsWith(NO_TRACE_ID, 3) || text.startsWith(NO_SPAN_ID, 36)) return false;
  for (let at = 0; at < TRACEPARENT_CHARS; at += 1) {
    const code = text.charCodeAt(at);
    if (at === 2 || at === 35 || at === 52) {
      if (code !== DASH) return false;
    } else if (code < 0x30 || code > 0x66 || (code > 0x39 && code < 0x61)) return false;
  }
  return true;
}

/** The length of its texts, which are ASCII. */
export function traceBytes({ traceparent, tracestate = '' }: TraceContext): number {
  return traceparent.length + tracestate.length;
}
