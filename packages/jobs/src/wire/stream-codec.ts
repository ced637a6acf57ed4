// Hot path: chunks and items run once per chunk.
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { StreamingMode } from '../job/job-policy.js';
import type { Payload } from '../job/payload.js';
import { MessageMalformedError } from '../jobs-error.js';
import type { JobOutcome } from '../protocol/client-messages.js';
import type {
  ReadStream,
  StreamChunks,
  StreamConsumed,
  StreamItem,
  StreamItems,
  StreamWindow,
} from '../protocol/stream-messages.js';
import { FRAME_BYTES, JobFrameType } from './job-frame-type.js';
import type { Emit } from './session-codec.js';
import { readWord, writeWord } from './wire-fields.js';
import type { WireReader } from './wire-reader.js';

const KINDS = ['data', 'reset', 'gap', 'end', 'refused'] as const satisfies readonly StreamItem['kind'][];
const MODES = ['response', 'internal'] as const satisfies readonly StreamingMode[];

/** Writes and reads the end of a job as in Outcomes. */
export interface OutcomeCodec {
  readonly write: (out: ByteWriter, outcome: JobOutcome) => void;
  readonly read: (from: WireReader) => JobOutcome;
}

export function encodeChunks(items: readonly StreamChunks[], out: ByteWriter, emit: Emit): void {
  for (const { job, attempt, first, chunks } of items) {
    for (let at = 0; at < chunks.length; ) {
      out.int(job);
      out.int(attempt);
      out.int(first + at);
      const count = countThatFits(chunks, at);
      out.int(count);
      for (const end = at + count; at < end; at += 1) out.payload(chunks[at] as Payload); // at < length
      if (out.length >= FRAME_BYTES) emit(JobFrameType.Chunks, out);
    }
  }
  if (out.length > 0) emit(JobFrameType.Chunks, out);
}

export function readChunks(from: WireReader): StreamChunks[] {
  const items: StreamChunks[] = [];
  while (from.nextItem()) {
    const [job, attempt, first] = [from.int(), from.int(), from.int()];
    const chunks: Payload[] = [];
    for (let left = from.int(); left > 0; left -= 1) {
      from.countItem();
      chunks.push(from.payload());
    }
    items.push({ job, attempt, first, chunks });
  }
  return items;
}

export function encodeStreamWindows(items: readonly StreamWindow[], out: ByteWriter, emit: Emit): void {
  for (const { job, attempt, taken, bytes } of items) {
    out.int(job);
    out.int(attempt);
    out.int(taken);
    out.int(bytes);
  }
  emit(JobFrameType.StreamWindows, out);
}

export function readStreamWindows(from: WireReader): StreamWindow[] {
  const items: StreamWindow[] = [];
  while (from.nextItem())
    items.push({ job: from.int(), attempt: from.int(), taken: from.int(), bytes: from.int() });
  return items;
}

export function encodeReadStream(message: ReadStream, out: ByteWriter, emit: Emit): void {
  out.int(message.reader);
  out.int(message.job);
  out.int(message.attempt);
  out.int(message.offset);
  out.int(message.window);
  emit(JobFrameType.ReadStream, out);
}

export function readReadStream(from: WireReader): ReadStream {
  const [reader, job, attempt, offset, window] = [
    from.int(),
    from.int(),
    from.int(),
    from.int(),
    from.int(),
  ] as const;
  return { reader, job, attempt, offset, window };
}

export function encodeStreamConsumed(message: StreamConsumed, out: ByteWriter, emit: Emit): void {
  out.int(message.reader);
  out.int(message.attempt);
  out.int(message.offset);
  emit(JobFrameType.StreamConsumed, out);
}

export function readStreamConsumed(from: WireReader): StreamConsumed {
  return { reader: from.int(), attempt: from.int(), offset: from.int() };
}

export function encodeStreamItems(
  { reader, items }: StreamItems,
  out: ByteWriter,
  emit: Emit,
  { write }: OutcomeCodec,
): void {
  for (const item of items) {
    if (out.length === 0) out.int(reader);
    writeItem(out, item, write);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.StreamItems, out);
  }
  if (out.length > 0) emit(JobFrameType.StreamItems, out);
}

export function readStreamItems(from: WireReader, { read }: OutcomeCodec): StreamItems {
  const reader = from.int();
  const items: StreamItem[] = [];
  while (from.nextItem()) items.push(readItem(from, read));
  return { reader, items };
}

function writeItem(out: ByteWriter, item: StreamItem, writeOutcome: OutcomeCodec['write']): void {
  writeWord(out, KINDS, item.kind);
  switch (item.kind) {
    case 'data':
      out.int(item.attempt);
      out.int(item.offset);
      return out.payload(item.chunk);
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
      return out.text(item.problem);
    default:
      return item satisfies never;
  }
}

function readItem(from: WireReader, readOutcome: OutcomeCodec['read']): StreamItem {
  const kind = KINDS[from.byte()];
  if (kind === undefined) throw new MessageMalformedError('item of a stream has an unknown kind');
  switch (kind) {
    case 'data':
      return { kind, attempt: from.int(), offset: from.int(), chunk: from.payload() };
    case 'reset':
      return { kind, attempt: from.int() };
    case 'gap': {
      const [attempt, start, end] = [from.int(), from.int(), from.int()];
      return { kind, attempt, from: start, to: end === 0 ? undefined : end - 1 };
    }
    case 'end':
      return { kind, streaming: readWord(from, MODES, 'response'), outcome: readOutcome(from) };
    case 'refused':
      return { kind, problem: from.text() };
    default:
      return kind satisfies never;
  }
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
