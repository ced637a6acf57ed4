// Hot path: `add` and `received` run once per item.
import { Ring } from '../../collections/ring.js';
import type { Payload } from '../../job/payload/payload.js';
import type { ClientMessage } from '../../protocol/client/client-messages.js';
import { FEED_MESSAGE_BYTES, type FeedState } from '../../protocol/feed-messages.js';
import type { FeedDraft } from './feed-senders.js';

interface NumberedDraft extends FeedDraft {
  /** It may be in the log: its number is not given to another. */
  isSent: boolean;
}

interface Answered {
  readonly answered: readonly FeedDraft[];
  /** Of the message under way, if the state is its refusal. */
  readonly refused: readonly FeedDraft[];
}

/**
 * One feed that a client has open: the items that the leader has not accepted, in order. One message is under
 * way at most, with everything that waited meanwhile; so a refusal is the answer to that message, and no item
 * overtakes another.
 */
export class FeedSender {
  readonly feed: number;
  readonly job: number;
  private readonly drafts = new Ring<NumberedDraft>();
  /** The number of the first draft. */
  private first = 0;
  /** The leader has named that number: another use of the same feed may have gone before. */
  private isKnown = false;
  /** In this session. */
  private isOpened = false;
  private window = FEED_MESSAGE_BYTES;
  /** Drafts in the message under way. */
  private underWay = 0;
  private isAsking = false;
  /** The leader has refused to open it: the next item asks again. */
  private isHeldOff = false;

  constructor(feed: number, job: number) {
    this.feed = feed;
    this.job = job;
  }

  add(draft: FeedDraft): void {
    this.drafts.push({ ...draft, isSent: false });
    this.isHeldOff = false;
  }

  /** A draft that was sent stays: it may be in the log already. */
  withdraw(call: number): void {
    const kept: NumberedDraft[] = [];
    for (let draft = this.drafts.shift(); draft !== undefined; draft = this.drafts.shift())
      if (draft.call !== call || draft.isSent) kept.push(draft);
    for (const draft of kept) this.drafts.push(draft);
  }

  waiting(): readonly FeedDraft[] {
    return this.take(this.drafts.size);
  }

  /** The next message, unless one is under way or there is no room. */
  next(): ClientMessage | undefined {
    if (this.isAsking || this.isHeldOff) return undefined;
    const { feed, job, first } = this;
    const canFeed = this.isKnown && this.drafts.size > 0;
    if (this.isOpened && !(canFeed && this.window > 0)) return undefined;
    this.isAsking = true;
    this.isOpened = true;
    if (!canFeed) return { kind: 'open_feed', feed, job };
    const items: Payload[] = [];
    let bytes = 0;
    let final = false;
    for (; this.underWay < this.drafts.size && !final; this.underWay += 1) {
      const draft = this.drafts.at(this.underWay) as NumberedDraft; // below size
      const length = draft.payload?.length ?? 0;
      if (items.length > 0 && bytes + length > Math.min(this.window, FEED_MESSAGE_BYTES)) break;
      draft.isSent = true;
      bytes += length;
      if (draft.payload !== undefined) items.push(draft.payload);
      final = draft.final;
    }
    return { kind: 'feed', feed, job, first, items, final };
  }

  received(state: FeedState): Answered {
    if (!this.isKnown && state.refusal !== undefined) return this.openRefused();
    const wasKnown = this.isKnown;
    this.isKnown = true;
    this.window = state.window;
    // The numbers go on where an earlier use of the feed ended.
    if (!wasKnown && this.underWay === 0) this.first = Math.max(this.first, state.accepted);
    const answered = this.acceptedBelow(state.accepted);
    const isAnswer = state.refusal !== undefined || this.underWay === 0;
    if (isAnswer) this.isAsking = false;
    return { answered, refused: state.refusal === undefined ? [] : this.take(this.underWay) };
  }

  /** A new session: the message under way is repeated. */
  rewind(): void {
    this.isAsking = false;
    this.isOpened = false;
    this.isHeldOff = false;
    this.underWay = 0;
    this.window = FEED_MESSAGE_BYTES;
  }

  private openRefused(): Answered {
    this.isAsking = false;
    this.isOpened = false;
    this.isHeldOff = true;
    return { answered: [], refused: this.take(this.drafts.size) };
  }

  private acceptedBelow(accepted: number): FeedDraft[] {
    const answered: FeedDraft[] = [];
    for (let draft = this.drafts.peek(); draft !== undefined; draft = this.drafts.peek()) {
      const next = this.first + (draft.payload === undefined ? 0 : 1) + (draft.final ? 1 : 0);
      if (next > accepted || !draft.isSent) break;
      answered.push(draft);
      this.drafts.shift();
      this.first = next;
      this.underWay = Math.max(0, this.underWay - 1);
    }
    return answered;
  }

  private take(count: number): FeedDraft[] {
    const taken: FeedDraft[] = [];
    for (let left = count; left > 0; left -= 1) taken.push(this.drafts.shift() as NumberedDraft); // count <= size
    this.underWay = Math.max(0, this.underWay - count);
    return taken;
  }
}
