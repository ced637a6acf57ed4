// Hot path: the four records of a job's ordinary life are encoded without an intermediate object.

import type { ByteWriter } from '../../bytes/byte-writer.js';
import {
  HAS_FIELDS,
  type OptionalField,
  type OptionalFields,
  readTextField,
  textField,
} from '../../bytes/optional-fields.js';
import {
  hasSubmissionFields,
  readSubmissionFields,
  type SubmissionFields,
  writeSubmissionFields,
} from '../../bytes/submission-fields.js';
import type { JobPolicy } from '../../job/definition/job-policy.js';
import type { QueueLimits, QueueMode } from '../../job/queue-control.js';
import { type JobFailure, LedgerCorruptError } from '../../jobs-error.js';
import type { DeadReason, LedgerRecord, Submission } from '../ledger-record.js';
import type { LedgerLine } from '../lines/line-field.js';
import { parseLine, recordOfLine } from '../lines/record-line.js';
import { LedgerByteReader } from './ledger-byte-reader.js';
import {
  assertOptional,
  beginRecord,
  endRecord,
  FIRST_FRAMED,
  fieldsBehind,
  kindOf,
} from './record-frame.js';
import { KIND_OF, TYPES } from './record-kinds.js';
import { decodeFireFields, decodeScheduleFields, encodeScheduleFields } from './schedule-fields.js';
import {
  chunksOfCancel,
  readChunksOfCancel,
  readStreamEndFields,
  type StreamEndFields,
  streamEndFields,
} from './stream-end-fields.js';

/** The flags of a submission: the value is there. Bit 128: optional fields follow. */
const HAS_KEY = 2;
const HAS_DUE = 4;
/** The flags of a feed. */
const FINAL = 1;
/** The flag of `worker_quiet`. */
const QUIET = 1;

/** `{` */
const JSON_START = 0x7b;

/** A word is its index here. */
const MODES = ['open', 'paused', 'draining'] as const satisfies readonly QueueMode[];

/** Numbers of the optional fields of `cancel`, `redrive`, `purge` and the records of queues. */
const BY = 1;

export function encodeRecord(record: LedgerRecord, out: ByteWriter): void {
  const start = beginRecord(out, KIND_OF.get(record.type) as number, record.at, optionalFields(record));
  encodeFields(record, out);
  endRecord(out, start);
}

/** The optional fields of a record that has any. */
function optionalFields(record: LedgerRecord): OptionalField[] | undefined {
  switch (record.type) {
    case 'ack':
    case 'retry':
    case 'timeout_requeue':
    case 'worker_down_requeue':
    case 'release':
    case 'dlq':
      return streamEndFields(record);
    case 'cancel': {
      const fields = [...(textField(BY, record.by) ?? []), ...chunksOfCancel(record.chunks)];
      return fields.length === 0 ? undefined : fields;
    }
    case 'redrive':
    case 'purge':
    case 'queue_limits':
    case 'queue_mode':
    case 'schedule_set':
    case 'schedule_drop':
    case 'schedule_pause':
    case 'schedule_fire':
    case 'redrive_edited':
    case 'worker_quiet':
    case 'audit':
      return textField(BY, record.by);
    default:
      return undefined;
  }
}

