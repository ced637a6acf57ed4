import type { Payload } from '../../job/payload/payload.js';
import type { StoredFeed } from '../../ledger/feeds/stored-feed.js';
import type { FedItems, FeedRequest } from '../../protocol/feed-messages.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** Items that are on the way to a handler, or wait for it in its worker. */
const WORKER_WINDOW_BYTES = 256 * 1024;

/** One client that has the feed of one job open. */
export interface OpenedFeed {
  readonly session: ClientSession;
  /** The client's number of the feed. */
  readonly number: number;
  readonly job: number;
  /** The client in the records. */
  readonly feeder: string;
}

/** A fed job beside its stored feed: who has the feed open, and how far its handler is. */
export class FedJob {
  readonly openedBy = new Set<OpenedFeed>();
  /** The handler has taken every item below this number. */
  taken = 0;
  /** The items below this number are to be dropped: the record is staged. */
  droppedTo = 0;
  /** The session whose worker has requested items; undefined: its handler has not begun. */
  private worker: WorkerSession | undefined = undefined;
  private attempt = 0;
  private sent = 0;
  /** Bytes of the items below `taken` and below `sent`, on the scale of `totalBytes`. */
  private takenBytes = 0;
  private sentBytes = 0;
  private isEndSent = false;

  /** Another attempt: it gets every item again. */
  restart(): void {
    this.taken = 0;
    this.takenBytes = 0;
    this.worker = undefined;
  }

  isRunningAt(session: WorkerSession, attempt: number): boolean {
    return this.worker === session && this.attempt === attempt;
  }

  /** A worker has every item below `received`. In a new session it may have fewer than were sent. */
  requested(session: WorkerSession, { attempt, received, taken }: FeedRequest, feed: StoredFeed): void {
    const isKnown = this.isRunningAt(session, attempt);
    const next = Math.min(Math.max(received, feed.base), feed.next);
    const done = Math.min(Math.max(taken, this.taken), next);
    this.takenBytes += feed.bytesBetween(this.taken, done);
    this.taken = Math.max(this.taken, done);
    if (isKnown) return;
    this.worker = session;
    this.attempt = attempt;
    this.sent = next;
    this.sentBytes = this.takenBytes + feed.bytesBetween(done, next);
    this.isEndSent = false;
  }

  /** Items of all clients that the handler has not taken. */
  untakenBytes({ totalBytes }: StoredFeed): number {
    return totalBytes - this.takenBytes;
  }

  /** The items that the window lets go; undefined: nothing to send. */
  next(no: number, feed: StoredFeed): FedItems | undefined {
    const first = this.sent;
    const items: Payload[] = [];
    while (this.sent < feed.next && this.sentBytes - this.takenBytes < WORKER_WINDOW_BYTES) {
      items.push(feed.at(this.sent));
      this.sentBytes += feed.bytesBetween(this.sent, this.sent + 1);
      this.sent += 1;
    }
    const isEnd = feed.end !== undefined && this.sent === feed.next && !this.isEndSent;
    if (items.length === 0 && !isEnd) return undefined;
    this.isEndSent ||= isEnd;
    return { job: no, attempt: this.attempt, first, items, end: isEnd ? feed.end : undefined };
  }
}
