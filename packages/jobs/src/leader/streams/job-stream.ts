// Hot path: `take`, `consume` and `item` run once per batch of chunks.
import type { StreamingMode } from '../../job/definition/job-policy.js';
import type { StreamPolicy } from '../../job/definition/stream-policy.js';
import type { Payload } from '../../job/payload/payload.js';
import type { JobOutcome } from '../../protocol/client/client-messages.js';
import type { StreamItem } from '../../protocol/stream-messages.js';
import { ChunkBuffer } from './chunk-buffer.js';
import { SpilledParts, type SpillPart } from './spilled-parts.js';
import type { StreamReader } from './stream-reader.js';

/** A worker that keeps to its windows is never so far ahead: beyond it chunks become a gap. */
const OVERRUN_BUFFERS_MAX = 4;

/** The next chunk of a reader is in a file. */
export interface SpilledItem {
  readonly kind: 'spilled';
  readonly part: SpillPart;
}

/** Chunks that are to be written to a file, from `first` up to, not including, `end`. */
export interface ChunkRange {
  readonly first: number;
  readonly end: number;
}

/**
 * The chunks of the latest attempt of one job: the newest in memory, and those that had to make room for them
 * in parts of the spill. Every chunk below `next` that is in neither is a gap.
 *
 * ```
 * 0 ── parts and gaps ── base ═════ in memory ═════ next
 * ```
 */
export class JobStream {
  readonly job: number;
  readonly streaming: StreamingMode;
  readonly policy: StreamPolicy;
  /** Of the client of the job: the files have a bound by identity. */
  readonly identity: string;
  readonly readers = new Set<StreamReader>();
  readonly parts = new SpilledParts();
  attempt: number;
  /** Undefined while the job may go on. */
  outcome: JobOutcome | undefined = undefined;
  /** False after a restart of the leader, until the worker or the end of the attempt has named its number. */
  isKnown: boolean;
  /** The files take no more of it: their bound is reached, or they cannot be written. */
  isSpillFull = false;
  /** Its bytes in the sum of all streams. */
  countedBytes = 0;
  /** Chunks below this number are on their way to a file, in one, or need not be. */
  spilling = 0;
  private readonly buffer = new ChunkBuffer();
  /** So many are known to have been yielded: a worker that is back repeats some of them. */
  private produced = 0;
  /** The furthest chunk that a reader has consumed is below this number. */
  private consumed = 0;
  /** Chunks below this number are in a file, or need not be. */
  private spilled = 0;
  /** Of the chunks in memory from `pendingFrom` on: the worker's window is the rest of the buffer. */
  private pendingBytes = 0;
  private pendingFrom = 0;
  /** `next` at the latest look at ages, and at the one before. */
  private agedNext = 0;
  private lookedNext = 0;

  constructor(setup: Pick<JobStream, 'job' | 'streaming' | 'policy' | 'identity' | 'attempt' | 'isKnown'>) {
    this.job = setup.job;
    this.streaming = setup.streaming;
    this.policy = setup.policy;
    this.identity = setup.identity;
    this.attempt = setup.attempt;
    this.isKnown = setup.isKnown;
  }

  /** The number behind the last chunk. */
  get next(): number {
    return this.buffer.next;
  }

  /** Bytes of chunks in memory. */
  get bytes(): number {
    return this.buffer.bytes;
  }

  /** The worker may forget every chunk below this number. */
  get taken(): number {
    return this.policy.durable ? this.spilled : this.next;
  }

  /** Bytes of chunks from `taken` on that the worker may have on the way. */
  get window(): number {
    const { bufferBytes, durable } = this.policy;
    if (this.dropsOldest) return bufferBytes;
    const room = Math.max(0, bufferBytes - this.pendingBytes);
    // Chunks that are not on the disk are still held by the worker.
    return durable ? this.bytesFrom(this.spilled) + room : room;
  }

  /** No reader is there for more than the buffer holds. */
  get isUnread(): boolean {
    return this.readers.size === 0 && this.pendingBytes >= this.policy.bufferBytes;
  }

  /** Another attempt: the chunks of the last one are void. Returns their parts. */
  restart(attempt: number): readonly SpillPart[] {
    this.buffer.clear(0);
    this.attempt = attempt;
    this.produced = 0;
    this.consumed = 0;
    this.spilling = 0;
    this.spilled = 0;
    this.pendingBytes = 0;
    this.pendingFrom = 0;
    this.agedNext = 0;
    this.lookedNext = 0;
    this.isKnown = true;
    this.outcome = undefined;
    return this.parts.clear();
  }

  /** Chunks that are here already are skipped: a worker repeats what was not acknowledged. */
  take(first: number, chunks: readonly Payload[]): void {
    if (first > this.next) this.loseUpTo(first);
    this.isKnown = true;
    const { buffer } = this;
    for (let at = buffer.next - first; at < chunks.length; at += 1) {
      const chunk = chunks[at] as Payload; // at < length
      buffer.push(chunk);
      this.pendingBytes += chunk.length;
    }
    this.makeRoom();
  }

