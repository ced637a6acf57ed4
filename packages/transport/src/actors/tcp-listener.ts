import { type Actor, defineActor, type LaterReply, type ProtocolContext } from '@troupe/core';
import type { IdentityStore } from '../access/identity-store.js';
import { Listener, type ListenerOptions } from '../listener/listener.js';
import type { Address, ListenTls } from '../net/net-interface.js';
import { nodeClock } from '../net/node-clock.js';
import { nodeNet } from '../net/node-net.js';
import type { ConnectionReceiver } from './connection-messages.js';
import { attachConnectionActor } from './inbound-delivery.js';
import { TcpConnection } from './tcp-connection.js';

export interface TcpListenerArgs
  extends Omit<ListenerOptions, 'net' | 'clock' | 'onConnection' | 'onListening'> {
  /** Receives the events of all connections. */
  readonly receiver: ConnectionReceiver;
  /** Real sockets and real time, unless given. */
  readonly net?: ListenerOptions['net'] | undefined;
  readonly clock?: ListenerOptions['clock'] | undefined;
}

export interface TcpListenerProtocol {
  /** The bound address, as soon as it is known. */
  address(): Address;
  connections(): number;
  renewIdentities(identities: IdentityStore): void;
  renewTls(tls: ListenTls): void;
  /** Replies when all connections are closed. */
  drain(graceMs: number): 'drained';
  bound(address: Address): void;
  failed(error: Error): void;
}

interface State {
  readonly args: TcpListenerArgs;
  listener: Listener | null;
  address: Address | null;
  waiting: LaterReply<Address>[];
}

/**
 * Listens, and spawns a child TcpConnection for every peer after its handshake. An address that cannot be
 * bound is a failure of this actor; by default its parent restarts it.
 */
export const TcpListener: Actor<TcpListenerProtocol, TcpListenerArgs> = defineActor.of<TcpListenerProtocol>()(
  'tcp-listener',
  {
    state: (args: TcpListenerArgs): State => ({ args, listener: null, address: null, waiting: [] }),
    handlers: {
      address(ctx) {
        const reply = ctx.later<Address>();
        if (ctx.state.address === null) ctx.state.waiting.push(reply);
        else reply.reply(ctx.state.address);
        return reply;
      },
      connections: (ctx) => ctx.state.listener?.connections ?? 0,
      renewIdentities(ctx, identities) {
        ctx.state.listener?.renewIdentities(identities);
      },
      renewTls(ctx, tls) {
        ctx.state.listener?.renewTls(tls);
      },
      drain(ctx, graceMs) {
        const reply = ctx.later<'drained'>();
        if (ctx.state.listener === null) reply.reply('drained');
        else ctx.state.listener.drain(graceMs, () => reply.reply('drained'));
        return reply;
      },
      bound(ctx, address) {
        ctx.state.address = address;
        for (const reply of ctx.state.waiting.splice(0)) reply.reply(address);
      },
      failed(_ctx, error) {
        throw error;
      },
    },
    started: (ctx) => {
      ctx.state.listener = openListener(ctx);
    },
    restarting: (ctx) => ctx.state.listener?.close(),
    stopping: (ctx) =>
      new Promise<void>((resolve) => {
        if (ctx.state.listener === null) resolve();
        else ctx.state.listener.close(resolve);
      }),
  },
);

function openListener(ctx: ProtocolContext<TcpListenerProtocol, State>): Listener {
  const { receiver, net = nodeNet, clock = nodeClock, ...options } = ctx.state.args;
  const { self } = ctx;
  return new Listener({
    ...options,
    net,
    clock,
    onListening: (address) => self.tell.bound(address),
    onConnection: (connection) =>
      attachConnectionActor(connection, receiver, (inbound) =>
        ctx.spawn(TcpConnection, { args: { connection, inbound }, restart: 'temporary' }),
      ),
    onEvent: (event) => {
      options.onEvent?.(event);
      if (event.kind === 'failed') self.tell.failed(event.error);
    },
  });
}
