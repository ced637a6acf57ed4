// Hot path: `take` runs once per run of chunks, `consumed` once per chunk.
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

  /** The caller wants no more: the items that are here are dropped. */
  abort(error: Error): void {
    while (this.items.shift() !== undefined);
    this.fail(error);
  }

  /** Undefined: nothing yet. Throws once it has failed and its items are taken. */
  take(): StreamItem | undefined {
    const item = this.items.shift();
    if (item === undefined && this.failure !== undefined) throw this.failure;
    return item;
  }

  changed(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.waiting = { resolve };
    });
  }

  /** A chunk was given to the caller. */
  consumed(bytes: number, attempt: number, offset: number): void {
    this.unreportedBytes += bytes;
    if (this.unreportedBytes < READER_WINDOW_BYTES / 4) return;
    this.unreportedBytes = 0;
    this.onConsumed({ reader: this.reader, attempt, offset: offset + 1 });
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve();
  }
}
