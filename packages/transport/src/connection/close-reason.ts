import type { PeerError, WireErrorName } from './wire-error.js';

/** Why a connection was closed. */
export type CloseReason =
  /** This side closed it. */
  | { readonly kind: 'local' }
  /** The peer ended its stream; `midFrame`: inside a frame, which was discarded. */
  | { readonly kind: 'peer-closed'; readonly midFrame: boolean }
  /** The peer sent an Error that ends the connection. */
  | { readonly kind: 'peer-error'; readonly error: PeerError }
  /** This side closed it after an error of the peer. `cause` is for the log; the peer gets the error only. */
  | { readonly kind: 'refused'; readonly errorName: WireErrorName; readonly cause: string }
  /** The first bytes were not a Hello that this listener serves; no Error was sent. */
  | { readonly kind: 'unknown-protocol'; readonly cause: string }
  /** The peer read nothing until the write deadline. */
  | { readonly kind: 'slow-reader' }
  /** The socket failed. */
  | { readonly kind: 'socket-error'; readonly error: Error };

/** One line for logs. */
export function formatCloseReason(reason: CloseReason): string {
  switch (reason.kind) {
    case 'local':
      return 'closed by this side';
    case 'peer-closed':
      return reason.midFrame ? 'closed by the peer inside a frame' : 'closed by the peer';
    case 'peer-error':
      return `closed by the peer: ${reason.error.code} ${reason.error.name}`;
    case 'refused':
      return `${reason.errorName}: ${reason.cause}`;
    case 'unknown-protocol':
      return `unknown protocol: ${reason.cause}`;
    case 'slow-reader':
      return 'SLOW_READER: the peer read nothing in time';
    case 'socket-error':
      return `socket: ${reason.error.message}`;
    default:
      return reason satisfies never;
  }
}
