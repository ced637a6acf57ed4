import { type ActorContext, type AnyRef, TroupeError } from '@troupe/core';
import type { Connection } from '../connection/connection.js';
import type { ConnectionHandler } from '../connection/connection-handler.js';
import type { MakeSession, SessionRef } from './connection-events.js';
import { SessionConnection } from './session-connection.js';

/** The parent of sessions. */
export interface SessionParent {
  readonly spawn: ActorContext['spawn'];
  /** The session is made: its end is to close the connection. */
  onOpened(session: SessionRef): void;
  /** `makeSession` threw. */
  onFailed(error: Error): void;
}

/** Makes the session of a connection; closes the connection where that fails or the system is stopping. */
export function openSession(
  connection: Connection,
  makeSession: MakeSession,
  parent: SessionParent,
): ConnectionHandler {
  const handler = new SessionConnection(connection);
  try {
    const session = makeSession(handler, parent.spawn);
    handler.attach(session);
    parent.onOpened(session);
  } catch (error) {
    connection.close();
    // An actor that is stopping cannot spawn.
    if (!(error instanceof TroupeError)) parent.onFailed(error as Error);
  }
  return handler;
}

/** The `spawn` of a parent whose children are not restarted: there is no second socket for them. */
export function spawnTemporary(spawn: ActorContext['spawn']): ActorContext['spawn'] {
  const temporary = (definition: never, options: object = {}): AnyRef =>
    spawn(definition, { ...options, restart: 'temporary' } as never);
  // The same parameters, with one option decided.
  return temporary as ActorContext['spawn'];
}
