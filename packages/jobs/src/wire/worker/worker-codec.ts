// Hot path: reports and assignments run once per attempt or batch.

import type { ByteWriter } from '../../bytes/byte-writer.js';
import {
  HAS_FIELDS,
  type OptionalField,
  type OptionalFields,
  readOptionalFields,
  skipOptionalFields,
  writeOptionalFields,
} from '../../bytes/optional-fields.js';
import { readTraceFields, traceFields, traceOfFields, writeTraceFields } from '../../bytes/trace-fields.js';
import { EMPTY_PAYLOAD } from '../../job/payload/payload.js';
import type { JobFailure } from '../../jobs-error.js';
import type {
  Assignment,
  AttemptAbort,
  AttemptEnd,
  AttemptRange,
  AttemptRef,
  Credit,
  HeartbeatHello,
  LoopBlocked,
  StreamEnd,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '../../protocol/worker/worker-messages.js';
import { encodeFedItems, encodeFeedRequests, readFedItems, readFeedRequests } from '../feed-codec.js';
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
  encodeChunks,
  encodeStreamWindows,
  readChunks,
  readHeldStreams,
  readStreamWindows,
  writeHeldStreams,
} from '../stream-codec.js';
import { readFailure, readTexts, readWord, writeFailure, writeTexts, writeWord } from '../wire-fields.js';
import type { WireReader } from '../wire-reader.js';
import { readProgress, writeProgress } from './progress-codec.js';
import { readRunnerOffers, readRunnerUses, writeRunnerOffers, writeRunnerUses } from './runner-codec.js';

const OUTCOMES = ['ok', 'failed', 'final', 'timed-out', 'released', 'snoozed'] as const;
const REASONS = ['cancelled', 'fenced'] as const;
const HAS_RESULT = 1;
const HAS_FAILURE = 2;
const UNKNOWN_FAILURE: JobFailure = { name: 'Error', message: 'the worker gave no failure' };
/** Exec, client and limits are those of the item before it in the same frame. */
const SAME_AS_BEFORE = 1;
/** Its chunks have readers. */
const STREAMING = 2;
/** Its chunks must be acknowledged before its end. */
const DURABLE = 4;
/** One of its optional fields is the limit of its silence. */
const HAS_SILENCE = 8;
/** Clients may feed it. */
const FED = 16;

/** Optional fields of WorkerHello, Report, an assignment and an end (docs/wire-protocol.md §12). */
const HELD_STREAMS = 1;
const RUNNER_OFFERS = 2;
const LABELS = 3;
const RUNNER_USES = 1;
const PROGRESS = 2;
const SILENCE_MS = 3;
const CHUNKS = 1;
const METADATA = 2;
const DELAY_MS = 3;

/** A worker's message in one frame. Ends that are too large for their report follow it without credit. */
export type WorkerFrame = WorkerMessage | { readonly kind: 'ends'; readonly ends: readonly AttemptEnd[] };

export function encodeWorkerHello(hello: WorkerHello, out: ByteWriter, emit: Emit): void {
  writeOffer(out, hello);
  out.text(hello.worker);
  out.text(hello.incarnation);
  writeTexts(out, hello.execs);
  writeTexts(out, hello.patterns);
  out.int(hello.slots);
  writeCredit(out, hello.credit);
  out.text(hello.heartbeatToken ?? '');
  const { streams = [], runners = [], labels = [] } = hello;
  const fields: OptionalField[] = [];
  if (streams.length > 0) fields.push(fieldOf(HELD_STREAMS, (field) => writeHeldStreams(streams, field)));
  if (runners.length > 0) fields.push(fieldOf(RUNNER_OFFERS, (field) => writeRunnerOffers(field, runners)));
  if (labels.length > 0) fields.push(fieldOf(LABELS, (field) => writeTexts(field, labels)));
  writeOptionalFields(out, fields);
  for (const held of hello.held) writeAttempt(out, held);
  emit(JobFrameType.WorkerHello, out);
}

export function readWorkerHello(from: WireReader): WorkerHello {
  const offer = readOffer(from);
  const worker = from.text();
  const incarnation = from.text();
  const execs = readTexts(from);
  const patterns = readTexts(from);
  const slots = from.int();
  const credit = readCredit(from);
  const heartbeatToken = from.text();
  const fields = readOptionalFields(from);
  const streams = readField(fields, HELD_STREAMS, readHeldStreams);
  const runners = readField(fields, RUNNER_OFFERS, readRunnerOffers);
  const labels = readField(fields, LABELS, readTexts);
  const held = readAttempts(from);
  const hello = { ...offer, worker, incarnation, execs, patterns, slots, credit, heartbeatToken, held };
  return {
    ...hello,
    ...(streams === undefined ? {} : { streams }),
    ...(runners === undefined ? {} : { runners }),
    ...(labels === undefined ? {} : { labels }),
  };
}

