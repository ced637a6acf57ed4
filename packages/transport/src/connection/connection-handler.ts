import type { CloseReason } from './close-reason.js';
import type { ReceivedFrame } from './received-frame.js';
import type { PeerError } from './wire-error.js';

/** Not sent: too much waits already, it is over, or the peer takes nothing that large. Values, since a peer can bring them about. */
export type WriteRefusal = 'full' | 'closed' | 'too-large';

/** 'accepted' and 'backpressure' are queued in order; after 'backpressure' wait for `onDrain` before sending more. */
export type WriteResult = 'accepted' | 'backpressure' | WriteRefusal;

/** What an application does with a connection. All calls come from the event loop, never from inside `send`. */
export interface ConnectionHandler {
  /** One message. Nothing is awaited: take what you need and return. */
  onFrame(frame: ReceivedFrame): void;
  /** The outbox is below its high mark again. Only after a send that said 'backpressure' or 'full'. */
  onWritable?(): void;
  /** The peer answered a message of ours with an Error that keeps the connection. */
  onPeerError?(error: PeerError): void;
  /** The peer is about to leave: begin nothing new here. */
  onPeerDraining?(graceMs: number): void;
  /** Exactly once, last. */
  onClose(reason: CloseReason): void;
}