function encodeFields(record: LedgerRecord, out: ByteWriter): void {
  switch (record.type) {
    case 'enqueue':
      out.int(record.producer);
      out.int(record.seq);
      out.int(record.low);
      return encodeSubmission(record, out);
    case 'assign':
      out.int(record.job);
      out.int(record.attempt);
      return out.text(record.worker);
    case 'ack':
      out.int(record.job);
      out.int(record.attempt);
      return out.payload(record.result);
    case 'enqueue_all':
      out.int(record.producer);
      out.int(record.seq);
      out.int(record.low);
      out.int(record.jobs.length);
      for (const job of record.jobs) encodeSubmission(job, out);
      return;
    case 'retry':
    case 'timeout_requeue':
    case 'worker_down_requeue':
    case 'release':
      out.int(record.job);
      out.int(record.attempt);
      out.double(record.dueAt);
      return encodeFailure(record.failure, out);
    case 'dlq':
      out.int(record.job);
      out.int(record.attempt);
      out.text(record.reason);
      return encodeFailure(record.failure, out);
    case 'cancel':
      out.int(record.job);
      return out.text(record.reason);
    case 'queue_limits':
      out.text(record.queue);
      return out.text(JSON.stringify(record.limits));
    case 'queue_mode':
      out.text(record.queue);
      return writeMode(record.mode, out);
    case 'redrive':
    case 'purge':
      out.int(record.jobs.length);
      for (const job of record.jobs) out.int(job);
      return;
    case 'policy_drop':
      out.int(record.policies.length);
      for (const policy of record.policies) out.int(policy);
      return;
    case 'producer_drop':
      out.int(record.producers.length);
      for (const producer of record.producers) out.int(producer);
      return;
    case 'spill_file':
      return out.int(record.file);
    case 'spill_drop':
      out.int(record.files.length);
      for (const file of record.files) out.int(file);
      return;
    case 'genesis':
      return out.text(record.tag);
    case 'policy':
      out.int(record.no);
      return out.text(JSON.stringify(record.policy));
    case 'producer':
      out.int(record.producer);
      out.text(record.client);
      return out.text(record.token);
    case 'limits':
      out.int(record.resultsMax);
      out.int(record.resultsBytesMax);
      return out.int(record.keyWindowMs);
    case 'feed':
      out.int(record.job);
      out.text(record.feeder);
      out.int(record.first);
      out.byte(record.final ? FINAL : 0);
      out.int(record.items.length);
      for (const item of record.items) out.payload(item);
      return;
    case 'feed_end':
    case 'expire':
      return out.int(record.job);
    case 'feed_drop':
      out.int(record.job);
      return out.int(record.below);
    case 'schedule_set':
    case 'schedule_drop':
    case 'schedule_pause':
    case 'schedule_fire':
      return encodeScheduleFields(record, out, encodeSubmission);
    case 'redrive_edited':
      out.int(record.job);
      return out.payload(record.payload);
    case 'worker_quiet':
      out.text(record.worker);
      return out.byte(record.quiet ? QUIET : 0);
    case 'audit':
      out.text(record.action);
      out.text(record.target);
      return out.text(record.detail);
    case 'key_release':
      out.int(record.keys.length);
      for (const key of record.keys) out.text(key);
      return;
    case 'tick':
      return;
    case 'state':
      return out.payload(record.chunk);
    default:
      return record satisfies never;
  }
}

/** An optional record that this version does not know: its first byte and its content, or its JSON text. */
export type SkippedRecord = { readonly head: number; readonly content: Uint8Array } | LedgerLine;

/**
 * Visits the records of one journal entry, which may be one record as JSON text. Optional ones that this
 * version does not know are skipped.
 */
export function decodeRecords(
  entry: Uint8Array,
  visit: (record: LedgerRecord) => void,
  skipped?: (record: SkippedRecord) => void,
): void {
  if (entry[0] === JSON_START) return decodeLine(entry, visit, skipped);
  const read = new LedgerByteReader(entry);
  while (!read.done) {
    const head = read.byte();
    const kind = kindOf(head);
    const type = TYPES[kind];
    if (kind >= FIRST_FRAMED) decodeFramed(type, head, read, visit, skipped);
    else if (type === undefined) throw new LedgerCorruptError(`record kind ${kind} is unknown`);
    else visit(decodeBody(type, head, read));
  }
}

function decodeLine(
  entry: Uint8Array,
  visit: (record: LedgerRecord) => void,
  skipped: ((record: SkippedRecord) => void) | undefined,
): void {
  const line = parseLine(Buffer.from(entry.buffer, entry.byteOffset, entry.byteLength).toString());
  const record = recordOfLine(line);
  if (record === undefined) skipped?.(line);
  else visit(record);
}

