import { type Actor, defineActor, type SuspensionToken } from '@troupe/core';
import type { Connection } from '../connection/connection.js';
import type { ConnectionProtocol } from './connection-messages.js';
import type { InboundDelivery } from './inbound-delivery.js';

interface TcpConnectionProtocol extends ConnectionProtocol {
  /** From its own InboundDelivery. */
  connectionClosed(): void;
}

interface State {
  readonly connection: Connection;
  readonly inbound: InboundDelivery;
  suspension: SuspensionToken | null;
}

export interface TcpConnectionArgs {
  readonly connection: Connection;
  readonly inbound: InboundDelivery;
}

/**
 * A connection as an actor: messages to it are written to the peer. While the outbox is above its high mark
 * the actor is suspended, so its mailbox fills and mutes its senders. It stops with its connection and is
 * never restarted.
 */
export const TcpConnection: Actor<TcpConnectionProtocol, TcpConnectionArgs> =
  defineActor.of<TcpConnectionProtocol>()('tcp-connection', {
    state: ({ connection, inbound }: TcpConnectionArgs): State => ({ connection, inbound, suspension: null }),
    handlers: {
      write(ctx, { type, header, body }) {
        const written = ctx.state.connection.write(type, header, body);
        if (written === 'backpressure')
          ctx.state.suspension = ctx.suspend('backpressure', { on: 'event', key: `writable ${ctx.self.id}` });
        return written;
      },
      writeBody(ctx, { type, header, source, ...options }) {
        return ctx.state.connection.writeBody(type, header, source, options);
      },
      writeError(ctx, { name, ...detail }) {
        ctx.state.connection.writeError(name, detail);
      },
      handshake: (ctx) => ctx.state.connection.handshake,
      drain(ctx, graceMs) {
        ctx.state.connection.drain(graceMs);
      },
      close(ctx) {
        ctx.state.connection.close();
      },
      connectionClosed(ctx) {
        ctx.stop();
      },
    },
    started(ctx) {
      // The connection may call back when the actor has ended: its context would refuse its state.
      const { self, state } = ctx;
      state.inbound.onWritableAgain = () => {
        state.suspension?.resume();
        state.suspension = null;
      };
      state.inbound.onConnectionClosed = () => {
        state.suspension?.resume();
        self.tell.connectionClosed();
      };
    },
    stopping: (ctx) => ctx.state.connection.close(),
    mailbox: { capacity: 4_096 },
  });
