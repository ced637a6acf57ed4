import { type ChildProcess, fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { type ActorSystem, createSystem, defineActor } from '@troupe/core';
import {
  type ConnectionClosed,
  type ConnectionNotice,
  type ConnectionOpened,
  type ConnectionRef,
  type FrameArrived,
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

type OnFrame = (frame: FrameArrived['frame']) => void;

/** Passes every frame to the current callback of the trial. */
const FrameReceiver = defineActor('frame-receiver', {
  state: (args: {
    readonly opened: (connection: ConnectionRef) => void;
    readonly callbacks: { onFrame: OnFrame };
  }) => args,
  handlers: {
    opened(ctx, { connection }: ConnectionOpened) {
      ctx.state.opened(connection);
    },
    frame(ctx, { frame }: FrameArrived) {
      ctx.state.callbacks.onFrame(frame);
    },
    notice(_ctx, _notice: ConnectionNotice) {},
    closed(_ctx, _closed: ConnectionClosed) {},
  },
  mailbox: { capacity: 10_000 },
});

export interface TroupeConnection {
  readonly system: ActorSystem;
  readonly actor: ConnectionRef;
  readonly callbacks: { onFrame: OnFrame };
  readonly peer: ChildProcess;
  close(): Promise<void>;
}

/** Opens a connection actor of this process to the server actor of the peer process. */
export async function openTroupe(mode: 'troupe' | 'troupe-tls'): Promise<TroupeConnection> {
  const { peer, listening } = await startPeer(mode);
  const system = createSystem({ name: 'bench' });
  const callbacks: { onFrame: OnFrame } = { onFrame: () => undefined };
  const actor = await new Promise<ConnectionRef>((opened) => {
    const receiver = system.spawn(FrameReceiver, { args: { opened, callbacks } });
    const address = { host: '127.0.0.1', port: listening.port };
    const tls = mode === 'troupe-tls' && listening.ca !== undefined ? { tls: { ca: listening.ca } } : {};
    system.spawn(TcpDialer, { args: { receiver, address, role: 'peer', ...tls } });
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
