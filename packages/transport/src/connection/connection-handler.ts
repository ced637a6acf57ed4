import type { CloseReason } from './close-reason.js';
import type { ReceivedFrame } from './received-frame.js';
import type { PeerError } from './wire-error.js';

/** Not queued: the outbox is full, the connection is closed, or the frame is above the peer's limit. */
export type WriteRefusal = 'full' | 'closed' | 'too-large';

/** 'accepted' and 'backpressure' are queued in order; after 'backpressure' wait for `onWritable`. */
export type WriteResult = 'accepted' | 'backpressure' | WriteRefusal;

/** The application's side of a connection. All calls come from the event loop, never from inside `write`. */
export interface ConnectionHandler {
  /** The frame is valid until this returns; nothing is awaited. */
  onFrame(frame: ReceivedFrame): void;
  /** The outbox is below its high mark again. Only after a write that returned 'backpressure' or 'full'. */
  onWritable?(): void;
  /** The peer sent an Error that does not end the connection. */
  onPeerError?(error: PeerError): void;
  /** The peer closes within `graceMs`: start no new requests on this connection. */
  onPeerDraining?(graceMs: number): void;
  /** Exactly once, last. */
  onClose(reason: CloseReason): void;
}
