import { type Actor, defineActor } from '@troupe/core';
import type { ConnectionEvents, SessionConnection } from '@troupe/transport';

export interface StandbySessionArgs {
  readonly connection: SessionConnection;
  /** Where the leader listens; empty where that is not known. */
  readonly leaderAddress: string;
}

/** The session of a peer that has found a standby: it learns where the leader is, and the connection ends. */
export const StandbySessionActor: Actor<ConnectionEvents, StandbySessionArgs> =
  defineActor.of<ConnectionEvents>()('standby-session', {
    state: (args: StandbySessionArgs) => args,
    handlers: {
      readable: () => undefined,
      notice: () => undefined,
      closed: (ctx) => ctx.stop(),
    },
    started({ state: { connection, leaderAddress } }) {
      connection.writeError('NOT_LEADER', leaderAddress === '' ? {} : { otherAddress: leaderAddress });
      connection.close();
    },
  });
