import { type Actor, defineActor, type ProtocolContext } from '@troupe/core';
import type { Connection } from '../connection/connection.js';
import { Dialer, type DialerOptions } from '../dialer/dialer.js';
import { nodeClock } from '../net/node-clock.js';
import { nodeNet } from '../net/node-net.js';
import type { MakeSession, SessionRef } from './connection-events.js';
import { openSession, spawnTemporary } from './open-session.js';

export interface TcpDialerArgs extends Omit<DialerOptions, 'net' | 'clock' | 'onConnection'> {
  /** Makes the session of each connection. */
  readonly session: MakeSession;
  /** Sockets. Default: those of Node. */
  readonly net?: DialerOptions['net'] | undefined;
  /** Time and chance. Default: those of Node. */
  readonly clock?: DialerOptions['clock'] | undefined;
}

export interface TcpDialerProtocol {
  /** Whether there is a connection whose handshake is done. */
  connected(): boolean;
  /** From the dialer itself: the actor fails with this error. */
  failed(error: Error): void;
}

interface OpenSession {
  readonly ref: SessionRef;
  readonly connection: Connection;
}

interface State {
  readonly args: TcpDialerArgs;
  dialer: Dialer | null;
  /** The session of the present connection, and before its end is seen that of the last one. */
  sessions: OpenSession[];
}

/**
 * Keeps one connection to an address, with its session as a child; after a loss it dials again, for a new
 * session. The end of a session closes its connection.
 */
export const TcpDialer: Actor<TcpDialerProtocol, TcpDialerArgs> = defineActor.of<TcpDialerProtocol>()(
  'tcp-dialer',
  {
    state: (args: TcpDialerArgs): State => ({ args, dialer: null, sessions: [] }),
    handlers: {
      connected: (ctx) => ctx.state.dialer?.connection != null,
      failed(_ctx, error) {
        throw error;
      },
    },
    // A session that fails ends alone; the next connection has a new one.
    supervise: { decide: () => 'stop' },
    started: (ctx) => {
      ctx.state.dialer = openDialer(ctx);
    },
    terminated(ctx, { ref }) {
      const { sessions } = ctx.state;
      sessions.find((session) => session.ref.id === ref.id)?.connection.close();
      ctx.state.sessions = sessions.filter((session) => session.ref.id !== ref.id);
    },
    restarting: (ctx) => ctx.state.dialer?.close(),
    stopping: (ctx) => ctx.state.dialer?.close(),
  },
);

function openDialer(ctx: ProtocolContext<TcpDialerProtocol, State>): Dialer {
  const { session, net = nodeNet, clock = nodeClock, ...options } = ctx.state.args;
  const { self, state } = ctx;
  const spawn = spawnTemporary(ctx.spawn.bind(ctx));
  return new Dialer({
    ...options,
    net,
    clock,
    onConnection: (connection) =>
      openSession(connection, session, {
        spawn,
        onOpened: (ref) => {
          state.sessions.push({ ref, connection });
          ctx.watch(ref);
        },
        onFailed: (error) => self.tell.failed(error),
      }),
  });
}