  /** The worker is back: it has chunks from `first` on, and the leader none that it does not know of. */
  resumed(first: number, produced: number): void {
    this.isKnown = true;
    this.produced = Math.max(this.produced, produced);
    if (first > this.next) this.loseUpTo(first);
  }

  /** The attempt has ended with so many chunks: those that are not here are a gap. */
  ended(chunks: number | undefined): void {
    if (chunks === undefined) return;
    this.isKnown = true;
    this.produced = Math.max(this.produced, chunks);
  }

  /** Of files of before a restart: `first` is at least the end of the part before. */
  addFound(part: SpillPart): void {
    this.parts.add(part);
    const { end } = this.parts;
    this.buffer.clear(end);
    this.spilling = end;
    this.spilled = end;
    this.pendingFrom = end;
  }

  /** A reader has given all chunks below `offset` to its caller. */
  consume(offset: number): void {
    const to = Math.min(offset, this.next);
    if (to <= this.consumed) return;
    this.consumed = to;
    this.settle();
  }

  isAhead(offset: number): boolean {
    return this.isKnown && offset > this.count;
  }

  /** Chunks of the attempt; those that its worker has named and not sent again are among them. */
  get count(): number {
    return Math.max(this.next, this.produced);
  }

  /** The chunks in memory are gone, not their numbers: readers behind them get a gap. */
  dropBuffer(): void {
    this.buffer.clear(this.next);
    this.pendingBytes = 0;
    this.pendingFrom = this.next;
    this.spilling = Math.max(this.spilling, this.next);
  }

  /** The next item for a reader that has room; undefined: nothing yet. */
  item(reader: StreamReader): StreamItem | SpilledItem | undefined {
    const { attempt, buffer } = this;
    if (reader.attempt !== attempt) {
      const isFirst = reader.attempt === 0;
      reader.restart(attempt);
      if (!isFirst) return { kind: 'reset', attempt };
    }
    if (reader.offset < buffer.base) return this.itemBefore(reader);
    if (reader.offset < buffer.next) {
      const first = reader.offset;
      const end = reader.takeRun((offset) => buffer.at(offset), buffer.next);
      return { kind: 'data', attempt, first, chunks: buffer.slice(first, end) };
    }
    return this.outcome === undefined ? undefined : this.lastItem(reader, this.outcome);
  }

  /** The chunks that are to go to a file now. `isAged`: also those that have waited for a while. */
  spillRange({ isAged }: { readonly isAged: boolean }): ChunkRange | undefined {
    const { whenUnread, durable, bufferBytes } = this.policy;
    if (durable) return this.rangeUpTo(this.spilling, this.next);
    if (whenUnread !== 'spill' || this.isSpillFull) return undefined;
    const isUnread = this.streaming === 'internal' || this.readers.size === 0;
    const first = this.readers.size === 0 ? this.consumed : this.lowest;
    const end = isUnread ? this.next : this.consumed;
    if (isUnread && this.pendingBytes > bufferBytes / 2) return this.rangeUpTo(first, end);
    if (first < this.consumed && this.bytes > (bufferBytes * 3) / 4) return this.rangeUpTo(first, end);
    return isAged ? this.rangeUpTo(first, Math.min(end, this.agedNext)) : undefined;
  }

  /** A look at ages: chunks that were here at the look before are old at the next one. */
  lookAtAges(): void {
    this.agedNext = this.lookedNext;
    this.lookedNext = this.next;
  }

  /** No look at ages will find another chunk to write, unless chunks or readers come or go. */
  get isSettled(): boolean {
    return this.agedNext === this.next && this.spillRange({ isAged: true }) === undefined;
  }

  /** The first chunks of a range, about so many bytes, one at least. */
  partOf({ first, end }: ChunkRange, bytesMax: number): Payload[] {
    let bytes = 0;
    let last = first;
    while (last < end && bytes < bytesMax) {
      bytes += this.buffer.at(last).length;
      last += 1;
    }
    return this.buffer.slice(first, last);
  }

  /** The parts are written, and may be left out of memory. */
  wasSpilled(parts: readonly SpillPart[], end: number): void {
    for (const part of parts) this.parts.add(part);
    this.spilled = Math.max(this.spilled, end);
    this.settle();
    this.makeRoom();
  }

  spillFailed(): void {
    this.spilling = this.spilled;
  }

  /** It has ended, or drops its oldest chunks rather than wait. */
  get mayLoseParts(): boolean {
    return this.outcome !== undefined || (this.streaming === 'internal' && !this.policy.durable);
  }

