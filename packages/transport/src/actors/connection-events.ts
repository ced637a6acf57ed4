import type { ActorContext, AnyRef, Delivered } from '@troupe/core';
import type { CloseReason } from '../connection/close-reason.js';
import type { PeerError } from '../connection/wire-error.js';
import type { SessionConnection } from './session-connection.js';

export type ConnectionNotice =
  | { readonly kind: 'draining'; readonly graceMs: number }
  | { readonly kind: 'peer-error'; readonly error: PeerError };

/** The messages of a connection to the actor that is its session. */
export interface ConnectionEvents {
  /** Frames have arrived: take them with `nextFrame` until it returns null. */
  readable(): void;
  /** The peer announced its end, or reported an error that does not end the connection. */
  notice(notice: ConnectionNotice): void;
  /** Exactly once, after all frames. The session stops itself when it has nothing more to do. */
  closed(reason: CloseReason): void;
}

/** An actor whose protocol has the messages of {@link ConnectionEvents}. */
export interface SessionRef extends AnyRef {
  readonly offer: {
    readable(): Delivered;
    notice(notice: ConnectionNotice): Delivered;
    closed(reason: CloseReason): Delivered;
  };
  readonly send: {
    readable(): Promise<void>;
    notice(notice: ConnectionNotice): Promise<void>;
    closed(reason: CloseReason): Promise<void>;
  };
}

/**
 * Makes the session of a connection whose handshake is done: spawns an actor, of a definition chosen by
 * `connection.handshake`, and returns it. It becomes a child of the listener or dialer and is never
 * restarted.
 */
export type MakeSession = (connection: SessionConnection, spawn: ActorContext['spawn']) => SessionRef;
