import { type Actor, defineActor, type Ref } from '@troupe/core';
import type { ConnectionEvents, MakeSession, SessionConnection, TcpListenerArgs } from '@troupe/transport';

interface ChatProtocol extends ConnectionEvents {
  say(text: string): void;
}

interface ChatArgs {
  readonly connection: SessionConnection;
  readonly room: string;
}

export const Chat: Actor<ChatProtocol, ChatArgs> = defineActor.of<ChatProtocol>()('chat', {
  state: (args: ChatArgs) => args,
  handlers: {
    say(ctx, text) {
      const written = ctx.state.connection.write(64, {}, Buffer.from(text));
      return written === 'backpressure' ? ctx.state.connection.whenWritable() : undefined;
    },
    readable: (ctx) => void ctx.state.connection.nextFrame(),
    notice() {},
    closed: (ctx) => ctx.stop(),
  },
});

const Deaf = defineActor('deaf', { handlers: { say(_ctx, _text: string) {} } });

/** The definition is chosen by the handshake; the session keeps its own protocol. */
export const byRole: MakeSession = (connection, spawn) => {
  const room = connection.handshake.role === 'worker' ? 'workers' : 'clients';
  const chat: Ref<ChatProtocol> = spawn(Chat, { args: { connection, room } });
  chat.tell.say('welcome');
  return chat;
};

// @ts-expect-error the arguments of the definition are checked
export const wrongArgs: MakeSession = (connection, spawn) => spawn(Chat, { args: { connection } });

// @ts-expect-error an actor without the messages of a connection is no session
export const noEvents: MakeSession = (_connection, spawn) => spawn(Deaf);

// @ts-expect-error a listener needs `session`
export const withoutSession: TcpListenerArgs = { address: { port: 0 } };
