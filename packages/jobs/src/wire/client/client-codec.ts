// Hot path: `encodeClient`, `readSubmit`, `encodeToClient` and their counterparts run for every batch of
// jobs.

import type { ByteWriter } from '../../bytes/byte-writer.js';
import {
  HAS_FIELDS,
  type OptionalField,
  readOptionalFields,
  readTextField,
  skipOptionalFields,
  textField,
  writeOptionalFields,
} from '../../bytes/optional-fields.js';
import {
  hasSubmissionFields,
  readSubmissionFields,
  writeSubmissionFields,
} from '../../bytes/submission-fields.js';
import type { JobPolicy } from '../../job/definition/job-policy.js';
import type { Payload } from '../../job/payload/payload.js';
import { STORED_BYTES_MIN } from '../../job/payload/stored-payload.js';
import type { RefusalCode } from '../../jobs-error.js';
import { MessageMalformedError } from '../../jobs-error.js';
import type {
  ClientHello,
  ClientMessage,
  DurabilityLevel,
  JobOutcome,
  Receipt,
  SubmitItem,
  ToClient,
  UnsupportedPolicy,
} from '../../protocol/client/client-messages.js';
import {
  encodeCloseFeed,
  encodeFeed,
  encodeFeedStates,
  encodeOpenFeed,
  readCloseFeed,
  readFeed,
  readFeedStates,
  readOpenFeed,
} from '../feed-codec.js';
import { fieldOf, readField } from '../field-values.js';
import { FRAME_BYTES, JobFrameType } from '../job-frame-type.js';
import {
  type Emit,
  encodeSessionMessage,
  readOffer,
  readSessionMessage,
  writeOffer,
} from '../session-codec.js';
import {
  encodeReadStream,
  encodeStopStream,
  encodeStreamConsumed,
  encodeStreamItems,
  readReadStream,
  readStopStream,
  readStreamConsumed,
  readStreamItems,
} from '../stream-codec.js';
import { parseObject, readFailure, readWord, writeFailure, writeWord } from '../wire-fields.js';
import type { WireReader } from '../wire-reader.js';
import { readAdminRequest } from './admin-codec.js';
import { readPolicyObject } from './policy-object.js';

const WANTS_OUTCOME = 1;
const HAS_KEY = 2;
const HAS_DELAY = 4;
const DUPLICATE = 1;
const REFUSED = 2;
const HAS_RESULT = 1;
const HAS_REASON = 2;
const HAS_FAILURE = 4;
/** Optional field of the welcome. */
const LEVEL_FIELD = 1;
const LEVELS = ['memory', 'fsync', 'replicated'] as const satisfies readonly DurabilityLevel[];
/** An optional field of an outcome. */
const METADATA = 1;
const STATES = ['done', 'dead', 'cancelled', 'unknown'] as const satisfies readonly JobOutcome['state'][];

export function encodeClientHello(hello: ClientHello, out: ByteWriter, emit: Emit): void {
  writeOffer(out, hello);
  out.text(hello.client);
  out.text(hello.token);
  writeOptionalFields(out, []);
  emit(JobFrameType.ClientHello, out);
}

export function readClientHello(from: WireReader): ClientHello {
  const offer = readOffer(from);
  const client = from.text();
  const token = from.text();
  skipOptionalFields(from);
  return { ...offer, client, token };
}

