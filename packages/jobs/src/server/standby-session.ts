import { type Actor, defineActor } from '@troupe/core';
import type { ConnectionEvents, MakeSession, SessionConnection } from '@troupe/transport';

/** Peers that wait for the end of a take-over: each is told how its session is made then. */
export type WaitingPeers = Set<(make: MakeSession) => void>;

export interface StandbySessionArgs {
  readonly connection: SessionConnection;
  readonly waiting: WaitingPeers;
  /** Where the leader listens now; empty where that is not known, undefined while this one takes over. */
  readonly leaderAddress: () => string | undefined;
}

export interface StandbySessionProtocol extends ConnectionEvents {
  /** The standby leads: the peer gets its session, which finds what has been sent meanwhile. */
  serve(make: MakeSession): void;
  /** The end of the leader would be known by now. */
  refer(): void;
}

/** A standby learns of the end of its leader later than the peers, which leave at the announcement. */
const REFER_MS = 100;

class State {
  readonly args: StandbySessionArgs;
  isServed = false;
  readonly onServed: { run(make: MakeSession): void } = { run: () => undefined };
  readonly served = (make: MakeSession): void => this.onServed.run(make);

  constructor(args: StandbySessionArgs) {
    this.args = args;
  }
}

/**
 * The session of a peer that has found a standby: it learns where the leader is, and the connection ends.
 * While the standby takes over, the peer waits: another dial would come later than the end of the take-over.
 */
export const StandbySessionActor: Actor<StandbySessionProtocol, StandbySessionArgs> =
  defineActor.of<StandbySessionProtocol>()('standby-session', {
    state: (args: StandbySessionArgs) => new State(args),
    handlers: {
      readable: () => undefined,
      notice: () => undefined,
      closed: (ctx) => ctx.stop(),
      refer(ctx) {
        const { args, isServed } = ctx.state;
        if (isServed) return;
        const leaderAddress = args.leaderAddress();
        // Of two standbys that see the end of a leader one takes over.
        if (leaderAddress === undefined) return void ctx.after(REFER_MS, ctx.self).refer();
        args.connection.writeError('NOT_LEADER', leaderAddress === '' ? {} : { otherAddress: leaderAddress });
        args.connection.close();
      },
      serve(ctx, make) {
        const { connection } = ctx.state.args;
        ctx.state.isServed = true;
        const session = make(connection, ctx.spawn.bind(ctx));
        connection.attach(session);
        ctx.watch(session);
      },
    },
    started(ctx) {
      const { args, onServed, served } = ctx.state;
      onServed.run = (make) => ctx.self.tell.serve(make);
      args.waiting.add(served);
      ctx.after(REFER_MS, ctx.self).refer();
    },
    stopping({ state: { args, served } }) {
      args.waiting.delete(served);
    },
    // As a session of the listener: one that fails ends alone, with its connection.
    supervise: { decide: () => 'stop' },
    terminated: (ctx) => ctx.stop(),
  });
