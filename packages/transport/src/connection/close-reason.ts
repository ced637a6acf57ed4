import type { AnswerName, PeerError } from './answer.js';

/** Why a connection is over. */
export type CloseReason =
  /** This side closed it. */
  | { readonly kind: 'local' }
  /** The peer ended its stream; `cut`: in the middle of a frame, which was thrown away. */
  | { readonly kind: 'peer'; readonly cut: boolean }
  /** The peer sent an Error that ends the connection. */
  | { readonly kind: 'peer-error'; readonly error: PeerError }
  /** This side ended it because of what the peer did. `cause` is for the log, the peer was told only the answer. */
  | { readonly kind: 'refused'; readonly answer: AnswerName; readonly cause: string }
  /** The first bytes were not a Hello this listener takes; nothing was said. */
  | { readonly kind: 'foreign'; readonly cause: string }
  /** The peer took nothing for the write deadline. */
  | { readonly kind: 'slow-reader' }
  | { readonly kind: 'socket'; readonly error: Error };

/** One line for a log. */
export function describeClose(reason: CloseReason): string {
  switch (reason.kind) {
    case 'local':
      return 'closed here';
    case 'peer':
      return reason.cut ? 'ended by the peer inside a frame' : 'ended by the peer';
    case 'peer-error':
      return `ended by the peer: ${reason.error.code} ${reason.error.name}`;
    case 'refused':
      return `${reason.answer}: ${reason.cause}`;
    case 'foreign':
      return `not our protocol: ${reason.cause}`;
    case 'slow-reader':
      return 'SLOW_READER: the peer took nothing in time';
    case 'socket':
      return `socket: ${reason.error.message}`;
    default:
      return reason satisfies never;
  }
}
