import { type Actor, type ActorRef, defineActor } from '@troupe/core';
import type { Connection } from '@troupe/transport';

/** Encodes and writes the leader's messages. */
export interface SessionPeer {
  deliver(message: never): void;
}

export interface SessionArgs {
  readonly connection: Connection;
  /** Set right after the spawn, before any message can be there. */
  peer: SessionPeer | undefined;
}

interface SessionProtocol {
  /** The port was made for this peer, so the message has the type it delivers. */
  deliver(message: unknown): void;
}

/**
 * One connection at a leader. The leader watches it: its end is the end of the session. A failure here ends
 * this connection only, and it is not restarted: there is no second socket.
 */
export const SessionActor: Actor<SessionProtocol, SessionArgs> = defineActor.of<SessionProtocol>()(
  'session',
  {
    state: (args: SessionArgs) => args,
    handlers: {
      deliver(ctx, message) {
        ctx.state.peer?.deliver(message as never);
      },
    },
    // The leader offers one message of each kind a turn, and keeps what has no room; the frame sender behind
    // this mailbox ends a peer that does not read.
    mailbox: { capacity: 256, overflow: 'mute-sender' },
    stopping(ctx) {
      ctx.state.connection.close();
    },
    stopped(ctx) {
      ctx.state.connection.close();
    },
  },
);

export type SpawnSession = (args: SessionArgs) => ActorRef<typeof SessionActor>;

export interface SessionsArgs {
  /** Receives the spawn function, once, before the first connection. */
  readonly onReady: (spawn: SpawnSession) => void;
}

/** It takes no messages. */
type NoMessages = Readonly<Record<never, never>>;

/** The parent of all sessions at a leader: a failed session is stopped, and the leader goes on. */
export const SessionsActor: Actor<NoMessages, SessionsArgs> = defineActor.of<NoMessages>()('sessions', {
  state: (args: SessionsArgs) => args,
  handlers: {},
  supervise: { decide: () => 'stop' },
  started(ctx) {
    ctx.state.onReady((args) => ctx.spawn(SessionActor, { args, restart: 'temporary' }));
  },
});
