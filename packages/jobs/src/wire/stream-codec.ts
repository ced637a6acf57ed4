// Hot path: chunks and items run once per chunk.
import type { ByteWriter } from '../bytes/byte-writer.js';
import { HAS_FIELDS, skipOptionalFields, writeOptionalFields } from '../bytes/optional-fields.js';
import type { StreamingMode } from '../job/definition/job-policy.js';
import type { Payload } from '../job/payload/payload.js';
import { MessageMalformedError } from '../jobs-error.js';
import type { JobOutcome } from '../protocol/client/client-messages.js';
import type {
  HeldStream,
  ReadStream,
  StreamChunks,
  StreamConsumed,
  StreamItem,
  StreamItems,
  StreamRefusal,
  StreamWindow,
} from '../protocol/stream-messages.js';
import { FRAME_BYTES, JobFrameType } from './job-frame-type.js';
import type { Emit } from './session-codec.js';
import { readWord, writeWord } from './wire-fields.js';
import type { WireReader } from './wire-reader.js';

const KINDS = ['data', 'reset', 'gap', 'end', 'refused'] as const satisfies readonly StreamItem['kind'][];
/** An item of a later kind has a length, so that a reader without it passes over it. */
const FIRST_LATER_KIND = 16;
const MODES = ['response', 'internal'] as const satisfies readonly StreamingMode[];
const REFUSALS = [
  'FAILED_PRECONDITION',
  'INVALID_ARGUMENT',
  'RESOURCE_EXHAUSTED',
] as const satisfies readonly StreamRefusal[];
const NO_FLAGS = 0;

/** Writes and reads the end of a job as in Outcomes. */
export interface OutcomeCodec {
  readonly write: (out: ByteWriter, outcome: JobOutcome) => void;
  readonly read: (from: WireReader) => JobOutcome;
}

export function encodeChunks(items: readonly StreamChunks[], out: ByteWriter, emit: Emit): void {
  for (const { job, attempt, first, chunks } of items) {
    for (let at = 0; at < chunks.length; ) {
      out.byte(NO_FLAGS);
      out.int(job);
      out.int(attempt);
      out.int(first + at);
      const count = countThatFits(chunks, at);
      writePayloads(out, chunks, at, count);
      at += count;
      if (out.length >= FRAME_BYTES) emit(JobFrameType.Chunks, out);
    }
  }
  if (out.length > 0) emit(JobFrameType.Chunks, out);
}

export function readChunks(from: WireReader): StreamChunks[] {
  const items: StreamChunks[] = [];
  while (from.nextItem()) {
    const flags = from.byte();
    const [job, attempt, first] = [from.int(), from.int(), from.int()];
    skipFields(from, flags);
    items.push({ job, attempt, first, chunks: readPayloads(from) });
  }
  return items;
}

export function encodeStreamWindows(items: readonly StreamWindow[], out: ByteWriter, emit: Emit): void {
  for (const { job, attempt, taken, bytes } of items) {
    out.byte(NO_FLAGS);
    out.int(job);
    out.int(attempt);
    out.int(taken);
    out.int(bytes);
  }
  emit(JobFrameType.StreamWindows, out);
}

export function readStreamWindows(from: WireReader): StreamWindow[] {
  const items: StreamWindow[] = [];
  while (from.nextItem()) {
    const flags = from.byte();
    const window = { job: from.int(), attempt: from.int(), taken: from.int(), bytes: from.int() };
    skipFields(from, flags);
    items.push(window);
  }
  return items;
}

/** The streams of a worker's hello, as an optional field. */
export function writeHeldStreams(streams: readonly HeldStream[], out: ByteWriter): void {
  for (const { job, attempt, first, next } of streams) {
    out.byte(NO_FLAGS);
    out.int(job);
    out.int(attempt);
    out.int(first);
    out.int(next);
  }
}

export function readHeldStreams(from: WireReader): HeldStream[] {
  const streams: HeldStream[] = [];
  while (from.nextItem()) {
    const flags = from.byte();
    const held = { job: from.int(), attempt: from.int(), first: from.int(), next: from.int() };
    skipFields(from, flags);
    streams.push(held);
  }
  return streams;
}

export function encodeReadStream(message: ReadStream, out: ByteWriter, emit: Emit): void {
  out.int(message.reader);
  out.int(message.job);
  out.int(message.attempt);
  out.int(message.offset);
  out.int(message.window);
  writeOptionalFields(out, []);
  emit(JobFrameType.ReadStream, out);
}

export function readReadStream(from: WireReader): ReadStream {
  const [reader, job, attempt] = [from.int(), from.int(), from.int()];
  const [offset, window] = [from.int(), from.int()];
  skipOptionalFields(from);
  return { reader, job, attempt, offset, window };
}

