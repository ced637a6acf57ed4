import type { Payload } from '../../job/payload/payload.js';
import type { ClientMessage } from '../../protocol/client/client-messages.js';
import type { FeedRefusal, FeedState, OpenFeed } from '../../protocol/feed-messages.js';
import type { ClientEffects } from './client-effects.js';
import { FeedSender } from './feed-sender.js';

/** One call of `feed` or `endFeed`. */
export interface FeedDraft {
  readonly feed: number;
  readonly call: number;
  /** Undefined: only the end. */
  readonly payload: Payload | undefined;
  readonly final: boolean;
}

/** A caller that waits no longer. */
export interface FeedWithdrawal {
  readonly feed: number;
  readonly call: number;
}

/** The feeds that a client has open. A new session opens them again, and repeats what has no answer. */
export class FeedSenders {
  private readonly senders = new Map<number, FeedSender>();
  private readonly write: (message: ClientMessage) => void;
  private readonly effects: Pick<ClientEffects, 'feedAnswered' | 'feedChanged' | 'feedOver'>;
  private isOpen = false;

  constructor(
    write: (message: ClientMessage) => void,
    effects: Pick<ClientEffects, 'feedAnswered' | 'feedChanged' | 'feedOver'>,
  ) {
    this.write = write;
    this.effects = effects;
  }

  open({ feed, job }: OpenFeed): void {
    const sender = new FeedSender(feed, job);
    this.senders.set(feed, sender);
    this.send(sender);
  }

  /** A feed whose job has ended is not open any more. */
  feed(draft: FeedDraft): void {
    const sender = this.senders.get(draft.feed);
    if (sender === undefined) return this.effects.feedAnswered(draft.call, FEED_ENDED);
    sender.add(draft);
    this.send(sender);
  }

  withdraw({ feed, call }: FeedWithdrawal): void {
    this.senders.get(feed)?.withdraw(call);
  }

  received(states: readonly FeedState[]): void {
    for (const state of states) {
      const sender = this.senders.get(state.feed);
      if (sender === undefined) continue;
      const { answered, refused } = sender.received(state);
      for (const { call } of answered) this.effects.feedAnswered(call, undefined);
      for (const { call } of refused) this.effects.feedAnswered(call, state.refusal ?? FEED_ENDED);
      this.effects.feedChanged(state);
      if (isOver(state)) this.remove(sender, state.refusal ?? FEED_ENDED);
      else this.send(sender);
    }
  }

  welcomed({ canFeed }: { readonly canFeed: boolean }): void {
    this.isOpen = canFeed;
    for (const sender of [...this.senders.values()]) {
      sender.rewind();
      if (canFeed) this.send(sender);
      else this.received([withoutFeeds(sender.feed)]);
    }
  }

  disconnected(): void {
    this.isOpen = false;
  }

  clear(): void {
    this.senders.clear();
  }

  private send(sender: FeedSender): void {
    if (!this.isOpen) return;
    const message = sender.next();
    if (message !== undefined) this.write(message);
  }

  private remove(sender: FeedSender, refusal: FeedRefusal): void {
    this.senders.delete(sender.feed);
    for (const { call } of sender.waiting()) this.effects.feedAnswered(call, refusal);
    this.effects.feedOver(sender.feed, refusal);
  }
}

const FEED_ENDED: FeedRefusal = {
  code: 'ERR_FEED_ENDED',
  problem: 'the job or its feed has ended',
  retryAfterMs: 0,
};

/** No item of this feed will be taken any more. */
function isOver({ phase, refusal }: FeedState): boolean {
  if (phase === 'ended') return true;
  const code = refusal?.code;
  return code === 'ERR_JOB_UNKNOWN' || code === 'ERR_FORBIDDEN' || code === 'ERR_FEED_UNSUPPORTED';
}

function withoutFeeds(feed: number): FeedState {
  const problem = 'the leader is of a version without feeds';
  return {
    feed,
    accepted: 0,
    taken: 0,
    window: 0,
    phase: 'waiting',
    isEnded: false,
    refusal: { code: 'ERR_FEED_UNSUPPORTED', problem, retryAfterMs: 0 },
  };
}
