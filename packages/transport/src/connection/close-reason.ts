import type { PeerError, WireErrorName } from './wire-error.js';

/** Why a connection is over. */
export type CloseReason =
  /** This side closed it. */
  | { readonly kind: 'local' }
  /** The peer ended its stream; `cut`: in the middle of a frame, which was thrown away. */
  | { readonly kind: 'peer-closed'; readonly midFrame: boolean }
  /** The peer sent an Error that ends the connection. */
  | { readonly kind: 'peer-error'; readonly error: PeerError }
  /** This side ended it because of what the peer did. `cause` is for the log, the peer was told only the answer. */
  | { readonly kind: 'refused'; readonly errorName: WireErrorName; readonly cause: string }
  /** The first bytes were not a Hello this listener takes; nothing was said. */
  | { readonly kind: 'unknown-protocol'; readonly cause: string }
  /** The peer took nothing for the write deadline. */
  | { readonly kind: 'slow-reader' }
  | { readonly kind: 'socket-error'; readonly error: Error };

/** One line for a log. */
export function formatCloseReason(reason: CloseReason): string {
  switch (reason.kind) {
    case 'local':
      return 'closed here';
    case 'peer-closed':
      return reason.midFrame ? 'ended by the peer inside a frame' : 'ended by the peer';
    case 'peer-error':
      return `ended by the peer: ${reason.error.code} ${reason.error.name}`;
    case 'refused':
      return `${reason.errorName}: ${reason.cause}`;
    case 'unknown-protocol':
      return `not our protocol: ${reason.cause}`;
    case 'slow-reader':
      return 'SLOW_READER: the peer took nothing in time';
    case 'socket-error':
      return `socket: ${reason.error.message}`;
    default:
      return reason satisfies never;
  }
}
