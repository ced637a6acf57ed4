// Hot path: `advance` runs once per turn and reader of a stream with new chunks.
import type { Payload } from '../../job/payload/payload.js';
import type { StreamItem } from '../../protocol/stream-messages.js';
import type { JobStream } from './job-stream.js';
import type { SpillPart } from './spilled-parts.js';
import type { StreamReader } from './stream-reader.js';

/** Runs of chunks, and other items, of one message to a reader. */
const ITEMS_PER_MESSAGE = 64;
/** Streams, readers and items of one turn: a few milliseconds. */
export const DELIVERED_PER_TURN = 1_024;
/** Readers that get one part of a file at once. For the others it is read again. */
export const READERS_PER_PART = 256;

export interface DeliveryEvents {
  write(reader: StreamReader, items: readonly StreamItem[]): void;
  /** The reader has its end. */
  ended(reader: StreamReader): void;
  /** The next chunks of a reader are in a file. */
  needs(stream: JobStream, part: SpillPart): void;
  /** Every reader of the stream has its items, or no room for more. */
  passed(stream: JobStream): void;
}

/** The streams with something new for their readers, in turns: a bounded number of items each turn. */
export class StreamDelivery {
  private readonly events: DeliveryEvents;
  private readonly waiting = new Set<JobStream>();
  /** The stream whose turn it is, and its readers that are still to be served. */
  private stream: JobStream | undefined = undefined;
  private readers: Iterator<StreamReader> = [].values();

  constructor(events: DeliveryEvents) {
    this.events = events;
  }

  add(stream: JobStream): void {
    this.waiting.add(stream);
  }

  remove(stream: JobStream): void {
    this.waiting.delete(stream);
    if (this.stream === stream) this.stream = undefined;
  }

  get isEmpty(): boolean {
    return this.stream === undefined && this.waiting.size === 0;
  }

  /** The share of one turn. Streams that are added meanwhile wait for the next one. */
  step(): void {
    let left = DELIVERED_PER_TURN;
    let streams = this.waiting.size;
    while (left > 0 && (this.stream !== undefined || streams > 0)) {
      if (this.stream === undefined) {
        streams -= 1;
        this.stream = this.takeNext();
      }
      left -= this.serve(this.stream, left);
    }
  }

  private takeNext(): JobStream {
    const stream = this.waiting.values().next().value as JobStream; // one is waiting
    this.waiting.delete(stream);
    this.readers = stream.readers.values();
    return stream;
  }

  /** Returns what was done, one at least. */
  private serve(stream: JobStream, left: number): number {
    let done = 1;
    while (done < left) {
      const { value: reader, done: isLast } = this.readers.next();
      if (isLast === true) {
        this.stream = undefined;
        this.events.passed(stream);
        break;
      }
      done += 1 + this.advance(stream, reader);
    }
    return done;
  }

  /** Returns the number of items. */
  private advance(stream: JobStream, reader: StreamReader): number {
    const items: StreamItem[] = [];
    // The chunks on the way to it are void after a reset.
    while (reader.hasRoom || reader.attempt !== stream.attempt) {
      if (items.length === ITEMS_PER_MESSAGE) {
        this.waiting.add(stream);
        break;
      }
      const item = stream.item(reader);
      if (item === undefined) break;
      if (item.kind === 'spilled') {
        this.events.needs(stream, item.part);
        break;
      }
      items.push(item);
      if (item.kind !== 'end') continue;
      this.events.ended(reader);
      break;
    }
    if (items.length > 0) this.events.write(reader, items);
    return items.length;
  }

  /** A part of a file is here: it goes to the readers that are at it and have room. */
  deliverPart(stream: JobStream, { first, count }: SpillPart, chunks: readonly Payload[]): void {
    const { attempt } = stream;
    const end = first + count;
    const at = (offset: number): Payload => chunks[offset - first] as Payload; // first <= offset < end
    let served = 0;
    for (const reader of stream.readers) {
      if (served === READERS_PER_PART) break;
      const items: StreamItem[] = [];
      const isThere = reader.attempt === attempt && reader.offset >= first && reader.hasRoom;
      while (isThere && reader.offset < end) {
        const { offset } = reader;
        const last = reader.takeRun(at, end);
        const run = chunks.slice(offset - first, last - first);
        items.push({ kind: 'data', attempt, first: offset, chunks: run });
      }
      if (items.length === 0) continue;
      served += 1;
      this.events.write(reader, items);
    }
    this.waiting.add(stream);
  }
}
