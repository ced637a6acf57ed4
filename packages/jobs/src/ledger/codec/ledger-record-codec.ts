// Hot path: the four records of a job's ordinary life are encoded without an intermediate object.

import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { JobPolicy } from '../../job/job-policy.js';
import { type JobFailure, LedgerCorruptError } from '../../jobs-error.js';
import type { DeadReason, LedgerRecord, Submission } from '../ledger-record.js';
import { LedgerByteReader } from './ledger-byte-reader.js';

/** The type of a record is its first byte: the index here, from 1. */
const TYPES = [
  'genesis',
  'policy',
  'producer',
  'enqueue',
  'enqueue_all',
  'assign',
  'ack',
  'retry',
  'timeout_requeue',
  'worker_down_requeue',
  'release',
  'dlq',
  'cancel',
  'redrive',
  'purge',
  'tick',
  'limits',
  'policy_drop',
  'producer_drop',
] as const satisfies readonly LedgerRecord['type'][];
const NUMBERS = new Map<string, number>(TYPES.map((type, index) => [type, index + 1]));

export function encodeRecord(record: LedgerRecord, out: ByteWriter): void {
  out.byte(NUMBERS.get(record.type) as number);
  out.double(record.at);
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
    case 'tick':
      return;
    default:
      return record satisfies never;
  }
}

/**
 * Visits the records of one journal entry. They follow each other without a length; each ends with its last
 * field.
 */
export function decodeRecords(entry: Uint8Array, visit: (record: LedgerRecord) => void): void {
  const read = new LedgerByteReader(entry);
  while (!read.done) {
    const number = read.byte();
    const type = TYPES[number - 1];
    if (type === undefined) throw new LedgerCorruptError(`record type ${number} is unknown`);
    visit(decodeFields(type, read.double(), read));
  }
}

function decodeFields(type: (typeof TYPES)[number], at: number, read: LedgerByteReader): LedgerRecord {
  switch (type) {
    case 'enqueue': {
      const producer = read.int();
      const seq = read.int();
      const low = read.int();
      const job = read.int();
      const policy = read.int();
      const dueAt = read.double();
      const key = read.text();
      return { type, at, producer, seq, low, job, policy, dueAt, key, payload: read.anyPayload() };
    }
    case 'assign':
      return { type, at, job: read.int(), attempt: read.int(), worker: read.text() };
    case 'ack':
      return { type, at, job: read.int(), attempt: read.int(), result: read.payload() };
    case 'enqueue_all': {
      const head = { producer: read.int(), seq: read.int(), low: read.int() };
      return { type, at, ...head, jobs: decodeMany(read, decodeSubmission) };
    }
    case 'retry':
    case 'timeout_requeue':
    case 'worker_down_requeue':
    case 'release': {
      const head = { job: read.int(), attempt: read.int(), dueAt: read.double() };
      return { type, at, ...head, failure: decodeFailure(read) };
    }
    case 'dlq': {
      const head = { job: read.int(), attempt: read.int(), reason: read.text() as DeadReason };
      return { type, at, ...head, failure: decodeFailure(read) };
    }
    case 'cancel':
      return { type, at, job: read.int(), reason: read.text() };
    case 'redrive':
    case 'purge':
      return { type, at, jobs: decodeMany(read, (one) => one.int()) };
    case 'policy_drop':
      return { type, at, policies: decodeMany(read, (one) => one.int()) };
    case 'producer_drop':
      return { type, at, producers: decodeMany(read, (one) => one.int()) };
    case 'genesis':
      return { type, at, tag: read.text() };
    case 'policy':
      // This codec wrote the text from a JobPolicy; the checksums of the log guarantee the bytes.
      return { type, at, no: read.int(), policy: readPolicy(read) };
    case 'producer':
      return { type, at, producer: read.int(), client: read.text(), token: read.text() };
    case 'limits':
      return { type, at, resultsMax: read.int(), resultsBytesMax: read.int(), keyWindowMs: read.int() };
    case 'tick':
      return { type, at };
    default:
      return type satisfies never;
  }
}

function encodeSubmission(job: Submission, out: ByteWriter): void {
  out.int(job.job);
  out.int(job.policy);
  out.double(job.dueAt);
  out.text(job.key);
  out.payload(job.payload);
}

/** Field by field: spreading an object costs more than reading all fields. */
function decodeSubmission(read: LedgerByteReader): Submission {
  const job = read.int();
  const policy = read.int();
  const dueAt = read.double();
  const key = read.text();
  return { job, policy, dueAt, key, payload: read.anyPayload() };
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
