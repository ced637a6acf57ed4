// Hot path: once per job that has one of these fields.
import { type TraceContext, traceContextOf } from '../job/trace-context.js';
import type { ByteReader } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';
import { writeOptionalFields } from './optional-fields.js';
import { TRACEPARENT, TRACESTATE, traceFields, writeTraceFields } from './trace-fields.js';

/** The optional fields of a submission, in a message and in a record. An absent one has no property. */
export interface SubmissionFields {
  readonly trace?: TraceContext | undefined;
  readonly orderKey?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Of a message: when it may run, by the wall clock. */
  readonly runAt?: number | undefined;
  /** Its key is kept until it is released. */
  readonly holdsKey?: boolean | undefined;
}

const ORDER_KEY = 3;
const TAGS = 10;
const RUN_AT = 11;
/** Without bytes. */
const HOLDS_KEY = 12;
const NO_BYTES = new Uint8Array(0);
/** No tag has one. */
const TAG_SEPARATOR = '\n';

export function hasSubmissionFields({ trace, orderKey, tags, runAt, holdsKey }: SubmissionFields): boolean {
  const isTimed = runAt !== undefined || holdsKey === true;
  return trace !== undefined || orderKey !== undefined || tags !== undefined || isTimed;
}

export function writeSubmissionFields(out: ByteWriter, fields: SubmissionFields): void {
  const { trace, orderKey, tags, runAt, holdsKey } = fields;
  const isTraceOnly =
    orderKey === undefined && tags === undefined && runAt === undefined && holdsKey !== true;
  if (isTraceOnly) {
    if (trace !== undefined) writeTraceFields(out, trace);
    return;
  }
  const all = traceFields(trace);
  if (orderKey !== undefined) all.push({ number: ORDER_KEY, bytes: Buffer.from(orderKey) });
  if (tags !== undefined) all.push({ number: TAGS, bytes: Buffer.from(tags.join(TAG_SEPARATOR)) });
  if (runAt !== undefined) all.push({ number: RUN_AT, bytes: Buffer.from(String(runAt)) });
  if (holdsKey === true) all.push({ number: HOLDS_KEY, bytes: NO_BYTES });
  writeOptionalFields(out, all);
}

/** Reads these and skips other optional fields. */
export function readSubmissionFields(from: ByteReader): SubmissionFields {
  const length = from.int();
  const end = from.position + length;
  let traceparent: string | undefined;
  let tracestate: string | undefined;
  let orderKey: string | undefined;
  let tags: readonly string[] | undefined;
  let runAt: number | undefined;
  let holdsKey = false;
  while (from.position < end) {
    from.countItem();
    const field = from.int();
    if (field === TRACEPARENT) traceparent = from.text();
    else if (field === TRACESTATE) tracestate = from.text();
    else if (field === ORDER_KEY) orderKey = from.text();
    else if (field === TAGS) tags = from.text().split(TAG_SEPARATOR);
    else if (field === RUN_AT) runAt = Number(from.text());
    else {
      holdsKey ||= field === HOLDS_KEY;
      from.bytes();
    }
  }
  if (from.position !== end) throw from.malformed('has an optional field that is longer than their list');
  const trace = traceContextOf(traceparent, tracestate);
  return {
    ...(trace === undefined ? {} : { trace }),
    ...(orderKey === undefined ? {} : { orderKey }),
    ...(tags === undefined ? {} : { tags }),
    ...(runAt === undefined ? {} : { runAt }),
    ...(holdsKey ? { holdsKey } : {}),
  };
}
