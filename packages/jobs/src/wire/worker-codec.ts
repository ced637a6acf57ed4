// Hot path: reports and assignments run once per attempt or batch.

import type {
  Assignment,
  AttemptEnd,
  AttemptRef,
  AttemptRun,
  Credit,
  PulseBeat,
  PulseHello,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '../protocol/worker-messages.js';
import type { ByteReader } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';
import { type Emit, SESSION_REFUSALS } from './client-codec.js';
import { FRAME_BYTES, JobFrame } from './job-frame-type.js';
import { readFailure, readTexts, readWord, writeFailure, writeTexts, writeWord } from './wire-words.js';

const OUTCOMES = ['ok', 'failed', 'final', 'timed-out', 'released'] as const;
const REASONS = ['cancelled', 'fenced'] as const;
/** The item repeats exec, client and limits of the one before it in the same frame. */
const LIKE_BEFORE = 1;

/** What a worker says, as it stands on the wire: ends too large for their report travel behind it, without credit. */
export type WorkerFrame = WorkerMessage | { readonly kind: 'ends'; readonly ends: readonly AttemptEnd[] };

export function encodeWorkerHello(hello: WorkerHello, out: ByteWriter, emit: Emit): void {
  out.text(hello.worker);
  out.text(hello.incarnation);
  writeTexts(out, hello.execs);
  writeTexts(out, hello.patterns);
  out.int(hello.slots);
  writeCredit(out, hello.credit);
  out.text(hello.pulse ?? '');
  for (const held of hello.held) writeAttempt(out, held);
  emit(JobFrame.WorkerHello, out);
}

export function readWorkerHello(from: ByteReader): WorkerHello {
  const worker = from.text();
  const incarnation = from.text();
  const execs = readTexts(from);
  const patterns = readTexts(from);
  const slots = from.int();
  const credit = readCredit(from);
  const pulse = from.text();
  const held = readAttempts(from);
  return { worker, incarnation, execs, patterns, slots, credit, held, ...(pulse === '' ? {} : { pulse }) };
}

export function encodePulseHello(hello: PulseHello, out: ByteWriter, emit: Emit): void {
  out.text(hello.worker);
  out.text(hello.incarnation);
  out.text(hello.token);
  emit(JobFrame.PulseHello, out);
}

export function readPulseHello(from: ByteReader): PulseHello {
  return { worker: from.text(), incarnation: from.text(), token: from.text() };
}

export function encodePulse(beat: PulseBeat, out: ByteWriter, emit: Emit): void {
  out.int(Math.round(beat.blockedMs));
  emit(JobFrame.Pulse, out);
}

export function readPulse(from: ByteReader): PulseBeat {
  return { blockedMs: from.int() };
}

export function encodeWorker(message: WorkerMessage, out: ByteWriter, emit: Emit): void {
  if (message.kind === 'quiet') return emit(JobFrame.Quiet, out);
  const { ends } = message;
  writeCredit(out, message.credit);
  out.time(message.cpu);
  out.int(Math.round(message.lagMs));
  out.int(Math.round((message.runMs ?? 0) * 1_000));
  let isReport = true;
  for (const end of ends) {
    // A large result would hold back the credit behind it, so it leaves by itself. Credit may be ahead of ends, never behind.
    if (isReport && out.length + sizeOf(end) > FRAME_BYTES) {
      emit(JobFrame.Report, out);
      isReport = false;
    }
    writeEnd(out, end);
    if (!isReport && out.length >= FRAME_BYTES) emit(JobFrame.Ends, out);
  }
  if (isReport) emit(JobFrame.Report, out);
  else if (out.length > 0) emit(JobFrame.Ends, out);
}

/** Undefined for a type that no worker sends. */
export function readWorker(type: number, from: ByteReader): WorkerFrame | undefined {
  switch (type) {
    case JobFrame.Report: {
      const credit = readCredit(from);
      const cpu = from.time();
      const lagMs = from.int();
      const runMs = from.int() / 1_000;
      return { kind: 'report', ends: readEnds(from), credit, cpu: share(cpu), lagMs, runMs };
    }
    case JobFrame.Ends:
      return { kind: 'ends', ends: readEnds(from) };
    case JobFrame.Quiet:
      return { kind: 'quiet' };
    default:
      return undefined;
  }
}

export function encodeToWorker(message: ToWorker, out: ByteWriter, emit: Emit): void {
  switch (message.kind) {
    case 'assign':
      return encodeAssigns(message.items, out, emit);
    case 'settled':
      for (const item of message.items) {
        writeAttempt(out, item);
        out.int(item.count);
      }
      return emit(JobFrame.Settled, out);
    case 'abort':
      for (const item of message.items) {
        writeAttempt(out, item);
        writeWord(out, REASONS, item.reason);
      }
      return emit(JobFrame.Abort, out);
    case 'welcome':
      out.text(message.tag);
      out.int(message.beatMs);
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

/** Undefined for a type that no leader sends to a worker. */
export function readToWorker(type: number, from: ByteReader): ToWorker | undefined {
  switch (type) {
    case JobFrame.Assign:
      return { kind: 'assign', items: readAssigns(from) };
    case JobFrame.Settled:
      return { kind: 'settled', items: readRuns(from) };
    case JobFrame.Abort: {
      const items: (AttemptRef & { reason: (typeof REASONS)[number] })[] = [];
      while (!from.done)
        items.push({ job: from.int(), attempt: from.int(), reason: readWord(from, REASONS, 'reason') });
      return { kind: 'abort', items };
    }
    case JobFrame.SessionWelcome:
      return { kind: 'welcome', tag: from.text(), beatMs: from.int() };
    case JobFrame.SessionRefused:
      return { kind: 'refused', code: readWord(from, SESSION_REFUSALS, 'code'), problem: from.text() };
    case JobFrame.Beat:
      return { kind: 'beat' };
    default:
      return undefined;
  }
}

function encodeAssigns(items: readonly Assignment[], out: ByteWriter, emit: Emit): void {
  let before: Assignment | undefined;
  for (const item of items) {
    const like = before !== undefined && sharesTemplate(item, before);
    out.byte(like ? LIKE_BEFORE : 0);
    writeAttempt(out, item);
    if (!like) {
      out.text(item.exec);
      out.text(item.client);
      out.int(item.runMs);
      out.int(item.outputBytes);
    }
    out.payload(item.payload);
    before = item;
    if (out.length < FRAME_BYTES) continue;
    emit(JobFrame.Assign, out);
    before = undefined;
  }
  if (out.length > 0) emit(JobFrame.Assign, out);
}

function sharesTemplate(item: Assignment, before: Assignment): boolean {
  return (
    item.exec === before.exec &&
    item.client === before.client &&
    item.runMs === before.runMs &&
    item.outputBytes === before.outputBytes
  );
}

function readAssigns(from: ByteReader): Assignment[] {
  const items: Assignment[] = [];
  let exec = '';
  let client = '';
  let runMs = 0;
  let outputBytes = 0;
  while (!from.done) {
    const flags = from.byte();
    const job = from.int();
    const attempt = from.int();
    if ((flags & LIKE_BEFORE) === 0) {
      exec = from.text();
      client = from.text();
      runMs = from.int();
      outputBytes = from.int();
    }
    items.push({ job, attempt, exec, payload: from.payload(), client, runMs, outputBytes });
  }
  return items;
}

function writeEnd(out: ByteWriter, end: AttemptEnd): void {
  writeWord(out, OUTCOMES, end.outcome);
  writeAttempt(out, end);
  if (end.outcome === 'ok') out.payload(end.result);
  else if (end.outcome !== 'released') writeFailure(out, end.failure);
}

function readEnds(from: ByteReader): AttemptEnd[] {
  const ends: AttemptEnd[] = [];
  while (!from.done) {
    const outcome = readWord(from, OUTCOMES, 'outcome');
    const job = from.int();
    const attempt = from.int();
    if (outcome === 'ok') ends.push({ outcome, job, attempt, result: from.payload() });
    else if (outcome === 'released') ends.push({ outcome, job, attempt });
    else ends.push({ outcome, job, attempt, failure: readFailure(from) });
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

function readAttempts(from: ByteReader): AttemptRef[] {
  const refs: AttemptRef[] = [];
  while (!from.done) refs.push({ job: from.int(), attempt: from.int() });
  return refs;
}

function readRuns(from: ByteReader): AttemptRun[] {
  const runs: AttemptRun[] = [];
  while (!from.done) runs.push({ job: from.int(), attempt: from.int(), count: from.int() });
  return runs;
}

function writeCredit(out: ByteWriter, credit: Credit): void {
  out.int(credit.jobs);
  out.int(credit.bytes);
}

function readCredit(from: ByteReader): Credit {
  return { jobs: from.int(), bytes: from.int() };
}

/** The score of a worker is built on it: a peer must not make it a nonsense. */
function share(cpu: number): number {
  return cpu >= 0 && cpu <= 1 ? cpu : 1;
}