  /** Parts that every reader has consumed, or of a stream that drops its oldest chunks rather than wait. */
  takeDroppablePart(): SpillPart | undefined {
    const { oldest } = this.parts;
    if (oldest === undefined) return undefined;
    const isConsumed = oldest.first + oldest.count <= this.freeBelow;
    return isConsumed || this.streaming === 'internal' ? this.parts.removeOldest() : undefined;
  }

  /** Chunks below this number have been consumed by every reader, and by one at least. */
  private get freeBelow(): number {
    return this.readers.size === 0 ? this.consumed : Math.min(this.lowest, this.consumed);
  }

  /** The first chunk that a reader has not consumed. */
  private get lowest(): number {
    let lowest = this.next;
    for (const { attempt, consumed } of this.readers)
      lowest = Math.min(lowest, attempt === this.attempt ? consumed : 0);
    return lowest;
  }

  private rangeUpTo(from: number, end: number): ChunkRange | undefined {
    const first = Math.max(from, this.spilling, this.buffer.base);
    return first < end ? { first, end } : undefined;
  }

  private bytesFrom(offset: number): number {
    let bytes = 0;
    for (let at = Math.max(offset, this.buffer.base); at < this.next; at += 1)
      bytes += this.buffer.at(at).length;
    return bytes;
  }

  /** In a part, or lost. */
  private itemBefore(reader: StreamReader): StreamItem | SpilledItem {
    const { attempt } = this;
    const { base } = this.buffer;
    const from = reader.offset;
    const part = this.parts.at(from);
    if (part !== undefined && part.first <= from) return { kind: 'spilled', part };
    const to = part === undefined ? base : Math.min(part.first, base);
    reader.skipTo(to);
    return { kind: 'gap', attempt, from, to };
  }

  private lastItem(reader: StreamReader, outcome: JobOutcome): StreamItem {
    const { attempt, streaming } = this;
    const from = reader.offset;
    if (this.isKnown && from < this.produced) {
      reader.skipTo(this.produced);
      return { kind: 'gap', attempt, from, to: this.produced };
    }
    if (!this.isKnown && !reader.knowsLoss) {
      reader.knowsLoss = true;
      return { kind: 'gap', attempt, from, to: undefined };
    }
    // The output of a job is read by `Await`; only `internal` has it in the stream.
    const isOutputWanted = streaming === 'internal' || outcome.result === undefined;
    return { kind: 'end', streaming, outcome: isOutputWanted ? outcome : { ...outcome, result: undefined } };
  }

  /** Chunks up to `offset` will never come: the leader has restarted, or the worker never sent them. */
  private loseUpTo(offset: number): void {
    this.buffer.clear(offset);
    this.pendingBytes = 0;
    this.pendingFrom = offset;
    this.spilling = offset;
    this.spilled = offset;
  }

  /** Chunks that do not count against the worker's window any more. */
  private settle(): void {
    const floor = this.pendingFloor;
    for (; this.pendingFrom < floor; this.pendingFrom += 1)
      if (this.pendingFrom >= this.buffer.base) this.pendingBytes -= this.buffer.at(this.pendingFrom).length;
  }

  private get pendingFloor(): number {
    const { whenUnread, durable } = this.policy;
    const { consumed, spilled } = this;
    if (whenUnread === 'spill') return durable ? spilled : Math.max(consumed, spilled);
    if (whenUnread === 'drop-with-gap') return durable ? spilled : this.next;
    return durable ? Math.min(consumed, spilled) : consumed;
  }

  private makeRoom(): void {
    const { bufferBytes, durable, whenUnread } = this.policy;
    if (whenUnread === 'drop-with-gap') this.settle();
    if (this.bytes <= bufferBytes) return;
    this.dropDownTo(bufferBytes, durable ? this.spilled : Math.max(this.spilled, this.freeBelow));
    // A slower reader gets a gap, rather than stop the others, unless its chunks are about to be in a file.
    const isSpilling = whenUnread === 'spill' && !this.isSpillFull;
    if (!durable) this.dropDownTo(isSpilling ? 2 * bufferBytes : bufferBytes, this.consumed);
    if (this.dropsOldest) this.dropDownTo(bufferBytes, this.next);
    this.dropDownTo(OVERRUN_BUFFERS_MAX * bufferBytes, this.next);
  }

  private dropDownTo(bytes: number, end: number): void {
    while (this.bytes > bytes && this.buffer.base < end) this.dropOldest();
  }

  /** Rather than wait, or because the files take no more. */
  private get dropsOldest(): boolean {
    const { whenUnread, durable } = this.policy;
    if (durable) return false;
    if (whenUnread === 'drop-with-gap') return true;
    return whenUnread === 'spill' && this.streaming === 'internal' && this.isSpillFull;
  }

  private dropOldest(): void {
    const offset = this.buffer.base;
    const bytes = this.buffer.shift();
    if (offset < this.pendingFrom) return;
    this.pendingBytes -= bytes;
    this.pendingFrom = offset + 1;
  }
}
