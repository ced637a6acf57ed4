import { type Actor, defineActor, type ProtocolContext } from '@troupe/core';
import type { ConnectionEvents } from '@troupe/transport';
import type { ToClient } from '../../protocol/client/client-messages.js';
import type { MessagesByKind } from '../../protocol/messages-by-kind.js';
import { afterTaken, type Taken } from '../offer-to-leader.js';
import { SESSION_MAILBOX } from '../session-mailbox.js';
import type { SessionSetup } from '../session-setup.js';
import { SessionState } from '../session-state.js';
import { ClientConnection, type ClientSessionEvents } from './client-connection.js';

/** The messages of a client's session: of its connection, of the leader, and its own. */
export interface ClientSessionProtocol
  extends ConnectionEvents,
    MessagesByKind<ToClient>,
    ClientSessionEvents {}

type State = SessionState<ClientConnection>;

/** The session of a client of the full dialect: it owns the connection, and its end is the end of both. */
export const ClientSessionActor: Actor<ClientSessionProtocol, SessionSetup> =
  defineActor.of<ClientSessionProtocol>()('client', {
    state: (setup: SessionSetup) => new SessionState<ClientConnection>(setup),
    handlers: {
      readable: (ctx) => ctx.state.connection.read(),
      welcome: deliver,
      refused: deliver,
      heartbeat: deliver,
      receipts: deliver,
      outcomes: deliver,
      answer: deliver,
      stream_items: deliver,
      feed_states: deliver,
      writable: (ctx) => ctx.state.connection.writable(),
      payloadStored: (ctx, stored) => ctx.state.connection.payloadStored(stored),
      payloadRefused: (ctx, seq) => ctx.state.connection.payloadRefused(seq),
      notice() {},
      closed: (ctx) => afterTaken(ctx.state.connection.closed(), () => void ctx.stop()),
    },
    mailbox: SESSION_MAILBOX,
    started(ctx) {
      ctx.state.connection = new ClientConnection(ctx.self, ctx.state.setup);
    },
    stopping(ctx) {
      ctx.state.connection.end();
    },
  });

function deliver(ctx: ProtocolContext<ClientSessionProtocol, State>, message: ToClient): Taken {
  return ctx.state.connection.deliver(message);
}
