import type { FeedRefusal, FeedState, OpenFeed } from '../../protocol/feed-messages.js';
import { ClientFeed } from './client-feed.js';

/** The feeds that a client has open, by job. Effects of the client's actor change them. */
export class ClientFeeds {
  private readonly byJob = new Map<number, ClientFeed>();
  private readonly byNumber = new Map<number, ClientFeed>();
  private lastNumber = 0;
  private endedBy: Error | undefined = undefined;

  /** `open`: the leader has to know that this client has the feed open. */
  of(job: number, idOf: (job: number) => string, open: (feed: OpenFeed) => void): ClientFeed {
    const known = this.byJob.get(job);
    if (known !== undefined) return known;
    this.lastNumber += 1;
    const feed = new ClientFeed(this.lastNumber, job, idOf);
    if (this.endedBy !== undefined) feed.failed(this.endedBy);
    else {
      this.byJob.set(job, feed);
      this.byNumber.set(feed.number, feed);
      open({ feed: feed.number, job });
    }
    return feed;
  }

  changed(state: FeedState): void {
    this.byNumber.get(state.feed)?.changed(state);
  }

  over(number: number, refusal: FeedRefusal): void {
    const feed = this.byNumber.get(number);
    if (feed === undefined) return;
    this.remove(feed);
    feed.over(refusal);
  }

  ended(error: Error): void {
    this.endedBy ??= error;
    for (const feed of this.byNumber.values()) feed.failed(error);
    this.byJob.clear();
    this.byNumber.clear();
  }

  private remove(feed: ClientFeed): void {
    this.byNumber.delete(feed.number);
    if (this.byJob.get(feed.job) === feed) this.byJob.delete(feed.job);
  }
}
