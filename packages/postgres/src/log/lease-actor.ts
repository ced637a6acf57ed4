import { type Actor, defineActor, type Host, type ProtocolContext } from '@troupe/core';
import { JournalDeposedError } from '@troupe/jobs/journal';
import { KeptConnection } from './kept-connection.js';
import { endLease, renewLease } from './lease.js';
import type { LeaseHold } from './lease-hold.js';
import type { DatabaseOptions } from './log-database.js';

export interface LeaseArgs {
  readonly connection: KeptConnection;
  readonly leaseId: number;
  readonly leaseMs: number;
  readonly hold: LeaseHold;
  readonly host: Host;
  readonly log: LeaseWatcher;
}

/** The log: without a lease it takes nothing more. */
interface LeaseWatcher {
  readonly tell: {
    /** The lease is another leader's, or could not be renewed in time. */
    lost(error: Error): void;
  };
}

export interface LeaseProtocol {
  renew(): void;
  /**
   * Answer to the renewal: the time of this process at which the lease ends; undefined: it is another
   * leader's.
   */
  renewed(endsAt: number | undefined): void;
  /** The renewal failed with its connection. */
  failed(): void;
  /** The leader ends on purpose: the next one need not wait. */
  end(): void;
}

class LeaseState {
  readonly args: LeaseArgs;
  /** The time of the renewal without an answer. */
  requestedAt: number | undefined = undefined;
  ended = false;

  constructor(args: LeaseArgs) {
    this.args = args;
  }
}

/** Commits of this connection wait for no standby: a lease must not wait behind an append. */
export function leaseConnection(database: DatabaseOptions): KeptConnection {
  return new KeptConnection(database, { synchronousCommit: 'off' });
}

type LeaseContext = ProtocolContext<LeaseProtocol, LeaseState>;

/** Renews the lease four times in its length, and notices its end by the clock of this process. */
export const LeaseActor: Actor<LeaseProtocol, LeaseArgs> = defineActor.of<LeaseProtocol>()('postgres-lease', {
  state: (args: LeaseArgs) => new LeaseState(args),
  handlers: {
    renew,
    renewed(ctx, endsAt) {
      const { state } = ctx;
      state.requestedAt = undefined;
      if (endsAt === undefined) return lose(ctx, 'its lease is another leader’s');
      state.args.hold.extend(endsAt);
    },
    failed(ctx) {
      ctx.state.requestedAt = undefined;
    },
    async end({ state }) {
      state.ended = true;
      await endLease(state.args.connection.sql, state.args.leaseId).catch(() => undefined); // it ends by itself
    },
  },
  started: schedule,
  async stopped({ state }) {
    state.ended = true;
    await state.args.connection.end();
  },
});

function schedule(ctx: LeaseContext): void {
  ctx.after(ctx.state.args.leaseMs / 4, ctx.self, { key: 'renew' }).renew();
}

/** The end is counted from before the request: the leader never believes in a lease that has ended. */
function renew(ctx: LeaseContext): void {
  const { state, self } = ctx;
  const { connection, leaseId, leaseMs, hold, host } = state.args;
  if (state.ended) return;
  if (!hold.isHeld) return lose(ctx, 'its lease could not be renewed in time');
  schedule(ctx);
  const requestedAt = host.now();
  if (state.requestedAt !== undefined) {
    // A connection whose peer is gone without a word gives no error.
    if (requestedAt - state.requestedAt >= leaseMs / 2) connection.replace();
    return;
  }
  state.requestedAt = requestedAt;
  renewLease(connection.sql, leaseId, leaseMs).then(
    (isRenewed) => {
      if (!state.ended) self.tell.renewed(isRenewed ? requestedAt + leaseMs : undefined);
    },
    () => {
      if (!state.ended) self.tell.failed();
    },
  );
}

function lose({ state }: LeaseContext, reason: string): void {
  if (state.ended) return;
  state.ended = true;
  state.args.log.tell.lost(new JournalDeposedError(reason));
}
