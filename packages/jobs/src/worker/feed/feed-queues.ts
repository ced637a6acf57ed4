import type { FedItems, FeedRequest } from '../../protocol/feed-messages.js';
import { attemptKey } from '../attempt/attempt.js';
import type { FeedQueue } from './feed-queue.js';

/** The feeds of a worker's running attempts. */
export class FeedQueues {
  private readonly queues = new Map<number, FeedQueue>();
  /** Queues whose state the leader does not know. */
  private readonly ready = new Set<FeedQueue>();
  private readonly onReady: () => void;

  constructor(onReady: () => void) {
    this.onReady = onReady;
  }

  /** The handler begins: items may come. */
  add(queue: FeedQueue): void {
    this.queues.set(attemptKey(queue.job, queue.attempt), queue);
    queue.onTaken = () => this.isReady(queue);
    this.isReady(queue);
  }

  remove(job: number, attempt: number): void {
    if (this.queues.size === 0) return;
    const key = attemptKey(job, attempt);
    const queue = this.queues.get(key);
    if (queue === undefined) return;
    this.queues.delete(key);
    this.ready.delete(queue);
    queue.onTaken = () => undefined;
  }

  push(fed: FedItems): void {
    this.queues.get(attemptKey(fed.job, fed.attempt))?.push(fed);
  }

  /** A new session: the leader may have lost what it knew. */
  rewind(): void {
    for (const queue of this.queues.values()) this.ready.add(queue);
  }

  take(): readonly FeedRequest[] {
    const requests = Array.from(this.ready, (queue) => queue.request);
    this.ready.clear();
    return requests;
  }

  private isReady(queue: FeedQueue): void {
    this.ready.add(queue);
    this.onReady();
  }
}
