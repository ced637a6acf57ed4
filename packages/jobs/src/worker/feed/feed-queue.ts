// Hot path: `push` and `next` run once per item.
import { Ring } from '../../collections/ring.js';
import type { Payload } from '../../job/payload/payload.js';
import type { FedItems, FeedEnd, FeedRequest } from '../../protocol/feed-messages.js';

/** The items of one attempt between the leader and the handler that takes them. */
export class FeedQueue {
  readonly job: number;
  readonly attempt: number;
  /** Set by the worker: the leader has to know what the handler has taken. */
  onTaken: () => void = () => undefined;
  /** Its handler is on a thread, which has a queue of its own: items go there. */
  forward: ((fed: FedItems) => void) | undefined = undefined;
  end: FeedEnd | undefined = undefined;
  private readonly items = new Ring<Payload>();
  private received = 0;
  private taken = 0;
  private failure: Error | undefined = undefined;
  private wake: () => void = () => undefined;
  private changed: Promise<void> | undefined = undefined;

  constructor(job: number, attempt: number) {
    this.job = job;
    this.attempt = attempt;
  }

  get request(): FeedRequest {
    const { job, attempt, received, taken } = this;
    return { job, attempt, received, taken };
  }

  /** Items that are here already are skipped: the leader repeats what it does not know to be received. */
  push(fed: FedItems): void {
    if (this.forward !== undefined) return this.forward(fed);
    const { first, items, end } = fed;
    // A gap: the leader sends from the next request on.
    if (first > this.received) return;
    for (let at = this.received - first; at < items.length; at += 1) {
      this.items.push(items[at] as Payload); // at < length
      this.received += 1;
    }
    if (end !== undefined && this.received === first + items.length) this.end = end;
    this.notify();
  }

  /** The state of the queue on the thread. */
  follow({ received, taken }: FeedRequest): void {
    this.received = received;
    this.taken = taken;
    this.onTaken();
  }

  /** `next` does not wait. */
  get isReady(): boolean {
    return this.items.size > 0 || this.end !== undefined || this.failure !== undefined;
  }

  /** Undefined: the feed has ended. */
  async next(): Promise<Payload | undefined> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure;
      const item = this.items.shift();
      if (item !== undefined) {
        this.taken += 1;
        this.onTaken();
        return item;
      }
      if (this.end !== undefined) return undefined;
      await this.change();
    }
  }

  /** The attempt is over: its handler must not take a feed that was cut for one that has ended. */
  fail(error: Error): void {
    this.failure ??= error;
    this.notify();
  }

  private change(): Promise<void> {
    this.changed ??= new Promise((resolve) => {
      this.wake = resolve;
    });
    return this.changed;
  }

  private notify(): void {
    this.changed = undefined;
    this.wake();
  }
}
