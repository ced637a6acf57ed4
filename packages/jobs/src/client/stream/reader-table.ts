import type { StreamItem, StreamPosition } from '../../protocol/stream-messages.js';
import type { ClientCalls } from '../client-protocol.js';
import { ItemQueue, READER_WINDOW_BYTES } from './item-queue.js';
import type { StreamHead } from './stream-head.js';

/** A stream that a caller reads. */
export interface OpenReader {
  readonly items: ItemQueue;
  stop(): void;
}

type ReaderCalls = Pick<ClientCalls, 'readStream' | 'streamConsumed' | 'stopStream'>;

/** The readers of a client that have not ended, by number. Effects of the client's actor fill them. */
export class ReaderTable {
  private readonly queues = new Map<number, ItemQueue>();
  private lastReader = 0;
  private endedBy: Error | undefined = undefined;

  /** `head`: it begins with these items, which were read before. */
  open(calls: ReaderCalls, job: number, position: StreamPosition, head?: StreamHead): OpenReader {
    this.lastReader += 1;
    const reader = this.lastReader;
    const items = new ItemQueue(reader, (consumed) => {
      if (this.endedBy === undefined) calls.streamConsumed(consumed);
    });
    if (head !== undefined) items.push(head.items);
    if (head?.isWhole === true) return { items, stop: () => undefined };
    if (this.endedBy !== undefined) items.fail(this.endedBy);
    else {
      this.queues.set(reader, items);
      calls.readStream({ reader, job, ...position, window: READER_WINDOW_BYTES });
    }
    return {
      items,
      stop: () => {
        if (this.queues.delete(reader)) calls.stopStream(reader);
      },
    };
  }

  streamed(reader: number, items: readonly StreamItem[]): void {
    this.queues.get(reader)?.push(items);
  }

  ended(error: Error): void {
    this.endedBy ??= error;
    for (const queue of this.queues.values()) queue.fail(error);
    this.queues.clear();
  }
}
