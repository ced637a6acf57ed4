import type { Compression, Connection, HandshakeResult } from '@troupe/transport';
import type { PayloadStore } from '../job/stored-payload.js';
import type {
  ClientFace,
  LostPayload,
  PeerAccess,
  PeerPort,
  PulseFace,
  WorkerFace,
} from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';

/** What a connection sees of its leader. */
export interface LeaderFaces extends ClientFace, WorkerFace, PulseFace {
  lost(port: PeerPort<never>): void;
  /** Runs the task behind everything it was told before. */
  run(task: () => void): void;
  payloadLost(message: LostPayload & { readonly port: PeerPort<ToWorker> }): void;
}

/** Everything one connection at a leader needs. */
export interface PeerSetup<Out> {
  readonly connection: Connection;
  readonly leader: LeaderFaces;
  readonly bodyBytesMax: number;
  readonly waitingBytesMax: number;
  readonly compress?: Compression | undefined;
  /** Where large payloads go and come from, without being in memory as a whole. */
  readonly payloads?: PayloadStore | undefined;
  /** A new handshake: messages for it come back through the handshake's actor. */
  readonly port: () => PeerPort<Out>;
  /** The connection is over: its actor ends. */
  readonly gone: () => void;
}

/**
 * The name the leader knows a peer by. Where the handshake has proved who it is, the claim stands behind that: a client cannot
 * take the numbering, the results, the keys or the leases of another identity (A13, A35). The identity ends at the last slash.
 */
export function boundName(handshake: HandshakeResult, claimed: string): string {
  return handshake.authMethod === 'none'
    ? claimed
    : `${handshake.identityName}/${claimed.replaceAll('/', '_')}`;
}

/** What the identity of a connection may do. Undefined where the operating system is the guard, and everybody may do everything. */
export function accessOf({ authMethod, identity, identityName }: HandshakeResult): PeerAccess | undefined {
  if (authMethod === 'none' || identity === null) return undefined;
  return {
    permits: (action, on) => identity.permits(action, on),
    owns: (client) => client.slice(0, Math.max(0, client.lastIndexOf('/'))) === identityName,
  };
}
