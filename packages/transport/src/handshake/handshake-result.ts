import type { Identity, Role } from '../access/identity.js';
import type { AuthMethod, Capacity } from './hello.js';

/** What a finished handshake has settled. */
export interface HandshakeResult {
  readonly connectionId: string;
  readonly dialect: 'minimal' | 'full';
  readonly authMethod: AuthMethod;
  /** What the dialing side is. */
  readonly role: Role;
  /** The name the dialer goes by. Only a claim: rights come from `identity`. */
  readonly claimedName: string;
  /** At a listener: who the dialer was proven to be. At a dialer: null, it knows only `subject`. */
  readonly identity: Identity | null;
  readonly identityName: string;
  /** At a listener: the key id or the certificate the dialer proved itself with; null without authentication. */
  readonly credential: string | null;
  /** What the other side accepts. */
  readonly peerCapacity: Capacity;
  readonly pingMs: number;
  readonly deadMs: number;
  readonly inFlightMax: number;
  readonly creditMax: number;
}

/** What to do after a frame of the handshake. */
export type HandshakeStep =
  | { readonly kind: 'reply'; readonly type: number; readonly payload: Uint8Array }
  | { readonly kind: 'ready'; readonly session: HandshakeResult; readonly welcome: Uint8Array | null }
  | {
      readonly kind: 'refuse';
      readonly errorName: 'PROTOCOL' | 'AUTH_FAILED' | 'VERSION' | 'TOO_MANY_CONNECTIONS';
      readonly cause: string;
    }
  /** Not our protocol, or not allowed to know that it is: no answer. */
  | { readonly kind: 'drop'; readonly cause: string };
