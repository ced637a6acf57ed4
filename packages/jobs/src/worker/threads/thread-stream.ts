import type { Payload } from '../../job/payload/payload.js';
import type { AttemptEnd } from '../../protocol/worker/worker-messages.js';
import type { ChunkSender } from '../stream/chunk-sender.js';
import type { HandlerChunks, HandlerWindow } from './handler-threads.js';

/**
 * The stream of an attempt on a thread, between the sender there and the one of the worker. The thread may
 * have as many bytes on the way as the worker has room for: a slow reader stops the handler on its thread.
 */
export class ThreadStream {
  private readonly sender: ChunkSender;
  private readonly id: number;
  private readonly open: (window: HandlerWindow) => void;
  private readonly onEnd: (end: AttemptEnd) => void;
  private taken = 0;
  private end: AttemptEnd | undefined = undefined;

  /** `onEnd`: the handler has ended, and every chunk has left. */
  constructor(
    sender: ChunkSender,
    id: number,
    effects: { open(window: HandlerWindow): void; ended(end: AttemptEnd): void },
  ) {
    this.sender = sender;
    this.id = id;
    this.open = (window) => effects.open(window);
    this.onEnd = (end) => effects.ended(end);
    sender.onChange = () => this.changed();
    this.renew();
  }

  take({ first, chunks }: HandlerChunks): void {
    for (let at = this.taken - first; at < chunks.length; at += 1) {
      this.sender.push(chunks[at] as Payload); // at < length
      this.taken += 1;
    }
    this.renew();
  }

  /** The handler has ended; its end waits for its chunks. */
  finish(end: AttemptEnd): void {
    this.end = end;
    this.changed();
  }

  private changed(): void {
    const { end } = this;
    if (end === undefined) return this.renew();
    if (!this.sender.isDrained) return;
    this.end = undefined;
    this.sender.onChange = undefined;
    this.onEnd(end);
  }

  private renew(): void {
    const { id, taken } = this;
    this.open({ id, taken, bytes: this.sender.room });
  }
}