export function encodeHeartbeatHello(hello: HeartbeatHello, out: ByteWriter, emit: Emit): void {
  out.text(hello.worker);
  out.text(hello.incarnation);
  out.text(hello.token);
  emit(JobFrameType.HeartbeatHello, out);
}

export function readHeartbeatHello(from: WireReader): HeartbeatHello {
  return { worker: from.text(), incarnation: from.text(), token: from.text() };
}

export function encodeLoopBlocked(beat: LoopBlocked, out: ByteWriter, emit: Emit): void {
  out.int(Math.round(beat.blockedMs));
  emit(JobFrameType.LoopBlocked, out);
}

export function readLoopBlocked(from: WireReader): LoopBlocked {
  return { blockedMs: from.int() };
}

export function encodeWorker(message: WorkerMessage, out: ByteWriter, emit: Emit): void {
  if (message.kind === 'drain') return emit(JobFrameType.Drain, out);
  if (message.kind === 'chunks') return encodeChunks(message.items, out, emit);
  if (message.kind === 'feed_requests') return encodeFeedRequests(message.items, out, emit);
  const { ends } = message;
  writeCredit(out, message.credit);
  out.double(message.cpu);
  out.int(Math.round(message.lagMs));
  out.int(Math.round((message.runMs ?? 0) * 1_000));
  out.int(message.overrun ?? 0);
  const { runners, progress } = message;
  const fields: OptionalField[] = [];
  if (runners !== undefined) fields.push(fieldOf(RUNNER_USES, (field) => writeRunnerUses(field, runners)));
  if (progress !== undefined) fields.push(fieldOf(PROGRESS, (field) => writeProgress(field, progress)));
  writeOptionalFields(out, fields);
  let isReport = true;
  for (const end of ends) {
    // A large result would delay the credit behind it, so it has its own frame. Credit may be ahead of ends,
    // never behind.
    if (isReport && out.length + sizeOf(end) > FRAME_BYTES) {
      emit(JobFrameType.Report, out);
      isReport = false;
    }
    writeEnd(out, end);
    if (!isReport && out.length >= FRAME_BYTES) emit(JobFrameType.Ends, out);
  }
  if (isReport) emit(JobFrameType.Report, out);
  else if (out.length > 0) emit(JobFrameType.Ends, out);
}

/** Undefined for a type that no worker sends. */
export function readWorker(type: number, from: WireReader): WorkerFrame | undefined {
  switch (type) {
    case JobFrameType.Report: {
      const credit = readCredit(from);
      const cpu = from.double();
      const lagMs = from.int();
      const runMs = from.int() / 1_000;
      const overrun = from.int();
      const fields = readOptionalFields(from);
      const runners = readField(fields, RUNNER_USES, readRunnerUses);
      const progress = readField(fields, PROGRESS, readProgress);
      const load = { cpu: share(cpu), lagMs, runMs, overrun };
      const report = { kind: 'report', ends: readEnds(from), credit, ...load } as const;
      return {
        ...report,
        ...(runners === undefined ? {} : { runners }),
        ...(progress === undefined ? {} : { progress }),
      };
    }
    case JobFrameType.Ends:
      return { kind: 'ends', ends: readEnds(from) };
    case JobFrameType.Chunks:
      return { kind: 'chunks', items: readChunks(from) };
    case JobFrameType.FeedRequests:
      return { kind: 'feed_requests', items: readFeedRequests(from) };
    case JobFrameType.Drain:
      return { kind: 'drain' };
    default:
      return undefined;
  }
}

export function encodeToWorker(message: ToWorker, out: ByteWriter, emit: Emit): void {
  switch (message.kind) {
    case 'assign':
      return encodeAssigns(message.items, out, emit);
    case 'acknowledged':
      for (const item of message.items) {
        writeAttempt(out, item);
        out.int(item.count);
      }
      return emit(JobFrameType.Acknowledged, out);
    case 'abort':
      for (const item of message.items) {
        writeAttempt(out, item);
        writeWord(out, REASONS, item.reason);
        out.text(item.detail);
      }
      return emit(JobFrameType.Abort, out);
    case 'stale':
      for (const item of message.items) writeAttempt(out, item);
      return emit(JobFrameType.Stale, out);
    case 'stream_windows':
      return encodeStreamWindows(message.items, out, emit);
    case 'fed_items':
      return encodeFedItems(message.items, out, emit);
    case 'welcome':
      writeOffer(out, message);
      out.text(message.tag);
      out.int(message.heartbeatMs);
      writeOptionalFields(out, []);
      return emit(JobFrameType.SessionWelcome, out);
    case 'refused':
    case 'heartbeat':
      return encodeSessionMessage(message, out, emit);
    default:
      return message satisfies never;
  }
}

