import type { Payload } from '../job/payload/payload.js';
import type { FeedRefusalCode } from '../jobs-error.js';
import { CHUNK_BYTES_MAX } from './stream-messages.js';
import type { AttemptRef } from './worker/worker-messages.js';

/** The largest item of a feed: its frame never travels in pieces. */
export const FEED_ITEM_BYTES_MAX = CHUNK_BYTES_MAX;

/** Items of one message together, unless a single one is larger. */
export const FEED_MESSAGE_BYTES = 256 * 1024;

/** How a feed ended: by a client, or because no client had it open for its grace. */
export type FeedEnd = 'final' | 'abandoned';

/** A client has a feed open from this message on. */
export interface OpenFeed {
  /** The client's number of the feed. */
  readonly feed: number;
  readonly job: number;
}

/** Opens the feed, too. A client has one such message of a feed unanswered at most. */
export interface FeedMessage extends OpenFeed {
  /** The number of the first item; those of a client in one feed count from 0, and `final` counts as one. */
  readonly first: number;
  readonly items: readonly Payload[];
  /** The feed ends behind these items. */
  readonly final: boolean;
}

export interface FeedRefusal {
  readonly code: FeedRefusalCode;
  readonly problem: string;
  /** 0: the same items will never be accepted. */
  readonly retryAfterMs: number;
}

/** The state of a feed at a client. Everything is set, not added: the latest state replaces earlier ones. */
export interface FeedState {
  readonly feed: number;
  /** Every item of this client below the number is in the log. */
  readonly accepted: number;
  /** Items that the runner has taken, of all clients. */
  readonly taken: number;
  /** Bytes of items that the leader takes now. */
  readonly window: number;
  /** Of the job. `running`: its handler has begun. `ended`: no state follows. */
  readonly phase: 'waiting' | 'running' | 'ended';
  /** The feed has ended: no item is taken any more. */
  readonly isEnded: boolean;
  /** The answer to the message under way: nothing of it was accepted. */
  readonly refusal: FeedRefusal | undefined;
}

/** Items for the handler of an attempt, with consecutive numbers. */
export interface FedItems extends AttemptRef {
  readonly first: number;
  readonly items: readonly Payload[];
  /** The feed ends behind these items. */
  readonly end: FeedEnd | undefined;
}

/** A worker wants the items of an attempt. Set, not added: a request that arrives twice changes nothing. */
export interface FeedRequest extends AttemptRef {
  /** It has every item below this number. */
  readonly received: number;
  /** The handler has taken every item below this number. */
  readonly taken: number;
}
