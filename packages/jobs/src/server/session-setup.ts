import type { Compression, SessionConnection } from '@troupe/transport';
import type { MessageLimits } from '../connection/message-limits.js';
import type { PayloadStore } from '../job/payload/payload-store.js';
import type { LeaderForPeers, PeerAccess } from '../protocol/leader-interface.js';
import type { Taken } from './offer-to-leader.js';

/** The arguments of a session at a leader. */
export interface SessionSetup {
  readonly connection: SessionConnection;
  readonly leader: LeaderForPeers<Taken>;
  readonly messageLimits: MessageLimits;
  readonly compress?: Compression | undefined;
  /** Stores and reads large payloads without holding them in memory as a whole. */
  readonly payloads?: PayloadStore | undefined;
  /** The rights of the peer. */
  readonly access?: PeerAccess | undefined;
}
