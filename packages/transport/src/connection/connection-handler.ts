import type { PeerError } from './answer.js';
import type { CloseReason } from './close-reason.js';
import type { Frame } from './frame.js';

/** Not sent: too much waits already, it is over, or the peer takes nothing that large. Values, since a peer can bring them about. */
export type Unsent = 'full' | 'closed' | 'too-large';

/** 'accepted' and 'behind' are queued in order; after 'behind' wait for `onDrain` before sending more. */
export type Sent = 'accepted' | 'behind' | Unsent;

/** What an application does with a connection. All calls come from the event loop, never from inside `send`. */
export interface ConnectionHandler {
  /** One message. Nothing is awaited: take what you need and return. */
  onFrame(frame: Frame): void;
  /** The outbox is below its high mark again. Only after a send that said 'behind' or 'full'. */
  onDrain?(): void;
  /** The peer answered a message of ours with an Error that keeps the connection. */
  onPeerError?(error: PeerError): void;
  /** The peer is about to leave: begin nothing new here. */
  onGoodbye?(graceMs: number): void;
  /** Exactly once, last. */
  onClose(reason: CloseReason): void;
}
