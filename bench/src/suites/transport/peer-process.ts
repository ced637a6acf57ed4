// The peer process of the transport suite: a listening actor, or a plain socket for comparison.
import { createServer, type Socket } from 'node:net';
import { createSystem, defineActor } from '@troupe/core';
import {
  type ConnectionEvents,
  type ReceivedFrame,
  type SessionConnection,
  TcpListener,
} from '@troupe/transport';
import { CertificateAuthority } from '@troupe/transport/testing';
import { MemoryWatch } from './memory-watch.js';
import { BODY_BYTES, MESSAGE_BYTES, type PeerMode, Type } from './peer-messages.js';

const ServerSession = defineActor.of<ConnectionEvents>()('server-session', {
  state: (args: { readonly connection: SessionConnection }) => ({ ...args, counted: 0 }),
  handlers: {
    readable(ctx) {
      const { connection } = ctx.state;
      for (let frame = connection.nextFrame(); frame !== null; frame = connection.nextFrame())
        serve(ctx.state, frame);
    },
    notice() {},
    closed(ctx) {
      ctx.stop();
    },
  },
});

function serve(
  state: { readonly connection: SessionConnection; counted: number },
  frame: ReceivedFrame,
): void {
  const { connection } = state;
  switch (frame.type) {
    case Type.Count:
      state.counted += 1;
      break;
    case Type.Total:
      reply(connection, String(state.counted), frame.header.msgId);
      state.counted = 0;
      break;
    case Type.Echo:
      connection.write(Type.Echo, { corrId: frame.header.msgId }, frame.body);
      break;
    default:
      readBody(connection, frame);
  }
}

function reply(connection: SessionConnection, text: string, corrId: string | undefined): void {
  connection.write(Type.Total, { corrId }, Buffer.from(text));
}

function readBody(connection: SessionConnection, frame: ReceivedFrame): void {
  const body = frame.incoming;
  let bytes = 0;
  body?.read({
    onChunk: (chunk) => {
      bytes += chunk.length;
      body.consumed(chunk.length);
    },
    onEnd: () => reply(connection, String(bytes), frame.header.msgId),
    onFail: () => reply(connection, 'failed', frame.header.msgId),
  });
}

async function listen(mode: PeerMode): Promise<void> {
  const system = createSystem({ name: 'bench-peer' });
  const authority = new CertificateAuthority('bench root');
  const tls = authority.issue({ name: 'bench', hosts: ['127.0.0.1'] });
  const listener = system.spawn(TcpListener, {
    args: {
      tls: mode === 'troupe-tls' ? tls : undefined,
      session: (connection, spawn) => spawn(ServerSession, { args: { connection } }),
    },
  });
  const address = await listener.ask.address();
  if (!('port' in address)) throw new Error('not a port');
  process.send?.({ port: address.port, ca: authority.cert });
}

/** `floor-sink` replies with one byte per 1,000 messages or per body, `floor-echo` with all bytes. */
function listenPlain(mode: PeerMode, bytesPerReply: number): void {
  const server = createServer((socket: Socket) => {
    socket.setNoDelay(true);
    let bytes = 0;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      if (mode === 'floor-echo') {
        socket.write(chunk);
        return;
      }
      bytes += chunk.length;
      while (bytes >= bytesPerReply) {
        bytes -= bytesPerReply;
        socket.write('x');
      }
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
  });
}

const mode = process.argv[2] as PeerMode; // given by open-connection.ts
const watch = new MemoryWatch();
process.on('message', () => process.send?.(watch.read()));
process.on('disconnect', () => process.exit());
if (mode === 'troupe' || mode === 'troupe-tls') await listen(mode);
else listenPlain(mode, process.argv[3] === 'body' ? BODY_BYTES : MESSAGE_BYTES * 1_000);
