import type { HandshakeResult } from './handshake-result.js';

/** The action after a frame of the handshake. */
export type HandshakeStep =
  | { readonly kind: 'reply'; readonly type: number; readonly payload: Uint8Array }
  | { readonly kind: 'ready'; readonly result: HandshakeResult; readonly welcome: Uint8Array | null }
  | {
      readonly kind: 'refuse';
      readonly errorName: 'PROTOCOL' | 'AUTH_FAILED' | 'VERSION' | 'TOO_MANY_CONNECTIONS';
      readonly cause: string;
      /** Answered only when the time of the handshake is over: the address guesses too often. */
      readonly isDelayed?: boolean;
    }
  /** Another protocol, or a peer that must not learn that this one is served: no Error is sent. */
  | { readonly kind: 'drop'; readonly cause: string };
