/** The messages between the two processes of the transport suite. */
export const MESSAGE_BYTES = 100;
export const BODY_BYTES = 64 * 1024 * 1024;
export const BLOCK_BYTES = 256 * 1024;

export const Type = {
  /** Counted, without a reply. */
  Count: 64,
  /** The reply is the number of `Count` messages since the previous `Total`. */
  Total: 65,
  /** The reply has the same body. */
  Echo: 66,
  /** A streamed body; the reply is its length. */
  Body: 67,
} as const;

/** The server of the peer process: an actor, or a plain socket for comparison. */
export type PeerMode = 'troupe' | 'troupe-tls' | 'floor-sink' | 'floor-echo';

/** The message of the peer process after it listens. */
export interface Listening {
  readonly port: number;
  /** The certificate authority for TLS. */
  readonly ca?: string;
}
