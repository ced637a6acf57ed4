// Jobs in a snapshot. A job that is over and like the one before it says so (ADR 0134).

import type { ByteWriter } from '../bytes/byte-writer.js';
import type { Payload } from '../job/payload.js';
import { LedgerCorruptError } from '../jobs-error.js';
import { Job, type JobEnd, type JobState } from './job.js';
import { jobFromTemplate, sharesTemplate } from './job-template.js';
import type { Ledger } from './ledger.js';
import type { LedgerReader } from './ledger-reader.js';
import { decodeFailure, encodeFailure } from './record-codec.js';

const STATES = ['queued', 'running', 'done', 'dead', 'cancelled'] as const satisfies readonly JobState[];
/** A chunk with its kind and nothing else. */
const EMPTY_CHUNK_BYTES = 1;

/** Stands before a job: how much of it follows. */
const WHOLE = 0;
/** It is like the last one before it that is done or cancelled, in everything but number, times and result. */
const LIKE_LAST = 1;
/** And has the same result. */
const SAME_RESULT = 2;

/** Of one snapshot. A chunk can be read on its own, so the first job of each is whole. */
export function jobEncoder(): (job: Job, out: ByteWriter) => void {
  let last: Job | undefined;
  return (job, out) => {
    const model = out.length === EMPTY_CHUNK_BYTES ? undefined : last;
    if (isOver(job)) last = job;
    if (model !== undefined && sharesTemplate(job, model)) return encodeLike(job, model, out);
    out.byte(WHOLE);
    encodeJob(job, out);
  };
}

/** Of one chunk. */
export function jobDecoder(): (ledger: Ledger, read: LedgerReader) => void {
  let last: Job | undefined;
  return (ledger, read) => {
    const form = read.byte();
    const job = form === WHOLE ? decodeJob(ledger, read) : decodeLike(ledger, read, form, last);
    if (isOver(job)) last = job;
  };
}

/** For good: a job that is dead may be driven again. */
function isOver({ state }: Job): boolean {
  return state === 'done' || state === 'cancelled';
}

function encodeLike(job: Job, model: Job, out: ByteWriter): void {
  const end = job.end as JobEnd; // it is over
  const isSame = end.result === model.end?.result;
  out.byte(isSame ? SAME_RESULT : LIKE_LAST);
  out.int(job.no - model.no);
  out.double(job.at);
  out.double(end.at);
  if (!isSame) encodeResult(end.result, out);
}

function decodeLike(ledger: Ledger, read: LedgerReader, form: number, model: Job | undefined): Job {
  if (model?.end === undefined || (form !== LIKE_LAST && form !== SAME_RESULT))
    throw new LedgerCorruptError(`a job of form ${form} in a snapshot is like no other`);
  const no = model.no + read.int();
  const at = read.double();
  const endAt = read.double();
  const result = form === SAME_RESULT ? model.end.result : decodeResult(read);
  const job = jobFromTemplate(model, { no, at, endAt, result });
  admit(ledger, job);
  ledger.settle(job, job.end as JobEnd); // as its model
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

function decodeJob(ledger: Ledger, read: LedgerReader): Job {
  const no = read.int();
  const policy = ledger.policies.get(read.int());
  const state = STATES[read.byte()];
  if (policy === undefined || state === undefined)
    throw new LedgerCorruptError(`job ${no} in a snapshot is damaged`);
  const client = read.text();
  const at = read.double();
  const key = read.text();
  const dueAt = read.double();
  const counts = { attempt: read.int(), failures: read.int(), crashes: read.int(), worker: read.text() };
  const job = Object.assign(new Job(no, policy, client, at, key, read.anyPayload(), dueAt), counts);
  job.failure = decodeFailure(read);
  job.state = state;
  admit(ledger, job);
  if (state === 'queued' || state === 'running') ledger.liveBytes += job.payload.length;
  else ledger.settle(job, decodeEnd(read));
  return job;
}

function admit(ledger: Ledger, job: Job): void {
  ledger.jobs.add(job);
  job.policy.jobs += 1;
  ledger.counts[job.state] += 1;
}

function decodeEnd(read: LedgerReader): JobEnd {
  const at = read.double();
  const reason = read.text();
  const result = decodeResult(read);
  return { at, result, reason, failure: decodeFailure(read) };
}

function decodeResult(read: LedgerReader): Payload | undefined {
  return read.byte() === 0 ? undefined : read.payload();
}
