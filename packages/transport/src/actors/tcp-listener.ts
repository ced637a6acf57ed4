import {
  type Actor,
  type AnyRef,
  defineActor,
  type LaterReply,
  type ProtocolContext,
  type SupervisionPolicy,
} from '@troupe/core';
import type { IdentityStore } from '../access/identity-store.js';
import type { Connection } from '../connection/connection.js';
import { Listener, type ListenerOptions, type ListenerUsage } from '../listener/listener.js';
import type { Address, ListenTls } from '../net/net-interface.js';
import { nodeClock } from '../net/node-clock.js';
import { nodeNet } from '../net/node-net.js';
import type { MakeSession } from './connection-events.js';
import { openSession, spawnTemporary } from './open-session.js';

export interface TcpListenerArgs
  extends Omit<ListenerOptions, 'net' | 'clock' | 'onConnection' | 'onListening'> {
  /** Makes the session of every peer whose handshake is done. */
  readonly session: MakeSession;
  /** Sockets. Default: those of Node. */
  readonly net?: ListenerOptions['net'] | undefined;
  /** Time and chance. Default: those of Node. */
  readonly clock?: ListenerOptions['clock'] | undefined;
}

export interface TcpListenerProtocol {
  /** The bound address, as soon as it is known. */
  address(): Address;
  /** Connections after their handshake. */
  connections(): number;
  /** The part of the limits in use. */
  usage(): ListenerUsage;
  /** Ends the connections whose key or certificate is no longer in the store, or has other rights now. */
  renewIdentities(identities: IdentityStore): void;
  /** For new connections. Replies with the error of a certificate that cannot be used: it changes nothing. */
  renewTls(tls: ListenTls): Error | null;
  /** Replies when all connections are closed. */
  drain(graceMs: number): 'drained';
  /** From the listener itself: the address is bound. */
  bound(address: Address): void;
  /** From the listener itself: the actor fails with this error. */
  failed(error: Error): void;
}

interface State {
  readonly args: TcpListenerArgs;
  readonly sessions: Map<AnyRef['id'], Connection>;
  listener: Listener | null;
  address: Address | null;
  waiting: LaterReply<Address>[];
}

const NO_USAGE: ListenerUsage = { connections: 0, unauthenticated: 0, gatheredBytes: 0 };

/** A session that fails ends alone. */
const SUPERVISION: SupervisionPolicy = { decide: () => 'stop' };

/**
 * Listens, and has a session as its child for every peer after its handshake. The end of a session closes its
 * connection. An address that cannot be bound is a failure of this actor; by default its parent restarts it.
 */
export const TcpListener: Actor<TcpListenerProtocol, TcpListenerArgs> = defineActor.of<TcpListenerProtocol>()(
  'tcp-listener',
  {
    state: (args: TcpListenerArgs): State => ({
      args,
      sessions: new Map(),
      listener: null,
      address: null,
      waiting: [],
    }),
    handlers: {
      address(ctx) {
        const reply = ctx.later<Address>();
        if (ctx.state.address === null) ctx.state.waiting.push(reply);
        else reply.reply(ctx.state.address);
        return reply;
      },
      connections: (ctx) => ctx.state.listener?.connections ?? 0,
      usage: (ctx) => ctx.state.listener?.usage ?? NO_USAGE,
      renewIdentities(ctx, identities) {
        ctx.state.listener?.renewIdentities(identities);
      },
      renewTls(ctx, tls) {
        try {
          ctx.state.listener?.renewTls(tls);
          return null;
        } catch (error) {
          return error as Error;
        }
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
    supervise: SUPERVISION,
    started: (ctx) => {
      ctx.state.listener = openListener(ctx);
    },
    terminated(ctx, { ref }) {
      ctx.state.sessions.get(ref.id)?.close();
      ctx.state.sessions.delete(ref.id);
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
  const { session, net = nodeNet, clock = nodeClock, ...options } = ctx.state.args;
  const { self, state } = ctx;
  const spawn = spawnTemporary(ctx.spawn.bind(ctx));
  return new Listener({
    ...options,
    net,
    clock,
    onListening: (address) => self.tell.bound(address),
    onConnection: (connection) =>
      openSession(connection, session, {
        spawn,
        onOpened: (ref) => {
          state.sessions.set(ref.id, connection);
          ctx.watch(ref);
        },
        onFailed: (error) => self.tell.failed(error),
      }),
    onEvent: (event) => {
      options.onEvent?.(event);
      // Later errors concern single sockets.
      if (event.kind === 'failed' && state.listener?.address == null) self.tell.failed(event.error);
    },
  });
}