/** Undefined for a type that no leader sends to a worker. */
export function readToWorker(type: number, from: WireReader): ToWorker | undefined {
  switch (type) {
    case JobFrameType.Assign:
      return { kind: 'assign', items: readAssigns(from) };
    case JobFrameType.Acknowledged:
      return { kind: 'acknowledged', items: readRanges(from) };
    case JobFrameType.Abort:
      return { kind: 'abort', items: readAborts(from) };
    case JobFrameType.Stale:
      return { kind: 'stale', items: readAttempts(from) };
    case JobFrameType.StreamWindows:
      return { kind: 'stream_windows', items: readStreamWindows(from) };
    case JobFrameType.FedItems:
      return { kind: 'fed_items', items: readFedItems(from) };
    case JobFrameType.SessionWelcome:
      return readWelcome(from);
    default:
      return readSessionMessage(type, from);
  }
}

function readWelcome(from: WireReader): ToWorker {
  const offer = readOffer(from);
  const tag = from.text();
  const heartbeatMs = from.int();
  skipOptionalFields(from);
  return { kind: 'welcome', ...offer, tag, heartbeatMs };
}

function encodeAssigns(items: readonly Assignment[], out: ByteWriter, emit: Emit): void {
  let before: Assignment | undefined;
  for (const item of items) {
    const same = before !== undefined && hasSameSettings(item, before);
    out.byte(assignFlags(item) | (same ? SAME_AS_BEFORE : 0));
    writeAttempt(out, item);
    if (!same) {
      out.text(item.exec);
      out.text(item.client);
      out.int(item.runMs);
      out.int(item.outputBytes);
    }
    writeAssignFields(out, item);
    out.payload(item.payload);
    before = item;
    if (out.length < FRAME_BYTES) continue;
    emit(JobFrameType.Assign, out);
    before = undefined;
  }
  if (out.length > 0) emit(JobFrameType.Assign, out);
}

function assignFlags({ streaming, isFed, durable, silenceMs, trace }: Assignment): number {
  const fed = isFed === true ? FED : 0;
  const kind = (streaming === true ? STREAMING : 0) | (durable === true ? DURABLE : 0) | fed;
  const silence = silenceMs === undefined ? 0 : HAS_SILENCE;
  return kind | silence | (silence === 0 && trace === undefined ? 0 : HAS_FIELDS);
}

function writeAssignFields(out: ByteWriter, { trace, silenceMs }: Assignment): void {
  if (silenceMs === undefined) {
    if (trace !== undefined) writeTraceFields(out, trace);
    return;
  }
  writeOptionalFields(out, [...traceFields(trace), fieldOf(SILENCE_MS, (field) => field.int(silenceMs))]);
}

function readAssignFields(from: WireReader, flags: number): Pick<Assignment, 'trace' | 'silenceMs'> {
  if ((flags & HAS_FIELDS) === 0) return NO_FIELDS;
  if ((flags & HAS_SILENCE) === 0) return { trace: readTraceFields(from) };
  const fields = readOptionalFields(from);
  return { trace: traceOfFields(fields), silenceMs: readField(fields, SILENCE_MS, readInt) };
}

const NO_FIELDS: Pick<Assignment, 'trace' | 'silenceMs'> = {};

function hasSameSettings(item: Assignment, before: Assignment): boolean {
  return (
    item.exec === before.exec &&
    item.client === before.client &&
    item.runMs === before.runMs &&
    item.outputBytes === before.outputBytes
  );
}

function readAssigns(from: WireReader): Assignment[] {
  const items: Assignment[] = [];
  let exec = '';
  let client = '';
  let runMs = 0;
  let outputBytes = 0;
  while (from.nextItem()) {
    const flags = from.byte();
    const job = from.int();
    const attempt = from.int();
    if ((flags & SAME_AS_BEFORE) === 0) {
      exec = from.text();
      client = from.text();
      runMs = from.int();
      outputBytes = from.int();
    }
    const { trace, silenceMs } = readAssignFields(from, flags);
    const streaming = (flags & STREAMING) !== 0;
    const payload = from.payload();
    // Two literals: a copy with one more property costs more than all that is read here.
    const item: Assignment =
      trace === undefined
        ? { job, attempt, exec, payload, client, runMs, outputBytes, streaming }
        : { job, attempt, exec, payload, client, runMs, outputBytes, streaming, trace };
    const isPlain = (flags & (DURABLE | HAS_SILENCE)) === 0;
    const limited = isPlain ? item : { ...item, durable: (flags & DURABLE) !== 0, silenceMs };
    items.push((flags & FED) === 0 ? limited : { ...limited, isFed: true });
  }
  return items;
}