function decodeFramed(
  type: LedgerRecord['type'] | undefined,
  head: number,
  read: LedgerByteReader,
  visit: (record: LedgerRecord) => void,
  skipped: ((record: SkippedRecord) => void) | undefined,
): void {
  const bytes = read.length32();
  const end = read.position + bytes;
  if (type === undefined) {
    assertOptional(kindOf(head), 'record');
    const content = read.view(bytes);
    return skipped?.({ head, content });
  }
  const record = decodeBody(type, head, read);
  if (read.position !== end) throw read.malformed(`of type ${type} has another length than its fields`);
  visit(record);
}

function decodeBody(type: LedgerRecord['type'], head: number, read: LedgerByteReader): LedgerRecord {
  const at = read.double();
  return decodeFields(type, at, fieldsBehind(head, read), read);
}

function decodeFields(
  type: LedgerRecord['type'],
  at: number,
  fields: OptionalFields | undefined,
  read: LedgerByteReader,
): LedgerRecord {
  switch (type) {
    case 'enqueue': {
      const producer = read.int();
      const seq = read.int();
      const low = read.int();
      const job = read.int();
      const policy = read.int();
      const flags = read.byte();
      const key = (flags & HAS_KEY) === 0 ? '' : read.text();
      const dueAt = (flags & HAS_DUE) === 0 ? 0 : read.double();
      const more = (flags & HAS_FIELDS) === 0 ? undefined : readSubmissionFields(read);
      const payload = read.anyPayload();
      const record = { type, at, producer, seq, low, job, policy, dueAt, key, payload };
      return withSubmissionFields(record, more);
    }
    case 'assign':
      return { type, at, job: read.int(), attempt: read.int(), worker: read.text() };
    case 'ack':
      return withStreamEnd(
        { type, at, job: read.int(), attempt: read.int(), result: read.payload() },
        fields,
      );
    case 'enqueue_all': {
      const head = { producer: read.int(), seq: read.int(), low: read.int() };
      return { type, at, ...head, jobs: decodeMany(read, decodeSubmission) };
    }
    case 'retry':
    case 'timeout_requeue':
    case 'worker_down_requeue':
    case 'release': {
      const head = { job: read.int(), attempt: read.int(), dueAt: read.double() };
      return withStreamEnd({ type, at, ...head, failure: decodeFailure(read) }, fields);
    }
    case 'dlq': {
      const head = { job: read.int(), attempt: read.int(), reason: read.text() as DeadReason };
      return withStreamEnd({ type, at, ...head, failure: decodeFailure(read) }, fields);
    }
    case 'cancel':
      return withBy(
        { type, at, job: read.int(), reason: read.text(), ...readChunksOfCancel(fields) },
        fields,
      );
    case 'redrive':
    case 'purge':
      return withBy({ type, at, jobs: decodeMany(read, (one) => one.int()) }, fields);
    case 'queue_limits':
      return withBy({ type, at, queue: read.text(), limits: readLimits(read) }, fields);
    case 'queue_mode':
      return withBy({ type, at, queue: read.text(), mode: readMode(read) }, fields);
    case 'policy_drop':
      return { type, at, policies: decodeMany(read, (one) => one.int()) };
    case 'producer_drop':
      return { type, at, producers: decodeMany(read, (one) => one.int()) };
    case 'spill_file':
      return { type, at, file: read.int() };
    case 'spill_drop':
      return { type, at, files: decodeMany(read, (one) => one.int()) };
    case 'genesis':
      return { type, at, tag: read.text() };
    case 'policy':
      // This codec wrote the text from a JobPolicy; the checksums of the log guarantee the bytes.
      return { type, at, no: read.int(), policy: readPolicy(read) };
    case 'producer':
      return { type, at, producer: read.int(), client: read.text(), token: read.text() };
    case 'limits':
      return { type, at, resultsMax: read.int(), resultsBytesMax: read.int(), keyWindowMs: read.int() };
    case 'feed': {
      const head = { job: read.int(), feeder: read.text(), first: read.int() };
      const flags = read.byte();
      const items = decodeMany(read, (one) => one.payload());
      return { type, at, ...head, items, final: (flags & FINAL) !== 0 };
    }
    case 'feed_end':
    case 'expire':
      return { type, at, job: read.int() };
    case 'feed_drop':
      return { type, at, job: read.int(), below: read.int() };
    case 'schedule_set':
    case 'schedule_drop':
    case 'schedule_pause':
      return withBy(decodeScheduleFields(type, at, read), fields);
    case 'schedule_fire':
      return withBy(decodeFireFields(at, read, decodeSubmission), fields);
    case 'redrive_edited':
      return withBy({ type, at, job: read.int(), payload: read.payload() }, fields);
    case 'worker_quiet': {
      const worker = read.text();
      return withBy({ type, at, worker, quiet: (read.byte() & QUIET) !== 0 }, fields);
    }
    case 'audit':
      return withBy({ type, at, action: read.text(), target: read.text(), detail: read.text() }, fields);
    case 'key_release':
      return { type, at, keys: decodeMany(read, (one) => one.text()) };
    case 'tick':
      return { type, at };
    case 'state':
      return { type, at, chunk: read.bytes() };
    default:
      return type satisfies never;
  }
}

