import type { StreamItem, StreamPosition } from '../../protocol/stream-messages.js';

/** The position of the next chunk for a reader at `known` that has got this item. */
export function positionBehind(item: StreamItem, known: StreamPosition): StreamPosition {
  switch (item.kind) {
    case 'data':
      return { attempt: item.attempt, offset: item.first + item.chunks.length };
    case 'reset':
      return { attempt: item.attempt, offset: 0 };
    case 'gap':
      return { attempt: item.attempt, offset: item.to ?? item.from };
    default:
      return known;
  }
}
