import { type ChildProcess, fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { type Actor, type ActorSystem, createSystem, defineActor, type Ref } from '@troupe/core';
import {
  type BodySource,
  type ConnectionEvents,
  type FrameHeader,
  type ReceivedFrame,
  type SessionConnection,
  TcpDialer,
} from '@troupe/transport';
import type { MemoryReading } from './memory-watch.js';
import type { Listening, PeerMode } from './peer-messages.js';

/** Starts the peer process and waits until it listens. */
async function startPeer(mode: PeerMode, unit = ''): Promise<{ peer: ChildProcess; listening: Listening }> {
  const peer = fork(new URL('./peer-process.js', import.meta.url), [mode, unit], { execArgv: [] });
  const listening = await new Promise<Listening>((resolve, reject) => {
    peer.once('message', (message) => resolve(message as Listening));
    peer.once('exit', (code) => reject(new Error(`the peer process exited with ${code}`)));
  });
  return { peer, listening };
}

/** Requests the memory of the peer process. */
export function memoryOf(peer: ChildProcess): Promise<MemoryReading> {
  return new Promise((resolve) => {
    peer.once('message', (message) => resolve(message as MemoryReading));
    peer.send('memory');
  });
}

type OnFrame = (frame: ReceivedFrame) => void;

interface BenchSessionProtocol extends ConnectionEvents {
  write(frame: { readonly type: number; readonly header: FrameHeader; readonly body: Uint8Array }): void;
  writeBody(body: { readonly type: number; readonly header: FrameHeader; readonly source: BodySource }): void;
}

interface BenchSessionArgs {
  readonly connection: SessionConnection;
  readonly callbacks: { onFrame: OnFrame };
}

/** Writes the frames of the trial, and passes every received one to its current callback. */
const BenchSession: Actor<BenchSessionProtocol, BenchSessionArgs> = defineActor.of<BenchSessionProtocol>()(
  'bench-session',
  {
    state: (args: BenchSessionArgs) => args,
    handlers: {
      write(ctx, { type, header, body }) {
        const { connection } = ctx.state;
        if (connection.write(type, header, body) === 'backpressure') return connection.whenWritable();
        return undefined;
      },
      writeBody(ctx, { type, header, source }) {
        ctx.state.connection.writeBody(type, header, source);
      },
      readable(ctx) {
        const { connection, callbacks } = ctx.state;
        for (let frame = connection.nextFrame(); frame !== null; frame = connection.nextFrame())
          callbacks.onFrame(frame);
      },
      notice() {},
      closed(ctx) {
        ctx.stop();
      },
    },
    mailbox: { capacity: 10_000 },
  },
);

export interface TroupeConnection {
  readonly system: ActorSystem;
  readonly actor: Ref<BenchSessionProtocol>;
  readonly callbacks: { onFrame: OnFrame };
  readonly peer: ChildProcess;
  close(): Promise<void>;
}

/** Opens a connection actor of this process to the server actor of the peer process. */
export async function openTroupe(mode: 'troupe' | 'troupe-tls'): Promise<TroupeConnection> {
  const { peer, listening } = await startPeer(mode);
  const system = createSystem({ name: 'bench' });
  const callbacks: { onFrame: OnFrame } = { onFrame: () => undefined };
  const actor = await new Promise<Ref<BenchSessionProtocol>>((opened) => {
    const address = { host: '127.0.0.1', port: listening.port };
    const tls = mode === 'troupe-tls' && listening.ca !== undefined ? { ca: listening.ca } : undefined;
    system.spawn(TcpDialer, {
      args: {
        address,
        role: 'peer',
        tls,
        session: (connection, spawn) => {
          const session = spawn(BenchSession, { args: { connection, callbacks } });
          opened(session);
          return session;
        },
      },
    });
  });
  return {
    system,
    actor,
    callbacks,
    peer,
    async close() {
      await system.shutdown();
      peer.disconnect();
    },
  };
}

export interface PlainConnection {
  readonly socket: Socket;
  readonly peer: ChildProcess;
  /** Resolves after this many more bytes have arrived. */
  received(bytes: number): Promise<void>;
  /** Writes, and waits for `drain` if the socket buffer is full. */
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/** Opens a plain socket to the peer process. */
export async function openPlain(mode: 'floor-sink' | 'floor-echo', unit = ''): Promise<PlainConnection> {
  const { peer, listening } = await startPeer(mode, unit);
  const socket = connect(listening.port, '127.0.0.1');
  socket.setNoDelay(true);
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  let arrived = 0;
  let expected = 0;
  let wake: () => void = () => undefined;
  socket.on('data', (chunk) => {
    arrived += chunk.length;
    if (arrived >= expected) wake();
  });
  return {
    socket,
    peer,
    received(bytes) {
      expected += bytes;
      return arrived >= expected
        ? Promise.resolve()
        : new Promise((resolve) => {
            wake = resolve;
          });
    },
    write(bytes) {
      return socket.write(bytes)
        ? Promise.resolve()
        : new Promise((resolve) => socket.once('drain', () => resolve()));
    },
    close() {
      socket.destroy();
      peer.disconnect();
    },
  };
}
