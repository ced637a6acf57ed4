import { handlerOf } from '../message/envelope.js';
import { MessageQueue } from './message-queue.js';

/** The priorities a handler may be given, first served first. */
export type Level = 'high' | 'normal' | 'low';
export const LEVELS: readonly Level[] = ['high', 'normal', 'low'];

/**
 * A user lane with a fixed set of levels: the highest non-empty level first, first in first out within one. A
 * message that was put back is before all of them: its turn had come already.
 */
export class LevelledQueue extends MessageQueue {
  private readonly putBack = new MessageQueue();
  private readonly lanes: readonly MessageQueue[] = [this.putBack, ...LEVELS.map(() => new MessageQueue())];
  private readonly levelOf: readonly number[];

  constructor(levelOf: readonly number[]) {
    super();
    this.levelOf = levelOf;
  }

  override push(handler: number, payload: unknown): void {
    this.laneOf(handler).push(handler, payload);
    this.length += 1;
  }

  override unshift(handler: number, payload: unknown): void {
    this.putBack.unshift(handler, payload);
    this.length += 1;
  }

  override peek(): number {
    return this.first().peek();
  }

  override take(): unknown {
    this.length -= 1;
    return this.first().take();
  }

  override findIndex(isMeant: (payload: unknown) => boolean): number {
    let before = 0;
    for (const lane of this.lanes) {
      const place = lane.findIndex(isMeant);
      if (place >= 0) return before + place;
      before += lane.length;
    }
    return -1;
  }

  private first(): MessageQueue {
    for (const lane of this.lanes) if (lane.length > 0) return lane;
    throw new RangeError('a message was taken from an empty mailbox');
  }

  private laneOf(handler: number): MessageQueue {
    return this.lanes[1 + (this.levelOf[handlerOf(handler)] ?? 1)] as MessageQueue;
  }
}
