import { type Actor, defineActor, type ProtocolContext } from '@troupe/core';
import { Dialer, type DialerOptions } from '../dialer/dialer.js';
import { nodeClock } from '../net/node-clock.js';
import { nodeNet } from '../net/node-net.js';
import type { ConnectionReceiver, ConnectionRef } from './connection-messages.js';
import { attachConnectionActor } from './inbound-delivery.js';
import { TcpConnection } from './tcp-connection.js';

export interface TcpDialerArgs extends Omit<DialerOptions, 'net' | 'clock' | 'onConnection'> {
  /** Receives the events of each connection. */
  readonly receiver: ConnectionReceiver;
  /** Real sockets and real time, unless given. */
  readonly net?: DialerOptions['net'] | undefined;
  readonly clock?: DialerOptions['clock'] | undefined;
}

export interface TcpDialerProtocol {
  /** The current connection; null while there is none. */
  connection(): ConnectionRef | null;
}

interface State {
  readonly args: TcpDialerArgs;
  dialer: Dialer | null;
  connection: ConnectionRef | null;
}

/** Keeps one connection to an address, as a child TcpConnection; after a loss it dials again. */
export const TcpDialer: Actor<TcpDialerProtocol, TcpDialerArgs> = defineActor.of<TcpDialerProtocol>()(
  'tcp-dialer',
  {
    state: (args: TcpDialerArgs): State => ({ args, dialer: null, connection: null }),
    handlers: {
      connection: (ctx) => (ctx.state.dialer?.connection == null ? null : ctx.state.connection),
    },
    started: (ctx) => {
      ctx.state.dialer = openDialer(ctx);
    },
    restarting: (ctx) => ctx.state.dialer?.close(),
    stopping: (ctx) => ctx.state.dialer?.close(),
  },
);

function openDialer(ctx: ProtocolContext<TcpDialerProtocol, State>): Dialer {
  const { receiver, net = nodeNet, clock = nodeClock, ...options } = ctx.state.args;
  return new Dialer({
    ...options,
    net,
    clock,
    onConnection: (connection) =>
      attachConnectionActor(connection, receiver, (inbound) => {
        const ref = ctx.spawn(TcpConnection, { args: { connection, inbound }, restart: 'temporary' });
        ctx.state.connection = ref;
        return ref;
      }),
  });
}
