import type { AdminAnswer } from '../../protocol/client/admin-messages.js';
import type {
  ClientHello,
  ClientMessage,
  JobOutcome,
  Receipt,
  ToClient,
} from '../../protocol/client/client-messages.js';
import type { FeedRefusal, FeedState } from '../../protocol/feed-messages.js';
import type { StreamItem } from '../../protocol/stream-messages.js';

/** The leader's answer to a hello, as far as its callers are concerned. */
export type LeaderWelcome = Pick<ToClient & { kind: 'welcome' }, 'tag' | 'payloadBytesMax' | 'level'>;

/** The effects of a client by name: on its session, and on its callers, who are known by numbers. */
export interface ClientEffects {
  /** Starts a session with the leader. */
  open(hello: ClientHello): void;
  /** Without a session the message is lost. */
  write(message: ClientMessage): void;
  /** Leads to `connected`, after the events of this moment. */
  requestSession(): void;
  /** The leader has welcomed the session. */
  welcomed(welcome: LeaderWelcome): void;
  /** The receipt of the call's submit. */
  received(call: number, receipt: Receipt): void;
  /** The job that the call waits for has ended. */
  jobEnded(call: number, outcome: JobOutcome): void;
  /** Items for a reader. */
  streamed(reader: number, items: readonly StreamItem[]): void;
  /** The item of the call is in the log, or it was refused. */
  feedAnswered(call: number, refusal: FeedRefusal | undefined): void;
  feedChanged(state: FeedState): void;
  /** No item of this feed will be taken any more. */
  feedOver(feed: number, refusal: FeedRefusal): void;
  answered(call: number, answer: RequestAnswer): void;
  /** The client has ended: so has every call. No effect follows. */
  ended(error: Error): void;
}

export interface RequestAnswer {
  readonly answer: AdminAnswer;
  /** It was written on more than one connection, so it may have been carried out before this answer. */
  readonly isRepeated: boolean;
}
