import { ByteWriter } from '../../bytes/byte-writer.js';
import {
  type OptionalField,
  type OptionalFields,
  readOptionalFields,
  readTextField,
  textField,
  writeOptionalFields,
} from '../../bytes/optional-fields.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import { LedgerCorruptError, LedgerVersionError } from '../../jobs-error.js';
import type { AuditEntry } from '../audit/audit-trail.js';
import type { Job } from '../jobs/job.js';
import { StoredPolicy } from '../jobs/stored-policy.js';
import type { KeyEntry } from '../key-window.js';
import type { Ledger } from '../ledger.js';
import { LEDGER_FORMAT } from '../ledger-format.js';
import { Producer } from '../producer.js';
import type { QueueControl } from '../queue-controls.js';
import { LedgerByteReader } from './ledger-byte-reader.js';
import { readLimits, readMode, readPolicy, writeMode } from './ledger-record-codec.js';
import { assertOptional, fieldsBehind, kindOf } from './record-frame.js';
import { decodeAttempts, encodeAttempts } from './snapshot-attempt-codec.js';
import { decodeFeedPart, encodeFeedPart, feedParts } from './snapshot-feed-codec.js';
import { jobDecoder, jobEncoder } from './snapshot-job-codec.js';
import {
  decodeEarlierRuns,
  decodeSchedule,
  encodeEarlierRuns,
  encodeSchedule,
} from './snapshot-schedule-codec.js';

const CHUNK_BYTES = 256 * 1024;

/**
 * The kind of a chunk, its first byte. Each chunk can be read on its own, in the order in which they were
 * written. A new kind is numbered as a new kind of record: from 32 on if a reader must know it, from 64 on if
 * it may be skipped. Bit 128: every item of the chunk begins with its optional fields.
 */
const HEAD = 1;
const PRODUCERS = 2;
const KEYS = 3;
const JOBS = 4;
const SPILL_FILES = 64;
const ATTEMPTS = 65;
const EARLIER_RUNS = 66;
/** Before the jobs, whose bytes they are part of. */
const FEEDS = 32;
const QUEUES = 33;
const SCHEDULES = 35;
const AUDIT = 36;
const TAGS = 37;
/** Optional field of the head: names of quiet workers, as JSON. */
const QUIET_WORKERS = 1;

/**
 * The whole ledger as chunks, canonical: equal ledgers give equal bytes. Every policy is kept, used or not:
 * the leader may refer to it in any later record, until it writes a `policy_drop`.
 */
export function* encodeSnapshot(ledger: Ledger, endsChunk?: (job: Job) => boolean): Generator<Uint8Array> {
  const out = new ByteWriter();
  out.byte(HEAD);
  encodeHead(ledger, out);
  encodePolicies(ledger, out);
  writeOptionalFields(out, quietWorkersField(ledger));
  yield out.take();
  yield* chunks(PRODUCERS, ledger.producers.values(), encodeProducer, out);
  yield* chunks(KEYS, ledger.keys.entries(), encodeKey, out);
  yield* chunks(AUDIT, ledger.audit.entries(), encodeAuditEntry, out);
  yield* chunks(TAGS, ledger.tags.entries(), encodeTags, out);
  yield* chunks(ATTEMPTS, ledger.attempts.entries(), encodeAttempts, out);
  yield* chunks(QUEUES, ledger.queueControls.values(), encodeQueue, out);
  yield* chunks(SCHEDULES, ledger.schedules.values(), encodeSchedule, out);
  yield* chunks(EARLIER_RUNS, ledger.earlierRuns.entries(), encodeEarlierRuns, out);
  yield* chunks(FEEDS, feedParts(ledger.feeds), encodeFeedPart, out);
  yield* chunks(JOBS, ledger.jobs.values(), jobEncoder(ledger), out, endsChunk);
  if (ledger.nextSpillFile > 1) yield encodeSpillFiles(ledger, out);
}

/** The same for records of a log, each of which names at most one stored payload: that of its last job. */
export function* encodeState(ledger: Ledger): Generator<StateChunk> {
  let stored: StoredPayload | undefined;
  const endsChunk = ({ payload }: Job): boolean => {
    if (payload instanceof StoredPayload) stored = payload;
    return stored !== undefined;
  };
  for (const chunk of encodeSnapshot(ledger, endsChunk)) {
    yield { chunk, stored };
    stored = undefined;
  }
}

export interface StateChunk {
  readonly chunk: Uint8Array;
  readonly stored: StoredPayload | undefined;
}

function* chunks<T>(
  kind: number,
  values: Iterable<T>,
  encode: (value: T, out: ByteWriter) => void,
  out: ByteWriter,
  endsChunk: (value: T) => boolean = () => false,
): Generator<Uint8Array> {
  for (const value of values) {
    if (out.length === 0) out.byte(kind);
    encode(value, out);
    // Called for every value: it may keep count of them.
    const ends = endsChunk(value);
    if (ends || out.length >= CHUNK_BYTES) yield out.take();
  }
  if (out.length > 0) yield out.take();
}

/** Adds one chunk to a ledger that was empty before the first. */
export function loadChunk(ledger: Ledger, chunk: Uint8Array): void {
  const read = new LedgerByteReader(chunk);
  const head = read.byte();
  const kind = kindOf(head);
  if (kind === HEAD) {
    decodeHead(ledger, read);
    decodePolicies(ledger, read);
    readQuietWorkers(ledger, readOptionalFields(read));
    return;
  }
  const decode = decoderOf(kind);
  if (decode === undefined) return assertOptional(kind, 'snapshot: chunk');
  while (!read.done) {
    fieldsBehind(head, read);
    decode(ledger, read);
  }
}

