// Frames of feeds. Every item begins with flags, whose last bit leaves room for optional fields.
import type { ByteWriter } from '../bytes/byte-writer.js';
import { HAS_FIELDS, skipOptionalFields } from '../bytes/optional-fields.js';
import type { Payload } from '../job/payload/payload.js';
import type { FeedRefusalCode } from '../jobs-error.js';
import type {
  FedItems,
  FeedEnd,
  FeedMessage,
  FeedRefusal,
  FeedRequest,
  FeedState,
  OpenFeed,
} from '../protocol/feed-messages.js';
import { FRAME_BYTES, JobFrameType } from './job-frame-type.js';
import type { Emit } from './session-codec.js';
import { readWord, writeWord } from './wire-fields.js';
import type { WireReader } from './wire-reader.js';

const FINAL = 1;
const FEED_ENDED = 1;
const REFUSED = 2;
const HAS_END = 1;
const ENDS = ['final', 'abandoned'] as const satisfies readonly FeedEnd[];
const PHASES = ['waiting', 'running', 'ended'] as const satisfies readonly FeedState['phase'][];

export function encodeOpenFeed({ feed, job }: OpenFeed, out: ByteWriter, emit: Emit): void {
  out.byte(0);
  out.int(feed);
  out.int(job);
  emit(JobFrameType.OpenFeed, out);
}

export function readOpenFeed(from: WireReader): OpenFeed {
  const flags = from.byte();
  const [feed, job] = [from.int(), from.int()];
  skipFields(from, flags);
  return { feed, job };
}

export function encodeCloseFeed(feed: number, out: ByteWriter, emit: Emit): void {
  out.byte(0);
  out.int(feed);
  emit(JobFrameType.CloseFeed, out);
}

export function readCloseFeed(from: WireReader): number {
  const flags = from.byte();
  const feed = from.int();
  skipFields(from, flags);
  return feed;
}

export function encodeFeed(message: FeedMessage, out: ByteWriter, emit: Emit): void {
  out.byte(message.final ? FINAL : 0);
  out.int(message.feed);
  out.int(message.job);
  out.int(message.first);
  writePayloads(out, message.items);
  emit(JobFrameType.Feed, out);
}

export function readFeed(from: WireReader): FeedMessage {
  const flags = from.byte();
  const [feed, job, first] = [from.int(), from.int(), from.int()];
  const items = readPayloads(from);
  skipFields(from, flags);
  return { feed, job, first, items, final: (flags & FINAL) !== 0 };
}

export function encodeFeedStates(items: readonly FeedState[], out: ByteWriter, emit: Emit): void {
  for (const state of items) {
    writeState(out, state);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.FeedStates, out);
  }
  if (out.length > 0) emit(JobFrameType.FeedStates, out);
}

export function readFeedStates(from: WireReader): FeedState[] {
  const items: FeedState[] = [];
  while (from.nextItem()) items.push(readState(from));
  return items;
}

export function encodeFedItems(all: readonly FedItems[], out: ByteWriter, emit: Emit): void {
  for (const { job, attempt, first, items, end } of all) {
    out.byte(end === undefined ? 0 : HAS_END);
    out.int(job);
    out.int(attempt);
    out.int(first);
    writePayloads(out, items);
    if (end !== undefined) writeWord(out, ENDS, end);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.FedItems, out);
  }
  if (out.length > 0) emit(JobFrameType.FedItems, out);
}

export function readFedItems(from: WireReader): FedItems[] {
  const all: FedItems[] = [];
  while (from.nextItem()) {
    const flags = from.byte();
    const [job, attempt, first] = [from.int(), from.int(), from.int()];
    const items = readPayloads(from);
    // An end of another version is an end all the same.
    const end = (flags & HAS_END) === 0 ? undefined : readWord(from, ENDS, 'abandoned');
    skipFields(from, flags);
    all.push({ job, attempt, first, items, end });
  }
  return all;
}

export function encodeFeedRequests(items: readonly FeedRequest[], out: ByteWriter, emit: Emit): void {
  for (const { job, attempt, received, taken } of items) {
    out.byte(0);
    out.int(job);
    out.int(attempt);
    out.int(received);
    out.int(taken);
    if (out.length >= FRAME_BYTES) emit(JobFrameType.FeedRequests, out);
  }
  if (out.length > 0) emit(JobFrameType.FeedRequests, out);
}

export function readFeedRequests(from: WireReader): FeedRequest[] {
  const items: FeedRequest[] = [];
  while (from.nextItem()) {
    const flags = from.byte();
    const [job, attempt, received, taken] = [from.int(), from.int(), from.int(), from.int()];
    skipFields(from, flags);
    items.push({ job, attempt, received, taken });
  }
  return items;
}

function writeState(out: ByteWriter, { refusal, ...state }: FeedState): void {
  out.byte((state.isEnded ? FEED_ENDED : 0) | (refusal === undefined ? 0 : REFUSED));
  writeWord(out, PHASES, state.phase);
  out.int(state.feed);
  out.int(state.accepted);
  out.int(state.taken);
  out.int(state.window);
  if (refusal === undefined) return;
  out.text(refusal.code);
  out.text(refusal.problem);
  out.int(refusal.retryAfterMs);
}

function readState(from: WireReader): FeedState {
  const flags = from.byte();
  // The client waits on in a phase that it does not know.
  const phase = readWord(from, PHASES, 'waiting');
  const [feed, accepted, taken, window] = [from.int(), from.int(), from.int(), from.int()];
  const refusal = (flags & REFUSED) === 0 ? undefined : readRefusal(from);
  skipFields(from, flags);
  return { feed, accepted, taken, window, phase, isEnded: (flags & FEED_ENDED) !== 0, refusal };
}

function readRefusal(from: WireReader): FeedRefusal {
  // A code this version does not know is still a refusal with its text.
  return { code: from.text() as FeedRefusalCode, problem: from.text(), retryAfterMs: from.int() };
}

function writePayloads(out: ByteWriter, items: readonly Payload[]): void {
  out.int(items.length);
  for (const item of items) out.payload(item);
}

function readPayloads(from: WireReader): Payload[] {
  const items: Payload[] = [];
  for (let left = from.int(); left > 0; left -= 1) {
    from.countItem();
    items.push(from.payload());
  }
  return items;
}

function skipFields(from: WireReader, flags: number): void {
  if ((flags & HAS_FIELDS) !== 0) skipOptionalFields(from);
}
