import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ChannelSecurity } from '../handshake/listener-handshake.js';
import type { NetSocket, SocketHandler } from './net.js';

const BINDING_LABEL = 'EXPORTER-troupe-auth';
const BINDING_BYTES = 32;
const KEEP_ALIVE_MS = 30_000;
const SLICE_MS = 1;
const PLAIN: ChannelSecurity = { binding: new Uint8Array(0), certificate: null };

/** A socket of node:net or node:tls behind the port. */
export class NodeSocket implements NetSocket {
  readonly remote: string;
  readonly channel: ChannelSecurity;
  private readonly socket: Socket;
  private error: Error | null = null;
  private paused = false;
  private yielding = false;
  private sliceMs = 0;

  constructor(socket: Socket, remote: string) {
    this.socket = socket;
    this.remote = remote;
    this.channel = socket instanceof TLSSocket ? channelOf(socket) : PLAIN;
    socket.setNoDelay(true);
    // The minimal dialect has no Ping; this finds its half-open peers.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('error', (error) => {
      this.error = error;
    });
  }

  attach(handler: SocketHandler): void {
    this.socket
      .on('drain', () => handler.onWritable())
      .on('end', () => handler.onEnd())
      .on('close', () => handler.onClose(this.error))
      .on('data', (chunk: Buffer) => this.onData(handler, chunk));
  }

  write(pieces: readonly Buffer[]): boolean {
    const socket = this.socket;
    if (pieces.length === 1) return socket.write(pieces[0] as Buffer); // length was checked
    let takesMore = true;
    socket.cork();
    for (const piece of pieces) takesMore = socket.write(piece);
    socket.uncork();
    return takesMore;
  }

  get heldBytes(): number {
    return this.socket.writableLength;
  }

  pause(): void {
    this.paused = true;
    this.socket.pause();
  }

  resume(): void {
    this.paused = false;
    if (!this.yielding) this.socket.resume();
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  // libuv reads a socket up to 32 times before it looks at the next one: two megabytes of small frames from one peer would keep
  // everybody else waiting for a tenth of a second. So after a slice of work this socket steps back for one turn of the loop.
  private onData(handler: SocketHandler, chunk: Buffer): void {
    const startedAt = performance.now();
    handler.onData(chunk);
    this.sliceMs += performance.now() - startedAt;
    if (this.sliceMs < SLICE_MS || this.yielding) return;
    this.yielding = true;
    this.socket.pause();
    setImmediate(() => {
      this.sliceMs = 0;
      this.yielding = false;
      if (!this.paused) this.socket.resume();
    });
  }
}

function channelOf(socket: TLSSocket): ChannelSecurity {
  return {
    binding: socket.exportKeyingMaterial(BINDING_BYTES, BINDING_LABEL, Buffer.alloc(0)),
    certificate: socket.authorized ? uriOf(socket.getPeerCertificate().subjectaltname) : null,
  };
}

// One URI or nobody: with two, which one is meant would be ours to guess. Node quotes names that could be mistaken for several.
function uriOf(names: string | undefined): string | null {
  const uris = (names ?? '').split(', ').filter((name) => name.startsWith('URI:'));
  const [only] = uris;
  return uris.length === 1 && only !== undefined && !only.includes('"') ? only.slice(4) : null;
}