export function encodeClient(message: ClientMessage, out: ByteWriter, emit: Emit): void {
  switch (message.kind) {
    case 'submit':
      return encodeSubmits(message.low, message.items, out, emit);
    case 'submit_all':
      out.int(message.low);
      out.int(message.seq);
      for (const item of message.items) writeItem(out, item);
      return emit(JobFrameType.SubmitAll, out);
    case 'define':
      out.int(message.ref);
      out.text(JSON.stringify(message.policy));
      return emit(JobFrameType.Define, out);
    case 'await':
      return encodeAwait(message.jobs, out, emit);
    case 'call':
      out.int(message.call);
      out.text(JSON.stringify(message.request));
      return emit(JobFrameType.Call, out);
    case 'read_stream':
      return encodeReadStream(message, out, emit);
    case 'stream_consumed':
      return encodeStreamConsumed(message.items, out, emit);
    case 'stop_stream':
      return encodeStopStream(message.reader, out, emit);
    case 'open_feed':
      return encodeOpenFeed(message, out, emit);
    case 'feed':
      return encodeFeed(message, out, emit);
    case 'close_feed':
      return encodeCloseFeed(message.feed, out, emit);
    case 'heartbeat':
      return emit(JobFrameType.Heartbeat, out);
    case 'close':
      return emit(JobFrameType.Close, out);
    default:
      return message satisfies never;
  }
}

/** The beginning of a Submit frame with one large payload, which fills the rest of it. */
export interface SubmitHead {
  readonly low: number;
  /** Its payload is empty. */
  readonly item: SubmitItem;
  /** Offset and declared length of the payload. */
  readonly at: number;
  readonly length: number;
}

/** A frame of which so much is here has its whole head here, unless the key is too long to be valid. */
export const SUBMIT_HEAD_BYTES_MAX = 4 * 1024;
/** The delay and the lengths of the optional fields and the payload. */
const BEHIND_KEY_BYTES_MAX = 24;
const BEHIND_FIELDS_BYTES_MAX = 8;

/**
 * The head of a frame of which {@link SUBMIT_HEAD_BYTES_MAX} bytes are here. Undefined if it does not fit
 * into them.
 */
export function readSubmitHead(from: WireReader): SubmitHead | undefined {
  const low = from.int();
  const seq = from.int();
  const ref = from.int();
  const flags = from.byte();
  if ((flags & HAS_KEY) !== 0 && !from.hasSpan(BEHIND_KEY_BYTES_MAX)) return undefined;
  const item = readItemOptions(from, seq, ref, flags);
  if ((flags & HAS_FIELDS) !== 0) {
    if (!from.hasSpan(BEHIND_FIELDS_BYTES_MAX)) return undefined;
    readItemFields(from, item);
  }
  const length = from.int();
  return { low, item, at: from.position, length };
}

/** A call that this leader does not know, or cannot read: it is answered at once. */
export interface UnsupportedCall {
  readonly kind: 'unsupported';
  readonly call: number;
  readonly problem: string;
}

/** Undefined for a type that no client sends. */
export function readClient(type: number, from: WireReader): ClientMessage | UnsupportedCall | undefined {
  switch (type) {
    case JobFrameType.Submit: {
      const low = from.int();
      const items: SubmitItem[] = [];
      while (from.nextItem()) items.push(readItem(from, from.int()));
      return { kind: 'submit', low, items };
    }
    case JobFrameType.SubmitAll: {
      const low = from.int();
      const seq = from.int();
      const items: SubmitItem[] = [];
      while (from.nextItem()) items.push(readItem(from, seq));
      return { kind: 'submit_all', low, seq, items };
    }
    case JobFrameType.Define:
      return { kind: 'define', ref: from.int(), policy: readPolicy(from) };
    case JobFrameType.Await: {
      const jobs: number[] = [];
      while (from.nextItem()) jobs.push(from.int());
      return { kind: 'await', jobs };
    }
    case JobFrameType.Call:
      return readCall(from);
    case JobFrameType.ReadStream:
      return { kind: 'read_stream', ...readReadStream(from) };
    case JobFrameType.StreamConsumed:
      return { kind: 'stream_consumed', items: readStreamConsumed(from) };
    case JobFrameType.StopStream:
      return { kind: 'stop_stream', reader: readStopStream(from) };
    case JobFrameType.OpenFeed:
      return { kind: 'open_feed', ...readOpenFeed(from) };
    case JobFrameType.Feed:
      return { kind: 'feed', ...readFeed(from) };
    case JobFrameType.CloseFeed:
      return { kind: 'close_feed', feed: readCloseFeed(from) };
    case JobFrameType.Heartbeat:
      return { kind: 'heartbeat' };
    case JobFrameType.Close:
      return { kind: 'close' };
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
    case 'stream_items':
      return encodeStreamItems(message, out, emit, OUTCOME_CODEC);
    case 'feed_states':
      return encodeFeedStates(message.items, out, emit);
    case 'answer':
      out.int(message.call);
      out.text(JSON.stringify(message.answer));
      return emit(JobFrameType.Answer, out);
    case 'welcome':
      writeOffer(out, message);
      out.text(message.tag);
      out.int(message.outstandingMax);
      out.int(message.payloadBytesMax);
      writeOptionalFields(out, levelField(message.level));
      return emit(JobFrameType.SessionWelcome, out);
    case 'refused':
    case 'heartbeat':
      return encodeSessionMessage(message, out, emit);
    default:
      return message satisfies never;
  }
}