export function encodeStreamConsumed(items: readonly StreamConsumed[], out: ByteWriter, emit: Emit): void {
  for (const { reader, attempt, offset } of items) {
    out.byte(NO_FLAGS);
    out.int(reader);
    out.int(attempt);
    out.int(offset);
  }
  emit(JobFrameType.StreamConsumed, out);
}

export function readStreamConsumed(from: WireReader): StreamConsumed[] {
  const items: StreamConsumed[] = [];
  while (from.nextItem()) {
    const flags = from.byte();
    const consumed = { reader: from.int(), attempt: from.int(), offset: from.int() };
    skipFields(from, flags);
    items.push(consumed);
  }
  return items;
}

export function encodeStopStream(reader: number, out: ByteWriter, emit: Emit): void {
  out.int(reader);
  writeOptionalFields(out, []);
  emit(JobFrameType.StopStream, out);
}

export function readStopStream(from: WireReader): number {
  const reader = from.int();
  skipOptionalFields(from);
  return reader;
}

export function encodeStreamItems(
  { reader, items }: StreamItems,
  out: ByteWriter,
  emit: Emit,
  { write }: OutcomeCodec,
): void {
  for (const item of items) {
    if (out.length === 0) {
      out.int(reader);
      writeOptionalFields(out, []);
    }
    writeItem(out, item, write);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.StreamItems, out);
  }
  if (out.length > 0) emit(JobFrameType.StreamItems, out);
}

export function readStreamItems(from: WireReader, { read }: OutcomeCodec): StreamItems {
  const reader = from.int();
  skipOptionalFields(from);
  const items: StreamItem[] = [];
  while (from.nextItem()) {
    const item = readItem(from, read);
    if (item !== undefined) items.push(item);
  }
  return { reader, items };
}

function writeItem(out: ByteWriter, item: StreamItem, writeOutcome: OutcomeCodec['write']): void {
  writeWord(out, KINDS, item.kind);
  out.byte(NO_FLAGS);
  switch (item.kind) {
    case 'data':
      out.int(item.attempt);
      out.int(item.first);
      return writePayloads(out, item.chunks, 0, item.chunks.length);
    case 'reset':
      return out.int(item.attempt);
    case 'gap':
      out.int(item.attempt);
      out.int(item.from);
      return out.int(item.to === undefined ? 0 : item.to + 1);
    case 'end':
      writeWord(out, MODES, item.streaming);
      return writeOutcome(out, item.outcome);
    case 'refused':
      writeWord(out, REFUSALS, item.status);
      return out.text(item.problem);
    default:
      return item satisfies never;
  }
}

/** Undefined for a kind of a later version. */
function readItem(from: WireReader, readOutcome: OutcomeCodec['read']): StreamItem | undefined {
  const number = from.byte();
  const flags = from.byte();
  const kind = KINDS[number];
  if (kind === undefined && number < FIRST_LATER_KIND)
    throw new MessageMalformedError(`item of a stream has the kind ${number}`);
  if (kind === undefined) {
    from.bytes();
    return undefined;
  }
  if (kind !== 'data') {
    const item = readEvent(from, kind, readOutcome);
    skipFields(from, flags);
    return item;
  }
  const [attempt, first] = [from.int(), from.int()];
  skipFields(from, flags);
  return { kind, attempt, first, chunks: readPayloads(from) };
}

function readEvent(
  from: WireReader,
  kind: Exclude<StreamItem['kind'], 'data'>,
  readOutcome: OutcomeCodec['read'],
): StreamItem {
  switch (kind) {
    case 'reset':
      return { kind, attempt: from.int() };
    case 'gap': {
      const [attempt, start, end] = [from.int(), from.int(), from.int()];
      return { kind, attempt, from: start, to: end === 0 ? undefined : end - 1 };
    }
    case 'end':
      return { kind, streaming: readWord(from, MODES, 'response'), outcome: readOutcome(from) };
    case 'refused':
      return { kind, status: readWord(from, REFUSALS, 'FAILED_PRECONDITION'), problem: from.text() };
    default:
      return kind satisfies never;
  }
}

function skipFields(from: WireReader, flags: number): void {
  if ((flags & HAS_FIELDS) !== 0) skipOptionalFields(from);
}

function writePayloads(out: ByteWriter, chunks: readonly Payload[], from: number, count: number): void {
  out.int(count);
  for (let at = from; at < from + count; at += 1) out.payload(chunks[at] as Payload); // below length
}

function readPayloads(from: WireReader): Payload[] {
  const chunks: Payload[] = [];
  for (let left = from.int(); left > 0; left -= 1) {
    from.countItem();
    chunks.push(from.payload());
  }
  return chunks;
}

/** At least one. */
function countThatFits(chunks: readonly Payload[], at: number): number {
  let bytes = 0;
  let count = 0;
  while (at + count < chunks.length && bytes < FRAME_BYTES) {
    bytes += (chunks[at + count] as Payload).length; // below length
    count += 1;
  }
  return count;
}
