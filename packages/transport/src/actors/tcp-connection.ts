import { type ActorDefinition, defineActor, type SuspensionToken } from '@troupe/core';
import type { AnswerDetail, AnswerName } from '../connection/answer.js';
import type { Connection } from '../connection/connection.js';
import type { Sent, Unsent } from '../connection/connection-handler.js';
import type { OutgoingBody } from '../connection/outgoing-body.js';
import type { Session } from '../handshake/session.js';
import type { Feed } from './feed.js';
import type { ConnectionMessages, Outbound, OutboundBody } from './receiver.js';

type Messages = ConnectionMessages & {
  /** From its own feed: the connection is over. */
  readonly gone: (ctx: never) => void;
};

interface State {
  readonly connection: Connection;
  readonly feed: Feed;
  stalled: SuspensionToken | null;
}

export interface TcpConnectionArgs {
  readonly connection: Connection;
  readonly feed: Feed;
}

/**
 * A connection as an actor: what others send to it goes to the peer. While the peer does not keep up the actor is suspended, so its
 * mailbox fills and holds its senders back. It ends with its connection and is never restarted: there is no second socket.
 */
export const TcpConnection: ActorDefinition<Messages, State, TcpConnectionArgs> = defineActor(
  'tcp-connection',
  {
    state: ({ connection, feed }: TcpConnectionArgs): State => ({ connection, feed, stalled: null }),
    handlers: {
      send(ctx, { type, header, body }: Outbound): Sent {
        const sent = ctx.state.connection.send(type, header, body);
        if (sent === 'behind')
          ctx.state.stalled = ctx.suspend('backpressure', { on: 'event', key: `drain ${ctx.self.id}` });
        return sent;
      },
      sendBody(ctx, { type, header, source, ...options }: OutboundBody): OutgoingBody | Unsent {
        return ctx.state.connection.sendBody(type, header, source, options);
      },
      answer(ctx, { name, ...detail }: { readonly name: AnswerName } & AnswerDetail): void {
        ctx.state.connection.answer(name, detail);
      },
      session: (ctx): Session => ctx.state.connection.session,
      goodbye(ctx, graceMs: number): void {
        ctx.state.connection.goodbye(graceMs);
      },
      close(ctx): void {
        ctx.state.connection.close();
      },
      gone(ctx): void {
        ctx.stop();
      },
    },
    started(ctx) {
      const self = TcpConnection.self(ctx);
      ctx.state.feed.onDrained = () => {
        ctx.state.stalled?.resume();
        ctx.state.stalled = null;
      };
      ctx.state.feed.onGone = () => {
        ctx.state.stalled?.resume();
        self.tell.gone();
      };
    },
    stopping: (ctx) => ctx.state.connection.close(),
    mailbox: { capacity: 4_096 },
  },
);
