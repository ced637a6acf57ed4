// Hot path: `encodeClient`, `readSubmit`, `encodeToClient` and their counterparts run for every batch of jobs.
import { ANY } from '../job/any-schema.js';
import { defineJob } from '../job/define-job.js';
import type { JobPolicy } from '../job/job-policy.js';
import type { Payload } from '../job/payload.js';
import { STORED_BYTES_MIN } from '../job/stored-payload.js';
import type { RefusalCode, SessionRefusalCode } from '../jobs-error.js';
import type {
  ClientHello,
  ClientMessage,
  JobOutcome,
  Receipt,
  SubmitItem,
  ToClient,
} from '../protocol/client-messages.js';
import { readAdminRequest } from './admin-codec.js';
import type { ByteReader } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';
import { FRAME_BYTES, JobFrame } from './job-frame-type.js';
import { MessageMalformedError } from './remote-error.js';
import { readFailure, readJson, readWord, writeFailure, writeWord } from './wire-words.js';

/** Where encoded frames go. It takes what stands in the writer and empties it. */
export type Emit = (type: number, out: ByteWriter) => void;

const WANTS_OUTCOME = 1;
const HAS_KEY = 2;
const HAS_DELAY = 4;
const DUPLICATE = 1;
const REFUSED = 2;
const HAS_RESULT = 1;
const HAS_REASON = 2;
const HAS_FAILURE = 4;
const STATES = ['done', 'dead', 'cancelled', 'unknown'] as const satisfies readonly JobOutcome['state'][];
export const SESSION_REFUSALS: readonly SessionRefusalCode[] = [
  'ERR_SESSION_MALFORMED',
  'ERR_SESSION_REPLACED',
  'ERR_PRODUCERS_FULL',
];

export function encodeClientHello(hello: ClientHello, out: ByteWriter, emit: Emit): void {
  out.text(hello.client);
  out.text(hello.token);
  emit(JobFrame.ClientHello, out);
}

export function readClientHello(from: ByteReader): ClientHello {
  return { client: from.text(), token: from.text() };
}

export function encodeClient(message: ClientMessage, out: ByteWriter, emit: Emit): void {
  switch (message.kind) {
    case 'submit':
      return encodeSubmits(message.low, message.items, out, emit);
    case 'submit_all':
      out.int(message.low);
      out.int(message.seq);
      for (const item of message.items) writeItem(out, item);
      return emit(JobFrame.SubmitAll, out);
    case 'define':
      out.int(message.ref);
      out.text(JSON.stringify(message.policy));
      return emit(JobFrame.Define, out);
    case 'await':
      for (const job of message.jobs) out.int(job);
      return emit(JobFrame.Await, out);
    case 'call':
      out.int(message.call);
      out.text(JSON.stringify(message.request));
      return emit(JobFrame.Call, out);
    case 'beat':
      return emit(JobFrame.Beat, out);
    case 'bye':
      return emit(JobFrame.Goodbye, out);
    default:
      return message satisfies never;
  }
}

/** The beginning of a Submit frame with one large payload, which fills the rest of it. */
export interface SubmitHead {
  readonly low: number;
  readonly item: SubmitItem;
  /** Where its payload begins, and how long it is said to be. */
  readonly at: number;
  readonly length: number;
}

/** Throws while too little of the frame is there. The payload of the item is empty. */
export function readSubmitHead(from: ByteReader): SubmitHead {
  const low = from.int();
  const item = readItemHead(from, from.int());
  const length = from.int();
  return { low, item, at: from.position, length };
}

