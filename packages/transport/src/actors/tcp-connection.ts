import { type ActorDefinition, defineActor, type SuspensionToken } from '@troupe/core';
import type { OutgoingBody } from '../body/outgoing-body.js';
import type { Connection } from '../connection/connection.js';
import type { WriteRefusal, WriteResult } from '../connection/connection-handler.js';
import type { WireErrorDetail, WireErrorName } from '../connection/wire-error.js';
import type { HandshakeResult } from '../handshake/handshake-result.js';
import type { ConnectionMessages, OutboundBody, OutboundFrame } from './connection-messages.js';
import type { InboundDelivery } from './inbound-delivery.js';

type Messages = ConnectionMessages & {
  /** From its own InboundDelivery. */
  readonly connectionClosed: (ctx: never) => void;
};

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
export const TcpConnection: ActorDefinition<Messages, State, TcpConnectionArgs> = defineActor(
  'tcp-connection',
  {
    state: ({ connection, inbound }: TcpConnectionArgs): State => ({ connection, inbound, suspension: null }),
    handlers: {
      write(ctx, { type, header, body }: OutboundFrame): WriteResult {
        const written = ctx.state.connection.write(type, header, body);
        if (written === 'backpressure')
          ctx.state.suspension = ctx.suspend('backpressure', { on: 'event', key: `writable ${ctx.self.id}` });
        return written;
      },
      writeBody(ctx, { type, header, source, ...options }: OutboundBody): OutgoingBody | WriteRefusal {
        return ctx.state.connection.writeBody(type, header, source, options);
      },
      writeError(ctx, { name, ...detail }: { readonly name: WireErrorName } & WireErrorDetail): void {
        ctx.state.connection.writeError(name, detail);
      },
      handshake: (ctx): HandshakeResult => ctx.state.connection.handshake,
      drain(ctx, graceMs: number): void {
        ctx.state.connection.drain(graceMs);
      },
      close(ctx): void {
        ctx.state.connection.close();
      },
      connectionClosed(ctx): void {
        ctx.stop();
      },
    },
    started(ctx) {
      const self = TcpConnection.self(ctx);
      ctx.state.inbound.onWritableAgain = () => {
        ctx.state.suspension?.resume();
        ctx.state.suspension = null;
      };
      ctx.state.inbound.onConnectionClosed = () => {
        ctx.state.suspension?.resume();
        self.tell.connectionClosed();
      };
    },
    stopping: (ctx) => ctx.state.connection.close(),
    mailbox: { capacity: 4_096 },
  },
);