/** Most attempts do not stream, and their records are not copied. */
function withStreamEnd<T extends object>(record: T, fields: OptionalFields | undefined): T & StreamEndFields {
  return fields === undefined ? record : { ...record, ...readStreamEndFields(fields) };
}

/** A record without the field has no such property, so that equal records are equal in every form. */
function withBy<T extends object>(
  record: T,
  fields: OptionalFields | undefined,
): T & { readonly by?: string } {
  const by = readTextField(fields, BY);
  return by === undefined ? record : { ...record, by };
}

function encodeSubmission(job: Submission, out: ByteWriter): void {
  out.int(job.job);
  out.int(job.policy);
  const hasMore = hasSubmissionFields(job);
  const has = (job.key === '' ? 0 : HAS_KEY) | (job.dueAt === 0 ? 0 : HAS_DUE);
  out.byte(hasMore ? has | HAS_FIELDS : has);
  if (job.key !== '') out.text(job.key);
  if (job.dueAt !== 0) out.double(job.dueAt);
  if (hasMore) writeSubmissionFields(out, job);
  out.payload(job.payload);
}

/** Field by field: spreading an object costs more than reading all fields. */
function decodeSubmission(read: LedgerByteReader): Submission {
  const job = read.int();
  const policy = read.int();
  const flags = read.byte();
  const key = (flags & HAS_KEY) === 0 ? '' : read.text();
  const dueAt = (flags & HAS_DUE) === 0 ? 0 : read.double();
  const more = (flags & HAS_FIELDS) === 0 ? undefined : readSubmissionFields(read);
  return withSubmissionFields({ job, policy, dueAt, key, payload: read.anyPayload() }, more);
}

function withSubmissionFields<T extends object>(
  submission: T,
  fields: SubmissionFields | undefined,
): T & SubmissionFields {
  return fields === undefined ? submission : { ...submission, ...fields };
}

function decodeMany<T>(read: LedgerByteReader, one: (read: LedgerByteReader) => T): T[] {
  const count = read.int();
  const all: T[] = [];
  for (let i = 0; i < count; i += 1) all.push(one(read));
  return all;
}

export function encodeFailure(failure: JobFailure | undefined, out: ByteWriter): void {
  out.text(failure === undefined ? '' : JSON.stringify(failure));
}

/** A policy as it was stored; written by `encodeRecord` or a snapshot. */
export function readPolicy(read: LedgerByteReader): JobPolicy {
  return readObject(read.text(), 'a policy') as JobPolicy;
}

export function readLimits(read: LedgerByteReader): QueueLimits {
  return readObject(read.text(), 'limits of a queue') as QueueLimits;
}

export function readMode(read: LedgerByteReader): QueueMode {
  const mode = MODES[read.byte()];
  if (mode === undefined) throw new LedgerCorruptError('a queue has a mode that is unknown');
  return mode;
}

export function writeMode(mode: QueueMode, out: ByteWriter): void {
  out.byte(MODES.indexOf(mode));
}

function readObject(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LedgerCorruptError(`${what} is not JSON`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new LedgerCorruptError(`${what} is not an object`);
}

export function decodeFailure(read: LedgerByteReader): JobFailure | undefined {
  const text = read.text();
  return text === '' ? undefined : (readObject(text, 'a failure') as JobFailure);
}
