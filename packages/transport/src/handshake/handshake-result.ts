import type { Identity, Role } from '../access/identity.js';
import type { AuthMethod, Capacity } from './hello.js';

/** The facts that a finished handshake has established. */
export interface HandshakeResult {
  readonly connectionId: string;
  readonly dialect: 'minimal' | 'full';
  readonly authMethod: AuthMethod;
  /** The role of the dialer. */
  readonly role: Role;
  /** The name in the dialer's Hello, unproven: rights come from `identity`. */
  readonly claimedName: string;
  /** At a listener: the proven identity of the dialer. At a dialer: null, it knows only `identityName`. */
  readonly identity: Identity | null;
  readonly identityName: string;
  /**
   * At a listener: the key id or certificate of the proof; null without authentication. At a dialer: null.
   */
  readonly credential: string | null;
  /** The limits of the other side for frames sent to it. */
  readonly peerCapacity: Capacity;
  readonly pingMs: number;
  readonly deadMs: number;
  readonly inFlightMax: number;
  readonly creditMax: number;
}
