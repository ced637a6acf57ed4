import type { HandshakeResult } from '@troupe/transport';
import type { PeerAccess } from '../protocol/leader-interface.js';

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
export function accessOf(
  { authMethod, identity, identityName }: HandshakeResult,
  takeSubmits?: (jobs: number) => boolean,
): PeerAccess | undefined {
  if (authMethod === 'none' || identity === null) return undefined;
  return {
    identity: identityName,
    ...(takeSubmits === undefined ? {} : { takeSubmits }),
    permits: (action, on) => identity.permits(action, on),
    owns: (client) => client.slice(0, Math.max(0, client.lastIndexOf('/'))) === identityName,
  };
}
