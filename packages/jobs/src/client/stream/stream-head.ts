import type { StreamItem, StreamPosition } from '../../protocol/stream-messages.js';
import { positionBehind } from './position-behind.js';
import type { OpenReader } from './reader-table.js';

/**
 * The first items of a stream, read before its caller iterates: the first iterator begins with them, and
 * needs no other request for its first chunk.
 */
export interface StreamHead {
  readonly items: readonly StreamItem[];
  /** Behind them. */
  readonly next: StreamPosition;
  /** The last of them is the last of the stream. */
  readonly isWhole: boolean;
}

/** Takes what comes first, and stops reading: a handle that is never iterated is no slow reader. */
export async function readHead(
  { items: queue, stop }: OpenReader,
  from: StreamPosition,
  signal: AbortSignal | undefined,
): Promise<StreamHead> {
  const abort = (): void => queue.abort(signal?.reason as Error);
  try {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', abort, { once: true });
    const items: StreamItem[] = [];
    for (;;) {
      for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
      const last = items.at(-1);
      if (last === undefined) {
        await queue.changed();
        continue;
      }
      const next = items.reduce((known, item) => positionBehind(item, known), from);
      return { items, next, isWhole: last.kind === 'end' || last.kind === 'refused' };
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}
