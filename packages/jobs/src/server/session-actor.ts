import { type ActorContext, type ActorDefinition, type ActorRef, defineActor } from '@troupe/core';
import type { Connection } from '@troupe/transport';

/** What a session's actor does with the leader's messages: encodes and sends them. */
export interface Deliver {
  deliver(message: never): void;
}

export interface SessionArgs {
  readonly connection: Connection;
  /** Set right after the spawn, before any message can be there. */
  peer: Deliver | undefined;
}

type Context = ActorContext<SessionArgs>;

const handlers = {
  /** The port that sent it was made for this peer, so the message is of the kind it delivers. */
  deliver(ctx: Context, message: unknown) {
    ctx.state.peer?.deliver(message as never);
  },
};

/**
 * One connection at a leader. The leader watches it: its end is the end of the session, whatever ended it. A failure here is a failure of
 * this connection only, and there is no second socket to start again with.
 */
export const SessionActor: ActorDefinition<typeof handlers, SessionArgs, SessionArgs> = defineActor(
  'session',
  {
    state: (args: SessionArgs) => args,
    handlers,
    // Bounded by what the leader may have to say: one message a turn, and the outlet behind it ends a peer that does not read.
    mailbox: { capacity: 65_536, overflow: 'grow' },
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
  /** Told once how to spawn a session, before there is anybody to spawn one for. */
  readonly onReady: (spawn: SpawnSession) => void;
}

const none = {};

/** The parent of all sessions at a leader: one that fails is ended, and the leader goes on. */
export const SessionsActor: ActorDefinition<typeof none, SessionsArgs, SessionsArgs> = defineActor(
  'sessions',
  {
    state: (args: SessionsArgs) => args,
    handlers: none,
    supervise: { decide: () => 'stop' },
    started(ctx) {
      ctx.state.onReady((args) => ctx.spawn(SessionActor, args, { restart: 'temporary' }));
    },
  },
);
