// Jobs in a snapshot. A done or cancelled job that shares its template with the one before it is written
// short (ADR 0417).

import type { ByteWriter } from '../../bytes/byte-writer.js';
import {
  HAS_FIELDS,
  type OptionalField,
  type OptionalFields,
  readOptionalFields,
  readTextField,
  readTimeField,
  textField,
  timeField,
  writeOptionalFields,
} from '../../bytes/optional-fields.js';
import { traceFields, traceOfFields } from '../../bytes/trace-fields.js';
import type { Payload } from '../../job/payload/payload.js';
import { LedgerCorruptError } from '../../jobs-error.js';
import { jobFromTemplate, sharesTemplate } from '../jobs/ended-job-template.js';
import { Job, type JobEnd, type JobState } from '../jobs/job.js';
import type { Ledger } from '../ledger.js';
import type { LedgerByteReader } from './ledger-byte-reader.js';
import { decodeFailure, encodeFailure } from './ledger-record-codec.js';
import { kindOf } from './record-frame.js';
import { jobFields, readJobFields, type StreamEndFields } from './stream-end-fields.js';

const STATES = ['queued', 'running', 'done', 'dead', 'cancelled'] as const satisfies readonly JobState[];
/** The size of a chunk that has its kind and no job. */
const EMPTY_CHUNK_BYTES = 1;

/** The form of a job, in its first byte. Bit 128: its optional fields follow. */
const WHOLE = 0;
/**
 * Number, times and result; the other fields are those of the last done or cancelled job before it, its
 * template.
 */
const FROM_TEMPLATE = 1;
/** The same without the result, which is the template's too. */
const SAME_RESULT = 2;

/** Numbers of optional fields, beside those of traces and streams. */
const ORDER_KEY = 5;
const STARTED_AT = 6;
const REDRIVEN_AT = 7;

/** The encoder of one snapshot. A chunk can be read on its own, so its first job is whole. */
export function jobEncoder(
  ledger: Pick<Ledger, 'redrivenAt' | 'traceOf'>,
): (job: Job, out: ByteWriter) => void {
  let last: Job | undefined;
  return (job, out) => {
    const template = out.length === EMPTY_CHUNK_BYTES ? undefined : last;
    if (isFinal(job)) last = job;
    if (template !== undefined && sharesTemplate(job, template))
      return encodeFromTemplate(job, template, out);
    const orderKey = textField(ORDER_KEY, job.orderKey === '' ? undefined : job.orderKey) ?? [];
    const fields = [
      ...traceFields(ledger.traceOf(job.no)),
      ...jobFields(job),
      ...orderKey,
      ...timesOf(ledger, job),
    ];
    out.byte(fields.length === 0 ? WHOLE : WHOLE | HAS_FIELDS);
    if (fields.length > 0) writeOptionalFields(out, fields);
    encodeJob(job, out);
  };
}

/** The decoder of one chunk. */
export function jobDecoder(): (ledger: Ledger, read: LedgerByteReader) => void {
  let last: Job | undefined;
  return (ledger, read) => {
    const head = read.byte();
    const form = kindOf(head);
    const fields = (head & HAS_FIELDS) === 0 ? undefined : readOptionalFields(read);
    const trace = fields && traceOfFields(fields);
    const job =
      form === WHOLE
        ? decodeJob(ledger, read, readJobFields(fields))
        : decodeFromTemplate(ledger, read, form, last);
    if (trace !== undefined) ledger.traces.set(job.no, trace);
    if (fields !== undefined) readOwnFields(ledger, job, fields);
    if (isFinal(job)) last = job;
  };
}

function timesOf({ redrivenAt }: Pick<Ledger, 'redrivenAt'>, { no, assignment }: Job): OptionalField[] {
  const { startedAt = 0 } = assignment ?? {};
  return [
    ...(timeField(STARTED_AT, startedAt === 0 ? undefined : startedAt) ?? []),
    ...(timeField(REDRIVEN_AT, redrivenAt.get(no)) ?? []),
  ];
}

