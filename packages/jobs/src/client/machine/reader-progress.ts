// Hot path: `take` runs once per batch of items.
import type { ReadStream, StreamItem, StreamPosition } from '../../protocol/stream-messages.js';
import { positionBehind } from '../stream/position-behind.js';

/** The items that a reader has received, and those that its caller has taken. */
export class ReaderProgress {
  private readonly request: ReadStream;
  /** Behind the last item. */
  private received: StreamPosition;
  /** The caller has reported that it has taken every chunk below this position. */
  private consumed: StreamPosition;

  constructor(request: ReadStream) {
    this.request = request;
    this.received = request;
    this.consumed = request;
  }

  /**
   * The request of a new session. A leader may forget the chunks before its position, so that it names only
   * those that the caller has taken; the others come once more, and are passed over here.
   */
  get renewal(): ReadStream {
    const { attempt, offset } = this.consumed;
    return { ...this.request, attempt, offset };
  }

  consume(position: StreamPosition): void {
    this.consumed = position;
  }

  /** The items that have not been received before. */
  take(items: readonly StreamItem[]): readonly StreamItem[] {
    let fresh: StreamItem[] | undefined;
    for (const [index, item] of items.entries()) {
      const part = this.newPart(item);
      if (part !== item) fresh ??= items.slice(0, index);
      if (part === undefined) continue;
      fresh?.push(part);
      this.advance(part);
    }
    return fresh ?? items;
  }

  private newPart(item: StreamItem): StreamItem | undefined {
    const { attempt, offset } = this.received;
    if (item.kind === 'reset') return item.attempt > attempt ? item : undefined;
    if (item.kind === 'data' && item.attempt === attempt && item.first < offset) {
      const chunks = item.chunks.slice(offset - item.first);
      return chunks.length === 0 ? undefined : { ...item, first: offset, chunks };
    }
    if (item.kind === 'gap' && item.attempt === attempt && item.from < offset)
      return item.to !== undefined && item.to <= offset ? undefined : { ...item, from: offset };
    return item;
  }

  /** A request without an attempt keeps its offset in the first that it meets. */
  private advance(item: StreamItem): void {
    this.received = positionBehind(item, this.received);
    if (this.consumed.attempt === 0)
      this.consumed = { attempt: this.received.attempt, offset: this.consumed.offset };
  }
}
