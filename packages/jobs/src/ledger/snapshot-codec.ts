import type { JobSpec } from '../job/job-spec.js';
import type { Payload } from '../job/payload.js';
import { LedgerCorruptError } from '../jobs-error.js';
import { ByteReader } from './byte-reader.js';
import { ByteWriter } from './byte-writer.js';
import { Job, type JobEnd, type JobState, Policy } from './job.js';
import type { KeyEntry } from './key-window.js';
import type { Ledger } from './ledger.js';
import { isLike, jobLike } from './likeness.js';
import { Producer } from './producer.js';
import { decodeFailure, encodeFailure } from './record-codec.js';

const VERSION = 2;
/** Its jobs are in chunks of a kind of their own, each of them whole. */
const VERSION_BEFORE = 1;
const STATES = ['queued', 'running', 'done', 'dead', 'cancelled'] as const satisfies readonly JobState[];
const CHUNK_BYTES = 256 * 1024;
/** Its kind. */
const CHUNK_HEAD_BYTES = 1;

/** What a chunk holds. Each can be read on its own, in the order in which they were written. */
const HEAD = 1;
const PRODUCERS = 2;
const KEYS = 3;
const WHOLE_JOBS = 4;
const JOBS = 5;

/** Stands before a job of such a chunk: how much of it follows. */
const WHOLE = 0;
/** It is like the last one before it that is done or cancelled, in everything but number, times and result (ADR 0134). */
const LIKE_LAST = 1;
/** And has the same result. */
const SAME_RESULT = 2;

/**
 * The whole ledger as chunks, canonical: equal ledgers give equal bytes. Every policy is kept, used or not: the leader that
 * wrote its record may refer to it in any later one, until it writes that it will not.
 */
export function* encodeSnapshot(ledger: Ledger): Generator<Uint8Array> {
  const out = new ByteWriter();
  out.byte(HEAD);
  encodeHead(ledger, out);
  encodePolicies(ledger, out);
  yield out.take();
  yield* chunks(PRODUCERS, ledger.producers.values(), encodeProducer, out);
  yield* chunks(KEYS, ledger.keys.entries(), encodeKey, out);
  yield* chunks(JOBS, ledger.jobs.values(), jobEncoder(), out);
}

function* chunks<T>(
  kind: number,
  values: Iterable<T>,
  encode: (value: T, out: ByteWriter) => void,
  out: ByteWriter,
): Generator<Uint8Array> {
  for (const value of values) {
    if (out.length === 0) out.byte(kind);
    encode(value, out);
    if (out.length >= CHUNK_BYTES) yield out.take();
  }
  if (out.length > 0) yield out.take();
}

/** Adds one chunk to a ledger that was empty before the first. */
export function loadChunk(ledger: Ledger, chunk: Uint8Array): void {
  const read = new ByteReader(chunk);
  const kind = read.byte();
  if (kind === HEAD) {
    decodeHead(ledger, read);
    decodePolicies(ledger, read);
    return;
  }
  const decode = decoderOf(kind);
  if (decode === undefined) throw new LedgerCorruptError(`a snapshot chunk of kind ${kind}`);
  while (!read.done) decode(ledger, read);
}

function decoderOf(kind: number): ((ledger: Ledger, read: ByteReader) => void) | undefined {
  switch (kind) {
    case PRODUCERS:
      return decodeProducer;
    case KEYS:
      return decodeKey;
    case WHOLE_JOBS:
      return decodeJob;
    case JOBS:
      return jobDecoder();
    default:
      return undefined;
  }
}

function encodeHead(ledger: Ledger, out: ByteWriter): void {
  out.byte(VERSION);
  out.text(ledger.tag);
  out.time(ledger.now);
  out.time(ledger.producerSweepAt);
  out.int(ledger.limits.resultsMax);
  out.int(ledger.limits.resultsBytesMax);
  out.int(ledger.limits.keyWindowMs);
  for (const count of [
    ledger.nextJob,
    ledger.nextPolicy,
    ledger.nextProducer,
    ledger.accepted,
    ledger.dropped,
  ]) {
    out.int(count);
  }
}

function decodeHead(ledger: Ledger, read: ByteReader): void {
  const version = read.byte();
  if (version !== VERSION && version !== VERSION_BEFORE)
    throw new LedgerCorruptError(`a snapshot of version ${version}, this program reads ${VERSION}`);
  ledger.tag = read.text();
  ledger.now = read.time();
  ledger.producerSweepAt = read.time();
  ledger.limits = { resultsMax: read.int(), resultsBytesMax: read.int(), keyWindowMs: read.int() };
  ledger.nextJob = read.int();
  ledger.nextPolicy = read.int();
  ledger.nextProducer = read.int();
  ledger.accepted = read.int();
  ledger.dropped = read.int();
}

