// Hot path: `take` runs once per message of a client.
import type { Payload } from '../../job/payload/payload.js';
import type { FeedEnd } from '../../protocol/feed-messages.js';
import type { FeedRecord } from '../ledger-record.js';

/** Memory of an item beside its content. Part of the format: the bytes of a feed decide what is dropped. */
const ITEM_OVERHEAD_BYTES = 16;

/**
 * The feed of one job: its items from `base` on, and the next number of each client that has fed it. After
 * the end of the job only the numbers are kept, so that a repeated item is still known.
 */
export class StoredFeed {
  /** Items below this number are dropped: the job cannot be tried again. */
  base = 0;
  /** The number of items of all feeders. */
  next = 0;
  /** Of the kept items. */
  bytes = 0;
  end: FeedEnd | undefined = undefined;
  /** Since this object was made: only differences of `totalBytes` mean something. */
  private droppedBytes = 0;
  /** The next number of each feeder. Invariant: only grows. */
  readonly feeders = new Map<string, number>();
  private items: Payload[] = [];

  /** Grows with every item; does not shrink when items are dropped. */
  get totalBytes(): number {
    return this.droppedBytes + this.bytes;
  }

  /** Another attempt would see the same items from the first on. */
  get isReplayable(): boolean {
    return this.base === 0;
  }

  /** Every item of the message is here already. */
  has({ feeder, first, items, final }: Pick<FeedRecord, 'feeder' | 'first' | 'items' | 'final'>): boolean {
    return first + items.length + (final ? 1 : 0) <= (this.feeders.get(feeder) ?? 0);
  }

  /** Items that are here already are skipped. Nothing is taken behind a gap, or behind the end. */
  take({ feeder, first, items, final }: FeedRecord): void {
    const next = this.feeders.get(feeder) ?? 0;
    if (first > next || this.end !== undefined) return;
    for (let at = next - first; at < items.length; at += 1) this.add(items[at] as Payload); // at < length
    this.feeders.set(feeder, Math.max(next, first + items.length + (final ? 1 : 0)));
    if (final) this.end = 'final';
  }

  /** Also for items of a snapshot. */
  add(item: Payload): void {
    this.items.push(item);
    this.next += 1;
    this.bytes += item.length + ITEM_OVERHEAD_BYTES;
  }

  /** Below `next` and not below `base`. */
  at(number: number): Payload {
    return this.items[number - this.base] as Payload; // as the caller guarantees
  }

  bytesBetween(from: number, to: number): number {
    let bytes = 0;
    for (let number = Math.max(from, this.base); number < to; number += 1)
      bytes += this.at(number).length + ITEM_OVERHEAD_BYTES;
    return bytes;
  }

  /** The handler has taken every item below the number. */
  drop(below: number): void {
    const to = Math.min(below, this.next);
    if (to <= this.base) return;
    const bytes = this.bytesBetween(this.base, to);
    this.bytes -= bytes;
    this.droppedBytes += bytes;
    this.items = this.items.slice(to - this.base);
    this.base = to;
  }

  /** The job has ended, and is not tried again. */
  clear(): void {
    this.items = [];
    this.bytes = 0;
  }

  kept(): readonly Payload[] {
    return this.items;
  }
}