function readOwnFields(ledger: Ledger, job: Job, fields: OptionalFields): void {
  job.orderKey = readTextField(fields, ORDER_KEY) ?? '';
  const redrivenAt = readTimeField(fields, REDRIVEN_AT);
  if (redrivenAt !== undefined) ledger.redrivenAt.set(job.no, redrivenAt);
  const startedAt = readTimeField(fields, STARTED_AT);
  if (startedAt !== undefined && job.assignment !== undefined)
    job.assignment = { ...job.assignment, startedAt };
}

function isLive({ state }: Job): boolean {
  return state === 'queued' || state === 'running';
}

/** Ended for good: a dead job may be redriven. */
function isFinal({ state }: Job): boolean {
  return state === 'done' || state === 'cancelled';
}

function encodeFromTemplate(job: Job, template: Job, out: ByteWriter): void {
  const end = job.end as JobEnd; // it has ended
  const isSame = end.result === template.end?.result;
  out.byte(isSame ? SAME_RESULT : FROM_TEMPLATE);
  out.int(job.no - template.no);
  out.double(job.at);
  out.double(end.at);
  if (!isSame) encodeResult(end.result, out);
}

function decodeFromTemplate(
  ledger: Ledger,
  read: LedgerByteReader,
  form: number,
  template: Job | undefined,
): Job {
  if (template?.end === undefined || (form !== FROM_TEMPLATE && form !== SAME_RESULT))
    throw new LedgerCorruptError(`snapshot: job form ${form} has no preceding template`);
  const no = template.no + read.int();
  const at = read.double();
  const endAt = read.double();
  const result = form === SAME_RESULT ? template.end.result : decodeResult(read);
  const job = jobFromTemplate(template, { no, at, endAt, result });
  ledger.restore(job, job.end as JobEnd); // it has ended, as its template
  return job;
}

function encodeJob(job: Job, out: ByteWriter): void {
  out.int(job.no);
  out.int(job.policy.no);
  out.byte(STATES.indexOf(job.state));
  out.text(job.client);
  out.double(job.at);
  out.text(job.key);
  out.double(job.dueAt);
  out.int(job.attempt);
  out.int(job.failures);
  out.int(job.crashes);
  out.text(job.worker);
  out.payload(job.payload);
  encodeFailure(job.failure, out);
  if (job.end !== undefined) encodeEnd(job.end, out);
}

function encodeEnd(end: JobEnd, out: ByteWriter): void {
  out.double(end.at);
  out.text(end.reason);
  encodeResult(end.result, out);
  encodeFailure(end.failure, out);
}

function encodeResult(result: Payload | undefined, out: ByteWriter): void {
  out.byte(result === undefined ? 0 : 1);
  if (result !== undefined) out.payload(result);
}

function decodeJob(ledger: Ledger, read: LedgerByteReader, { chunks, metadata }: StreamEndFields): Job {
  const no = read.int();
  const policy = ledger.policies.get(read.int());
  const state = STATES[read.byte()];
  if (policy === undefined || state === undefined)
    throw new LedgerCorruptError(`snapshot: job ${no} is damaged`);
  const client = read.text();
  const at = read.double();
  const key = read.text();
  const dueAt = read.double();
  const counts = { attempt: read.int(), failures: read.int(), crashes: read.int() };
  const worker = read.text();
  const job = Object.assign(new Job(no, policy, client, at, key, read.anyPayload(), dueAt), counts);
  if (worker !== '') job.assignment = { worker, startedAt: 0 };
  job.failure = decodeFailure(read);
  job.chunks = chunks;
  job.state = state;
  ledger.restore(job, isLive(job) ? undefined : decodeEnd(read, metadata));
  return job;
}

function decodeEnd(read: LedgerByteReader, metadata: string | undefined): JobEnd {
  const at = read.double();
  const reason = read.text();
  const result = decodeResult(read);
  const end = { at, result, reason, failure: decodeFailure(read) };
  return metadata === undefined ? end : { ...end, metadata };
}

function decodeResult(read: LedgerByteReader): Payload | undefined {
  return read.byte() === 0 ? undefined : read.payload();
}