function decoderOf(kind: number): ((ledger: Ledger, read: LedgerByteReader) => void) | undefined {
  switch (kind) {
    case PRODUCERS:
      return decodeProducer;
    case KEYS:
      return decodeKey;
    case FEEDS:
      return decodeFeedPart;
    case QUEUES:
      return decodeQueue;
    case SCHEDULES:
      return decodeSchedule;
    case EARLIER_RUNS:
      return decodeEarlierRuns;
    case AUDIT:
      return decodeAuditEntry;
    case TAGS:
      return decodeTags;
    case ATTEMPTS:
      return decodeAttempts;
    case SPILL_FILES:
      return decodeSpillFiles;
    case JOBS:
      return jobDecoder();
    default:
      return undefined;
  }
}

function encodeHead(ledger: Ledger, out: ByteWriter): void {
  out.int(LEDGER_FORMAT.major);
  out.text(ledger.tag);
  out.double(ledger.now);
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

function decodeHead(ledger: Ledger, read: LedgerByteReader): void {
  const major = read.int();
  if (major !== LEDGER_FORMAT.major)
    throw new LedgerVersionError(
      `the snapshot has format ${major}, this version reads ${LEDGER_FORMAT.major}; start the version that wrote it`,
    );
  if (ledger.tag !== '') throw new LedgerCorruptError('a second head of a state');
  ledger.tag = read.text();
  ledger.now = read.double();
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
    out.text(JSON.stringify(policy));
  }
}

function decodePolicies(ledger: Ledger, read: LedgerByteReader): void {
  for (let left = read.int(); left > 0; left -= 1) {
    const no = read.int();
    ledger.policies.set(no, new StoredPolicy(no, readPolicy(read)));
  }
}

/** A bound on the bytes of the files bounds their number. */
function encodeSpillFiles(ledger: Ledger, out: ByteWriter): Uint8Array {
  out.byte(SPILL_FILES);
  out.int(ledger.nextSpillFile);
  for (const file of ledger.spillFiles) out.int(file);
  return out.take();
}

function decodeSpillFiles(ledger: Ledger, read: LedgerByteReader): void {
  ledger.nextSpillFile = read.int();
  while (!read.done) ledger.spillFiles.add(read.int());
}

function quietWorkersField({ quietWorkers }: Ledger): OptionalField[] {
  const names = quietWorkers.size === 0 ? undefined : JSON.stringify([...quietWorkers]);
  return textField(QUIET_WORKERS, names) ?? [];
}

function readQuietWorkers(ledger: Ledger, fields: OptionalFields): void {
  const names = JSON.parse(readTextField(fields, QUIET_WORKERS) ?? '[]') as string[]; // written above
  for (const name of names) ledger.quietWorkers.add(name);
}

function encodeAuditEntry({ no, at, by, action, target, detail }: AuditEntry, out: ByteWriter): void {
  out.int(no);
  out.double(at);
  for (const text of [by, action, target, detail]) out.text(text);
}

function decodeAuditEntry({ audit }: Ledger, read: LedgerByteReader): void {
  const [no, at] = [read.int(), read.double()];
  audit.restore({ no, at, by: read.text(), action: read.text(), target: read.text(), detail: read.text() });
}

function encodeTags([job, tags]: readonly [number, readonly string[]], out: ByteWriter): void {
  out.int(job);
  out.int(tags.length);
  for (const tag of tags) out.text(tag);
}

function decodeTags(ledger: Ledger, read: LedgerByteReader): void {
  const job = read.int();
  const tags: string[] = [];
  for (let left = read.int(); left > 0; left -= 1) tags.push(read.text());
  ledger.tags.set(job, tags);
}

function encodeProducer(producer: Producer, out: ByteWriter): void {
  out.int(producer.no);
  out.text(producer.client);
  out.text(producer.token);
  out.double(producer.lastAt);
  out.int(producer.low);
  const entries = producer.entries();
  out.int(entries.length);
  for (const [seq, job] of entries) {
    out.int(seq);
    out.int(job);
  }
}

function decodeProducer(ledger: Ledger, read: LedgerByteReader): void {
  const producer = new Producer(read.int(), read.text(), read.text(), read.double());
  producer.advance(read.int());
  for (let entries = read.int(); entries > 0; entries -= 1) {
    producer.addSubmit(read.int(), read.int(), producer.low, producer.lastAt);
  }
  ledger.producers.add(producer);
}

function encodeQueue({ queue, mode, limits, changedAt, by }: QueueControl, out: ByteWriter): void {
  out.text(queue);
  writeMode(mode, out);
  out.text(JSON.stringify(limits));
  out.double(changedAt);
  out.text(by);
}

function decodeQueue(ledger: Ledger, read: LedgerByteReader): void {
  const [queue, mode, limits] = [read.text(), readMode(read), readLimits(read)];
  ledger.queueControls.set({ queue, mode, limits, changedAt: read.double(), by: read.text() });
}

function encodeKey(entry: KeyEntry, out: ByteWriter): void {
  out.text(entry.key);
  out.int(entry.job);
  out.int(entry.hash);
  out.double(entry.expiresAt);
}

function decodeKey(ledger: Ledger, read: LedgerByteReader): void {
  ledger.keys.add({ key: read.text(), job: read.int(), hash: read.int(), expiresAt: read.double() });
}
