// Hot path: once per job that has a trace context.
import { type TraceContext, traceContextOf } from '../job/trace-context.js';
import type { ByteReader } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';
import { type OptionalField, type OptionalFields, readTextField } from './optional-fields.js';

/** The numbers of these optional fields, in every message and record that has them. */
export const TRACEPARENT = 1;
export const TRACESTATE = 2;
/** A number and a length of one byte each. */
const TRACEPARENT_HEAD_BYTES = 2;

/** The optional fields of an item that has a trace context, written as texts. */
export function writeTraceFields(out: ByteWriter, { traceparent, tracestate = '' }: TraceContext): void {
  // Both are ASCII: as many bytes as characters.
  const stateHeadBytes = tracestate.length < 0x80 ? 2 : 3;
  const stateBytes = tracestate === '' ? 0 : stateHeadBytes + tracestate.length;
  out.int(TRACEPARENT_HEAD_BYTES + traceparent.length + stateBytes);
  out.int(TRACEPARENT);
  out.text(traceparent);
  if (tracestate === '') return;
  out.int(TRACESTATE);
  out.text(tracestate);
}

/** Reads these and skips other optional fields. Texts that W3C calls invalid are dropped. */
export function readTraceFields(from: ByteReader): TraceContext | undefined {
  const length = from.int();
  const end = from.position + length;
  let traceparent: string | undefined;
  let tracestate: string | undefined;
  while (from.position < end) {
    from.countItem();
    const field = from.int();
    if (field === TRACEPARENT) traceparent = from.text();
    else if (field === TRACESTATE) tracestate = from.text();
    else from.bytes();
  }
  if (from.position !== end) throw from.malformed('has an optional field that is longer than their list');
  return traceContextOf(traceparent, tracestate);
}

/** The same among other optional fields. */
export function traceFields(trace: TraceContext | undefined): OptionalField[] {
  if (trace === undefined) return [];
  const { traceparent, tracestate = '' } = trace;
  const parent = { number: TRACEPARENT, bytes: Buffer.from(traceparent) };
  return tracestate === '' ? [parent] : [parent, { number: TRACESTATE, bytes: Buffer.from(tracestate) }];
}

export function traceOfFields(fields: OptionalFields): TraceContext | undefined {
  return traceContextOf(readTextField(fields, TRACEPARENT), readTextField(fields, TRACESTATE));
}