function writeEnd(out: ByteWriter, end: AttemptEnd): void {
  const hasFields = end.chunks !== undefined || end.metadata !== undefined || end.outcome === 'snoozed';
  const fields = hasFields ? endFields(end) : undefined;
  const flags = fields === undefined ? 0 : HAS_FIELDS;
  writeWord(out, OUTCOMES, end.outcome);
  if (end.outcome === 'released' || end.outcome === 'snoozed') out.byte(flags);
  else out.byte(flags | (end.outcome === 'ok' ? HAS_RESULT : HAS_FAILURE));
  writeAttempt(out, end);
  if (end.outcome === 'ok') out.payload(end.result);
  else if (end.outcome !== 'released' && end.outcome !== 'snoozed') writeFailure(out, end.failure);
  if (fields !== undefined) writeOptionalFields(out, fields);
}

function endFields(end: AttemptEnd): OptionalField[] {
  const { chunks, metadata } = end;
  const fields: OptionalField[] = [];
  if (chunks !== undefined) fields.push(fieldOf(CHUNKS, (field) => field.int(chunks)));
  if (metadata !== undefined) fields.push(fieldOf(METADATA, (field) => field.text(metadata)));
  if (end.outcome === 'snoozed') fields.push(fieldOf(DELAY_MS, (field) => field.int(Math.ceil(end.delayMs))));
  return fields;
}

function readStreamEnd(fields: OptionalFields): StreamEnd {
  const chunks = readField(fields, CHUNKS, readInt);
  const metadata = readField(fields, METADATA, (field) => field.text());
  return { ...(chunks === undefined ? {} : { chunks }), ...(metadata === undefined ? {} : { metadata }) };
}

function readInt(from: WireReader): number {
  return from.int();
}

/** The flags state what an end carries, so one of another version can be read: it counts as failed. */
function readEnds(from: WireReader): AttemptEnd[] {
  const ends: AttemptEnd[] = [];
  while (from.nextItem()) {
    const outcome = readWord(from, OUTCOMES, 'failed');
    const flags = from.byte();
    const job = from.int();
    const attempt = from.int();
    const result = (flags & HAS_RESULT) === 0 ? EMPTY_PAYLOAD : from.payload();
    const failure = (flags & HAS_FAILURE) === 0 ? UNKNOWN_FAILURE : readFailure(from);
    const fields = (flags & HAS_FIELDS) === 0 ? undefined : readOptionalFields(from);
    const end: AttemptEnd =
      outcome === 'ok'
        ? { outcome, job, attempt, result }
        : outcome === 'released'
          ? { outcome, job, attempt }
          : outcome === 'snoozed'
            ? { outcome, job, attempt, delayMs: (fields && readField(fields, DELAY_MS, readInt)) ?? 0 }
            : { outcome, job, attempt, failure };
    ends.push(fields === undefined ? end : { ...end, ...readStreamEnd(fields) });
  }
  return ends;
}

function sizeOf(end: AttemptEnd): number {
  return end.outcome === 'ok' ? end.result.length : 0;
}

function writeAttempt(out: ByteWriter, { job, attempt }: AttemptRef): void {
  out.int(job);
  out.int(attempt);
}

function readAttempts(from: WireReader): AttemptRef[] {
  const refs: AttemptRef[] = [];
  while (from.nextItem()) refs.push({ job: from.int(), attempt: from.int() });
  return refs;
}

function readAborts(from: WireReader): AttemptAbort[] {
  const items: AttemptAbort[] = [];
  while (from.nextItem()) {
    const job = from.int();
    const attempt = from.int();
    // The attempt is taken away, whatever the reason.
    items.push({ job, attempt, reason: readWord(from, REASONS, 'fenced'), detail: from.text() });
  }
  return items;
}

function readRanges(from: WireReader): AttemptRange[] {
  const ranges: AttemptRange[] = [];
  while (from.nextItem()) ranges.push({ job: from.int(), attempt: from.int(), count: from.int() });
  return ranges;
}

function writeCredit(out: ByteWriter, credit: Credit): void {
  out.int(credit.jobs);
  out.int(credit.bytes);
}

function readCredit(from: WireReader): Credit {
  return { jobs: from.int(), bytes: from.int() };
}

/** The dispatcher scores workers by it: a peer must not make it invalid. */
function share(cpu: number): number {
  return cpu >= 0 && cpu <= 1 ? cpu : 1;
}
