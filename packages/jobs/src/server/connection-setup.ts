import type { Compression, Connection, HandshakeResult } from '@troupe/transport';
import type { PayloadStore } from '../job/stored-payload.js';
import type {
  LeaderForClients,
  LeaderForHeartbeats,
  LeaderForWorkers,
  LostPayload,
  PeerAccess,
  PeerPort,
} from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';

/** A connection's view of its leader. */
export interface LeaderForConnections extends LeaderForClients, LeaderForWorkers, LeaderForHeartbeats {
  lost(port: PeerPort<never>): void;
  /** Runs the task after all messages before it. */
  run(task: () => void): void;
  payloadLost(message: LostPayload & { readonly port: PeerPort<ToWorker> }): void;
}

/** The surroundings of one connection at a leader. */
export interface ConnectionSetup<Out> {
  readonly connection: Connection;
  readonly leader: LeaderForConnections;
  readonly bodyBytesMax: number;
  readonly waitingBytesMax: number;
  readonly compress?: Compression | undefined;
  /** Stores and reads large payloads without holding them in memory as a whole. */
  readonly payloads?: PayloadStore | undefined;
  /** A new session: its messages come back through the session's actor. */
  readonly port: () => PeerPort<Out>;
  /** Ends the session's actor. */
  readonly onClosed: () => void;
}

/**
 * The name of a peer at the leader. Behind a handshake that proved an identity, the claimed name follows that
 * identity: no client can take the numbering, the results, the keys or the leases of another identity. The
 * identity ends at the last slash.
 */
export function authenticatedName({ authMethod, identityName }: HandshakeResult, claimed: string): string {
  return authMethod === 'none' ? claimed : `${identityName}/${claimed.replaceAll('/', '_')}`;
}

/**
 * The rights of a connection's identity. Undefined where the operating system is the guard and all is
 * allowed.
 */
export function accessOf({ authMethod, identity, identityName }: HandshakeResult): PeerAccess | undefined {
  if (authMethod === 'none' || identity === null) return undefined;
  return {
    permits: (action, on) => identity.permits(action, on),
    owns: (client) => client.slice(0, Math.max(0, client.lastIndexOf('/'))) === identityName,
  };
}
