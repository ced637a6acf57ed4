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
import type { Listening, Memory, Mode } from './peer-messages.js';

/** Starts the other process and says where it listens. */
export async function startPeer(
  mode: Mode,
  what = '',
): Promise<{ peer: ChildProcess; listening: Listening }> {
  const peer = fork(new URL('./peer-process.js', import.meta.url), [mode, what], { execArgv: [] });
  const listening = await new Promise<Listening>((resolve, reject) => {
    peer.once('message', (message) => resolve(message as Listening));
    peer.once('exit', (code) => reject(new Error(`the peer process ended with ${code}`)));
  });
  return { peer, listening };
}

export function memoryOf(peer: ChildProcess): Promise<Memory> {
  return new Promise((resolve) => {
    peer.once('message', (message) => resolve(message as Memory));
    peer.send('memory');
  });
}

type OnFrame = (frame: FrameArrived['frame']) => void;

/** Hands every frame to whatever the trial is doing just now. */
const Desk = defineActor('desk', {
  state: (args: {
    readonly opened: (connection: ConnectionRef) => void;
    readonly hands: { onFrame: OnFrame };
  }) => args,
  handlers: {
    opened(ctx, { connection }: ConnectionOpened) {
      ctx.state.opened(connection);
    },
    frame(ctx, { frame }: FrameArrived) {
      ctx.state.hands.onFrame(frame);
    },
    notice(_ctx, _notice: ConnectionNotice) {},
    closed(_ctx, _closed: ConnectionClosed) {},
  },
  mailbox: { capacity: 10_000 },
});

export interface TroupeEnd {
  readonly system: ActorSystem;
  readonly connection: ConnectionRef;
  readonly hands: { onFrame: OnFrame };
  readonly peer: ChildProcess;
  close(): Promise<void>;
}

/** A connection actor in this process, to the server actor in the other one. */
export async function openTroupe(mode: 'troupe' | 'troupe-tls'): Promise<TroupeEnd> {
  const { peer, listening } = await startPeer(mode);
  const system = createSystem({ name: 'bench' });
  const hands: { onFrame: OnFrame } = { onFrame: () => undefined };
  const connection = await new Promise<ConnectionRef>((opened) => {
    const receiver = system.spawn(Desk, { opened, hands });
    const address = { host: '127.0.0.1', port: listening.port };
    const tls = mode === 'troupe-tls' && listening.ca !== undefined ? { tls: { ca: listening.ca } } : {};
    system.spawn(TcpDialer, { receiver, address, role: 'peer', ...tls });
  });
  return {
    system,
    connection,
    hands,
    peer,
    async close() {
      await system.shutdown();
      peer.disconnect();
    },
  };
}

export interface BareEnd {
  readonly socket: Socket;
  readonly peer: ChildProcess;
  /** Resolves when so many bytes have come back. */
  received(bytes: number): Promise<void>;
  /** Writes, and waits where the socket says so. */
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

export async function openBare(mode: 'floor-sink' | 'floor-echo', what = ''): Promise<BareEnd> {
  const { peer, listening } = await startPeer(mode, what);
  const socket = connect(listening.port, '127.0.0.1');
  socket.setNoDelay(true);
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  let come = 0;
  let wanted = 0;
  let wake: () => void = () => undefined;
  socket.on('data', (chunk) => {
    come += chunk.length;
    if (come >= wanted) wake();
  });
  return {
    socket,
    peer,
    received(bytes) {
      wanted += bytes;
      return come >= wanted
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
