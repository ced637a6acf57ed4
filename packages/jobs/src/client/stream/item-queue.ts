// Hot path: `next` runs once per chunk.
import { Ring } from '../../collections/ring.js';
import type { StreamConsumed, StreamItem } from '../../protocol/stream-messages.js';

/** Bytes of chunks on the way to one reader. */
export const READER_WINDOW_BYTES = 256 * 1024;

/** The items of one reader between the client's actor and the caller who takes them. */
export class ItemQueue {
  private readonly reader: number;
  private readonly onConsumed: (position: StreamConsumed) => void;
  private readonly items = new Ring<StreamItem>();
  private waiting: { resolve: () => void } | undefined = undefined;
  private failure: Error | undefined = undefined;
  private unreportedBytes = 0;

  /** `onConsumed`: every quarter of the window, so that more may be sent. */
  constructor(reader: number, onConsumed: (position: StreamConsumed) => void) {
    this.reader = reader;
    this.onConsumed = onConsumed;
  }

  push(items: readonly StreamItem[]): void {
    for (const item of items) this.items.push(item);
    this.wake();
  }

  /** The items that are here are still taken; then the error is thrown. */
  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  async next(): Promise<StreamItem> {
    for (;;) {
      const item = this.items.shift();
      if (item !== undefined) return this.consumed(item);
      if (this.failure !== undefined) throw this.failure;
      await new Promise<void>((resolve) => {
        this.waiting = { resolve };
      });
    }
  }

  private consumed(item: StreamItem): StreamItem {
    if (item.kind !== 'data') return item;
    this.unreportedBytes += item.chunk.length;
    if (this.unreportedBytes < READER_WINDOW_BYTES / 4) return item;
    this.unreportedBytes = 0;
    this.onConsumed({ reader: this.reader, attempt: item.attempt, offset: item.offset + 1 });
    return item;
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve();
  }
}
