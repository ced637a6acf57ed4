import type { Compression, Connection } from '@troupe/transport';
import type { PayloadStore } from '../job/payload-store.js';
import type { LeaderForPeers, PeerPort } from '../protocol/leader-interface.js';
import type { MessageLimits } from '../wire/message-limits.js';

/** The surroundings of one connection at a leader. */
export interface ConnectionSetup<Out> {
  readonly connection: Connection;
  readonly leader: LeaderForPeers;
  readonly messageLimits: MessageLimits;
  readonly waitingBytesMax: number;
  readonly compress?: Compression | undefined;
  /** Stores and reads large payloads without holding them in memory as a whole. */
  readonly payloads?: PayloadStore | undefined;
  /** A new session: its messages come back through the session's actor. */
  readonly port: () => PeerPort<Out>;
  /** Ends the session's actor. */
  readonly onClosed: () => void;
}