function encodePolicies(ledger: Ledger, out: ByteWriter): void {
  out.int(ledger.policies.size);
  for (const policy of ledger.policies.values()) {
    out.int(policy.no);
    out.text(JSON.stringify(policy.spec));
  }
}

function decodePolicies(ledger: Ledger, read: ByteReader): void {
  for (let left = read.int(); left > 0; left -= 1) {
    const no = read.int();
    ledger.policies.set(no, new Policy(no, JSON.parse(read.text()) as JobSpec));
  }
}

function encodeProducer(producer: Producer, out: ByteWriter): void {
  out.int(producer.no);
  out.text(producer.client);
  out.text(producer.token);
  out.time(producer.lastAt);
  out.int(producer.low);
  const entries = [...producer.entries()];
  out.int(entries.length);
  for (const [seq, job] of entries) {
    out.int(seq);
    out.int(job);
  }
}

function decodeProducer(ledger: Ledger, read: ByteReader): void {
  const producer = new Producer(read.int(), read.text(), read.text(), read.time());
  producer.advance(read.int());
  for (let entries = read.int(); entries > 0; entries -= 1) {
    producer.taken(read.int(), read.int(), producer.low, producer.lastAt);
  }
  ledger.producers.set(producer.no, producer);
}

function encodeKey(entry: KeyEntry, out: ByteWriter): void {
  out.text(entry.key);
  out.int(entry.job);
  out.int(entry.hash);
  out.time(entry.expiresAt);
}

function decodeKey(ledger: Ledger, read: ByteReader): void {
  ledger.keys.add({ key: read.text(), job: read.int(), hash: read.int(), expiresAt: read.time() });
}

/** Of one snapshot. A chunk can be read on its own, so the first job of each is whole. */
function jobEncoder(): (job: Job, out: ByteWriter) => void {
  let last: Job | undefined;
  return (job, out) => {
    const model = out.length === CHUNK_HEAD_BYTES ? undefined : last;
    if (isOver(job)) last = job;
    if (model !== undefined && isLike(job, model)) return encodeLike(job, model, out);
    out.byte(WHOLE);
    encodeJob(job, out);
  };
}

/** Of one chunk. */
function jobDecoder(): (ledger: Ledger, read: ByteReader) => void {
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
  out.time(job.at);
  out.time(end.at);
  if (!isSame) encodeResult(end.result, out);
}

function decodeLike(ledger: Ledger, read: ByteReader, form: number, model: Job | undefined): Job {
  if (model?.end === undefined || (form !== LIKE_LAST && form !== SAME_RESULT))
    throw new LedgerCorruptError(`a job of form ${form} in a snapshot is like no other`);
  const no = model.no + read.int();
  const at = read.time();
  const endAt = read.time();
  const result = form === SAME_RESULT ? model.end.result : decodeResult(read);
  const job = jobLike(model, { no, at, endAt, result });
  admit(ledger, job);
  ledger.settle(job, job.end as JobEnd); // as its model
  return job;
}

function encodeJob(job: Job, out: ByteWriter): void {
  out.int(job.no);
  out.int(job.policy.no);
  out.byte(STATES.indexOf(job.state));
  out.text(job.client);
  out.time(job.at);
  out.text(job.key);
  out.time(job.dueAt);
  out.int(job.attempt);
  out.int(job.failures);
  out.int(job.crashes);
  out.text(job.worker);
  out.payload(job.payload);
  encodeFailure(job.failure, out);
  if (job.end !== undefined) encodeEnd(job.end, out);
}

function encodeEnd(end: JobEnd, out: ByteWriter): void {
  out.time(end.at);
  out.text(end.reason);
  encodeResult(end.result, out);
  encodeFailure(end.failure, out);
}

function encodeResult(result: Payload | undefined, out: ByteWriter): void {
  out.byte(result === undefined ? 0 : 1);
  if (result !== undefined) out.payload(result);
}

function decodeJob(ledger: Ledger, read: ByteReader): Job {
  const no = read.int();
  const policy = ledger.policies.get(read.int());
  const state = STATES[read.byte()];
  if (policy === undefined || state === undefined)
    throw new LedgerCorruptError(`job ${no} in a snapshot is damaged`);
  const client = read.text();
  const at = read.time();
  const key = read.text();
  const dueAt = read.time();
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

function decodeEnd(read: ByteReader): JobEnd {
  const at = read.time();
  const reason = read.text();
  const result = decodeResult(read);
  return { at, result, reason, failure: decodeFailure(read) };
}

function decodeResult(read: ByteReader): Payload | undefined {
  return read.byte() === 0 ? undefined : read.payload();
}