/** Undefined for a type that no leader sends to a client. */
export function readToClient(type: number, from: WireReader): ToClient | undefined {
  switch (type) {
    case JobFrameType.Receipts: {
      const items: Receipt[] = [];
      while (from.nextItem()) items.push(readReceipt(from));
      return { kind: 'receipts', items };
    }
    case JobFrameType.Outcomes: {
      const items: JobOutcome[] = [];
      while (from.nextItem()) items.push(readOutcome(from));
      return { kind: 'outcomes', items };
    }
    case JobFrameType.StreamItems:
      return { kind: 'stream_items', ...readStreamItems(from, OUTCOME_CODEC) };
    case JobFrameType.FeedStates:
      return { kind: 'feed_states', items: readFeedStates(from) };
    case JobFrameType.Answer:
      // The client trusts the leader with its jobs, and so with the types of its answers.
      return {
        kind: 'answer',
        call: from.int(),
        answer: parseObject(from.text(), 'answer') as unknown as (ToClient & { kind: 'answer' })['answer'],
      };
    case JobFrameType.SessionWelcome:
      return readWelcome(from);
    default:
      return readSessionMessage(type, from);
  }
}

function readWelcome(from: WireReader): ToClient {
  const offer = readOffer(from);
  const tag = from.text();
  const outstandingMax = from.int();
  const payloadBytesMax = from.int();
  const level = readTextField(readOptionalFields(from), LEVEL_FIELD);
  const welcome = { kind: 'welcome', ...offer, tag, outstandingMax, payloadBytesMax } as const;
  const known = LEVELS.find((one) => one === level);
  return known === undefined ? welcome : { ...welcome, level: known };
}

/** Level 'fsync' is what a welcome without the field means. */
function levelField(level: DurabilityLevel | undefined): OptionalField[] {
  return textField(LEVEL_FIELD, level === 'fsync' ? undefined : level) ?? [];
}

/** The frame is whole: only its text is of another version, so the connection can go on. */
function readCall(from: WireReader): ClientMessage | UnsupportedCall {
  const call = from.int();
  const text = from.text();
  try {
    return { kind: 'call', call, request: readAdminRequest(parseObject(text, 'request')) };
  } catch (error) {
    if (!(error instanceof MessageMalformedError)) throw error;
    return { kind: 'unsupported', call, problem: error.problem };
  }
}

function encodeAwait(jobs: readonly number[], out: ByteWriter, emit: Emit): void {
  for (const job of jobs) {
    out.int(job);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.Await, out);
  }
  if (out.length > 0 || jobs.length === 0) emit(JobFrameType.Await, out);
}

function encodeSubmits(low: number, items: readonly SubmitItem[], out: ByteWriter, emit: Emit): void {
  out.int(low);
  const start = out.length;
  for (const item of items) {
    // Alone in its frame, the receiver can store it while it arrives.
    if (item.payload.length >= STORED_BYTES_MIN && out.length > start) {
      emit(JobFrameType.Submit, out);
      out.int(low);
    }
    out.int(item.seq);
    writeItem(out, item);
    if (out.length < FRAME_BYTES) continue;
    emit(JobFrameType.Submit, out);
    out.int(low);
  }
  // After a frame that was cut there may be no item left.
  if (out.length > start || items.length === 0) emit(JobFrameType.Submit, out);
  else out.reset();
}