/** Undefined for a type that no client sends. */
export function readClient(type: number, from: ByteReader): ClientMessage | undefined {
  switch (type) {
    case JobFrame.Submit: {
      const low = from.int();
      const items: SubmitItem[] = [];
      while (!from.done) items.push(readItem(from, from.int()));
      return { kind: 'submit', low, items };
    }
    case JobFrame.SubmitAll: {
      const low = from.int();
      const seq = from.int();
      const items: SubmitItem[] = [];
      while (!from.done) items.push(readItem(from, seq));
      return { kind: 'submit_all', low, seq, items };
    }
    case JobFrame.Define:
      return { kind: 'define', ref: from.int(), policy: readPolicy(from) };
    case JobFrame.Await: {
      const jobs: number[] = [];
      while (!from.done) jobs.push(from.int());
      return { kind: 'await', jobs };
    }
    case JobFrame.Call:
      return { kind: 'call', call: from.int(), request: readAdminRequest(readJson(from, 'request')) };
    case JobFrame.Beat:
      return { kind: 'beat' };
    case JobFrame.Goodbye:
      return { kind: 'bye' };
    default:
      return undefined;
  }
}

export function encodeToClient(message: ToClient, out: ByteWriter, emit: Emit): void {
  switch (message.kind) {
    case 'receipts':
      return encodeReceipts(message.items, out, emit);
    case 'outcomes':
      return encodeOutcomes(message.items, out, emit);
    case 'answer':
      out.int(message.call);
      out.text(JSON.stringify(message.answer));
      return emit(JobFrame.Answer, out);
    case 'welcome':
      out.text(message.tag);
      out.int(message.outstandingMax);
      out.int(message.payloadBytesMax);
      return emit(JobFrame.SessionWelcome, out);
    case 'refused':
      writeWord(out, SESSION_REFUSALS, message.code);
      out.text(message.problem);
      return emit(JobFrame.SessionRefused, out);
    case 'beat':
      return emit(JobFrame.Beat, out);
    default:
      return message satisfies never;
  }
}

/** Undefined for a type that no leader sends to a client. */
export function readToClient(type: number, from: ByteReader): ToClient | undefined {
  switch (type) {
    case JobFrame.Receipts: {
      const items: Receipt[] = [];
      while (!from.done) items.push(readReceipt(from));
      return { kind: 'receipts', items };
    }
    case JobFrame.Outcomes: {
      const items: JobOutcome[] = [];
      while (!from.done) items.push(readOutcome(from));
      return { kind: 'outcomes', items };
    }
    case JobFrame.Answer:
      // The leader is the one we trust with our jobs; its answers are taken by their type.
      return {
        kind: 'answer',
        call: from.int(),
        answer: readJson(from, 'answer') as unknown as (ToClient & { kind: 'answer' })['answer'],
      };
    case JobFrame.SessionWelcome:
      return {
        kind: 'welcome',
        tag: from.text(),
        outstandingMax: from.int(),
        payloadBytesMax: from.int(),
      };
    case JobFrame.SessionRefused:
      return { kind: 'refused', code: readWord(from, SESSION_REFUSALS, 'code'), problem: from.text() };
    case JobFrame.Beat:
      return { kind: 'beat' };
    default:
      return undefined;
  }
}

function encodeSubmits(low: number, items: readonly SubmitItem[], out: ByteWriter, emit: Emit): void {
  out.int(low);
  const start = out.length;
  for (const item of items) {
    // Alone in its frame the receiver can put it on the disk while it comes.
    if (item.payload.length >= STORED_BYTES_MIN && out.length > start) {
      emit(JobFrame.Submit, out);
      out.int(low);
    }
    out.int(item.seq);
    writeItem(out, item);
    if (out.length < FRAME_BYTES) continue;
    emit(JobFrame.Submit, out);
    out.int(low);
  }
  // Behind a frame that was cut there may be nothing left to say.
  if (out.length > start || items.length === 0) emit(JobFrame.Submit, out);
  else out.reset();
}

