import type { StoredPayload } from '../job/payload/stored-payload.js';
import type { ToClient } from '../protocol/client/client-messages.js';
import type { OpenFeed } from '../protocol/feed-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { ReadStream, StreamConsumed } from '../protocol/stream-messages.js';
import type { CallWait, JobDefine } from './machine/client-machine.js';
import type { FeedDraft, FeedWithdrawal } from './machine/feed-senders.js';
import type { CallRequest } from './machine/pending-requests.js';
import type { SubmitDraft } from './machine/submit-draft.js';

/** One kind of the leader's messages, with the session it is for. */
export interface ClientReceived<Kind extends ToClient['kind'] = ToClient['kind']> {
  readonly message: ToClient & { readonly kind: Kind };
  readonly port: PeerPort<ToClient>;
}

/**
 * The messages of the leader, as methods: of `tell` they return nothing, of `offer` whether there was room.
 * The names are those of the wire.
 */
export interface LeaderMessagesToClient<Result = void> {
  welcome(received: ClientReceived<'welcome'>): Result;
  receipts(received: ClientReceived<'receipts'>): Result;
  outcomes(received: ClientReceived<'outcomes'>): Result;
  answer(received: ClientReceived<'answer'>): Result;
  stream_items(received: ClientReceived<'stream_items'>): Result;
  feed_states(received: ClientReceived<'feed_states'>): Result;
  refused(received: ClientReceived<'refused'>): Result;
  heartbeat(received: ClientReceived<'heartbeat'>): Result;
}

/** The calls of the user, those of one moment together. Their promises stay with `Client`. */
export interface ClientCalls {
  define(definitions: readonly JobDefine[]): void;
  submit(drafts: readonly SubmitDraft[]): void;
  /** The callers wait no longer. */
  withdraw(drafts: readonly SubmitDraft[]): void;
  awaitOutcomes(waits: readonly CallWait[]): void;
  stopAwaiting(waits: readonly CallWait[]): void;
  request(request: CallRequest): void;
  abandonRequest(call: number): void;
  readStream(request: ReadStream): void;
  streamConsumed(position: StreamConsumed): void;
  stopStream(reader: number): void;
  openFeed(feed: OpenFeed): void;
  feed(draft: FeedDraft): void;
  withdrawFeed(withdrawal: FeedWithdrawal): void;
  close(): void;
}

/** A file that could not be read while it was sent. */
export interface UnreadPayload {
  readonly payload: StoredPayload;
  readonly error: Error;
}

/** The messages of a client: those of the leader, those of its user, and those of its connection. */
export interface ClientProtocol extends LeaderMessagesToClient, ClientCalls {
  /** There is a connection: a session may be opened. */
  connected(): void;
  connectionLost(): void;
  payloadLost(lost: UnreadPayload): void;
}

/** Each message of the leader goes to the handler of its kind. */
export function routeToClient<Result>(
  client: LeaderMessagesToClient<Result>,
  message: ToClient,
  port: PeerPort<ToClient>,
): Result {
  switch (message.kind) {
    case 'welcome':
      return client.welcome({ message, port });
    case 'receipts':
      return client.receipts({ message, port });
    case 'outcomes':
      return client.outcomes({ message, port });
    case 'answer':
      return client.answer({ message, port });
    case 'stream_items':
      return client.stream_items({ message, port });
    case 'feed_states':
      return client.feed_states({ message, port });
    case 'refused':
      return client.refused({ message, port });
    case 'heartbeat':
      return client.heartbeat({ message, port });
    default:
      return message satisfies never;
  }
}