function writeItem(out: ByteWriter, item: SubmitItem): void {
  out.int(item.ref);
  const { key, delayMs } = item;
  const hasMore = hasSubmissionFields(item);
  const has = (key === '' ? 0 : HAS_KEY) | (delayMs === 0 ? 0 : HAS_DELAY);
  out.byte(has | (item.wantsOutcome ? WANTS_OUTCOME : 0) | (hasMore ? HAS_FIELDS : 0));
  if (key !== '') out.text(key);
  if (delayMs !== 0) out.int(Math.ceil(delayMs));
  if (hasMore) writeSubmissionFields(out, item);
  out.payload(item.payload);
}

/** Its last fields follow. */
type ReadItem = SubmitItem & { payload: Payload };

function readItem(from: WireReader, seq: number): SubmitItem {
  const ref = from.int();
  const flags = from.byte();
  const item = readItemOptions(from, seq, ref, flags);
  if ((flags & HAS_FIELDS) !== 0) readItemFields(from, item);
  item.payload = from.payload();
  return item;
}

function readItemFields(from: WireReader, item: ReadItem): void {
  Object.assign(item, readSubmissionFields(from));
}

function readItemOptions(from: WireReader, seq: number, ref: number, flags: number): ReadItem {
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
    if (out.length >= FRAME_BYTES) emit(JobFrameType.Receipts, out);
  }
  if (out.length > 0) emit(JobFrameType.Receipts, out);
}

function readReceipt(from: WireReader): Receipt {
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
  if ((flags & HAS_FIELDS) !== 0) skipOptionalFields(from);
  return { seq, jobs, lsn, duplicate: (flags & DUPLICATE) !== 0, refusal };
}

function encodeOutcomes(items: readonly JobOutcome[], out: ByteWriter, emit: Emit): void {
  for (const outcome of items) {
    writeOutcome(out, outcome);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.Outcomes, out);
  }
  if (out.length > 0) emit(JobFrameType.Outcomes, out);
}

function writeOutcome(out: ByteWriter, outcome: JobOutcome): void {
  const { job, state, result, reason, failure, metadata } = outcome;
  out.int(job);
  writeWord(out, STATES, state);
  const has = (result === undefined ? 0 : HAS_RESULT) | (reason === '' ? 0 : HAS_REASON);
  out.byte(has | (failure === undefined ? 0 : HAS_FAILURE) | (metadata === undefined ? 0 : HAS_FIELDS));
  if (result !== undefined) out.payload(result);
  if (reason !== '') out.text(reason);
  if (failure !== undefined) writeFailure(out, failure);
  if (metadata !== undefined) writeOptionalFields(out, [fieldOf(METADATA, (field) => field.text(metadata))]);
}

function readOutcome(from: WireReader): JobOutcome {
  const job = from.int();
  // It has ended, and not well: a state of another version reads as dead, with its reason.
  const state = readWord(from, STATES, 'dead');
  const flags = from.byte();
  const result = (flags & HAS_RESULT) === 0 ? undefined : from.payload();
  const reason = (flags & HAS_REASON) === 0 ? '' : from.text();
  const failure = (flags & HAS_FAILURE) === 0 ? undefined : readFailure(from);
  const outcome = { job, state, result, reason, failure };
  if ((flags & HAS_FIELDS) === 0) return outcome;
  const metadata = readField(readOptionalFields(from), METADATA, (field) => field.text());
  return metadata === undefined ? outcome : { ...outcome, metadata };
}

const OUTCOME_CODEC = { write: writeOutcome, read: readOutcome };

function readPolicy(from: WireReader): JobPolicy | UnsupportedPolicy {
  const text = from.text();
  try {
    return readPolicyObject(parseObject(text, 'policy'));
  } catch (error) {
    if (error instanceof MessageMalformedError) return { problem: error.message };
    throw error;
  }
}