function writeItem(out: ByteWriter, item: SubmitItem): void {
  out.int(item.ref);
  const { key, delayMs } = item;
  const has = (key === '' ? 0 : HAS_KEY) | (delayMs === 0 ? 0 : HAS_DELAY);
  out.byte(has | (item.wantsOutcome ? WANTS_OUTCOME : 0));
  if (key !== '') out.text(key);
  if (delayMs !== 0) out.int(Math.ceil(delayMs));
  out.payload(item.payload);
}

function readItem(from: ByteReader, seq: number): SubmitItem {
  const item = readItemHead(from, seq);
  item.payload = from.payload();
  return item;
}

function readItemHead(from: ByteReader, seq: number): SubmitItem & { payload: Payload } {
  const ref = from.int();
  const flags = from.byte();
  const key = (flags & HAS_KEY) === 0 ? '' : from.text();
  const delayMs = (flags & HAS_DELAY) === 0 ? 0 : from.int();
  return { seq, ref, payload: '', key, delayMs, wantsOutcome: (flags & WANTS_OUTCOME) !== 0 };
}

function encodeReceipts(items: readonly Receipt[], out: ByteWriter, emit: Emit): void {
  for (const { seq, jobs, lsn, duplicate, refusal } of items) {
    out.int(seq);
    out.byte((duplicate ? DUPLICATE : 0) | (refusal === undefined ? 0 : REFUSED));
    out.int(lsn);
    out.int(jobs.length);
    for (const job of jobs) out.int(job);
    if (refusal !== undefined) {
      out.text(refusal.code);
      out.text(refusal.problem);
      out.int(refusal.retryAfterMs);
    }
    if (out.length >= FRAME_BYTES) emit(JobFrame.Receipts, out);
  }
  if (out.length > 0) emit(JobFrame.Receipts, out);
}

function readReceipt(from: ByteReader): Receipt {
  const seq = from.int();
  const flags = from.byte();
  const lsn = from.int();
  const count = from.int();
  const jobs: number[] = [];
  for (let i = 0; i < count; i += 1) jobs.push(from.int());
  const refusal =
    (flags & REFUSED) === 0
      ? undefined
      : // A code this version does not know is still a refusal with its text.
        { code: from.text() as RefusalCode, problem: from.text(), retryAfterMs: from.int() };
  return { seq, jobs, lsn, duplicate: (flags & DUPLICATE) !== 0, refusal };
}

function encodeOutcomes(items: readonly JobOutcome[], out: ByteWriter, emit: Emit): void {
  for (const { job, state, result, reason, failure } of items) {
    out.int(job);
    writeWord(out, STATES, state);
    const has = (result === undefined ? 0 : HAS_RESULT) | (reason === '' ? 0 : HAS_REASON);
    out.byte(has | (failure === undefined ? 0 : HAS_FAILURE));
    if (result !== undefined) out.payload(result);
    if (reason !== '') out.text(reason);
    if (failure !== undefined) writeFailure(out, failure);
    if (out.length >= FRAME_BYTES) emit(JobFrame.Outcomes, out);
  }
  if (out.length > 0) emit(JobFrame.Outcomes, out);
}

function readOutcome(from: ByteReader): JobOutcome {
  const job = from.int();
  const state = readWord(from, STATES, 'state');
  const flags = from.byte();
  const result = (flags & HAS_RESULT) === 0 ? undefined : from.payload();
  const reason = (flags & HAS_REASON) === 0 ? '' : from.text();
  const failure = (flags & HAS_FAILURE) === 0 ? undefined : readFailure(from);
  return { job, state, result, reason, failure };
}

/** Made again by `defineJob`, so that a policy from outside has passed every check that one from inside has. */
function readPolicy(from: ByteReader): JobPolicy {
  const { exec, ...options } = readJson(from, 'policy');
  if (typeof exec !== 'string') throw new MessageMalformedError('policy has no exec');
  try {
    return defineJob(exec, { ...options, input: ANY, output: ANY }).policy;
  } catch (cause) {
    throw new MessageMalformedError('policy is not one of a job definition', { cause });
  }
}
