import { type Actor, defineActor } from '@troupe/core';
import type { ConnectionEvents, MakeSession, SessionConnection } from '@troupe/transport';

/** Peers that wait for the end of a take-over: each is told how its session is made then. */
export type WaitingPeers = Set<(make: MakeSession) => void>;

export interface TakeOverSessionArgs {
  readonly connection: SessionConnection;
  readonly waiting: WaitingPeers;
}

export interface TakeOverSessionProtocol extends ConnectionEvents {
  /** The leader serves: the peer gets its session, which finds what has been sent meanwhile. */
  serve(make: MakeSession): void;
}

class State {
  readonly args: TakeOverSessionArgs;
  readonly onServed: { run(make: MakeSession): void } = { run: () => undefined };
  readonly served = (make: MakeSession): void => this.onServed.run(make);

  constructor(args: TakeOverSessionArgs) {
    this.args = args;
  }
}

/**
 * The session of a peer that comes while a standby takes over. It waits there: the leader that it would be
 * sent to has ended, and another dial would come later than the end of the take-over.
 */
export const TakeOverSessionActor: Actor<TakeOverSessionProtocol, TakeOverSessionArgs> =
  defineActor.of<TakeOverSessionProtocol>()('take-over-session', {
    state: (args: TakeOverSessionArgs) => new State(args),
    handlers: {
      readable: () => undefined,
      notice: () => undefined,
      closed: (ctx) => ctx.stop(),
      serve(ctx, make) {
        const { connection } = ctx.state.args;
        const session = make(connection, ctx.spawn.bind(ctx));
        connection.attach(session);
        ctx.watch(session);
      },
    },
    started(ctx) {
      const { args, onServed, served } = ctx.state;
      onServed.run = (make) => ctx.self.tell.serve(make);
      args.waiting.add(served);
    },
    stopping({ state: { args, served } }) {
      args.waiting.delete(served);
    },
    // As a session of the listener: one that fails ends alone, with its connection.
    supervise: { decide: () => 'stop' },
    terminated: (ctx) => ctx.stop(),
  });
