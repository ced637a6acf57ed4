import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ChannelSecurity } from '../handshake/listener-handshake.js';
import type { NetSocket, SocketHandler } from './net-interface.js';

const BINDING_LABEL = 'EXPORTER-troupe-auth';
const BINDING_BYTES = 32;
const KEEP_ALIVE_MS = 30_000;
const SLICE_MS = 1;
const NO_TLS: ChannelSecurity = { binding: new Uint8Array(0), certificate: null };

/** A socket of node:net or node:tls. */
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
    this.channel = socket instanceof TLSSocket ? channelSecurityOf(socket) : NO_TLS;
    socket.setNoDelay(true);
    // Finds half-open peers of the minimal dialect, which has no Ping.
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

  // libuv reads a socket up to 32 times before the next one: two megabytes of small frames from one peer
  // would delay all others by a tenth of a second. After a slice of work this socket pauses for one turn of
  // the event loop.
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

function channelSecurityOf(socket: TLSSocket): ChannelSecurity {
  return {
    binding: socket.exportKeyingMaterial(BINDING_BYTES, BINDING_LABEL, Buffer.alloc(0)),
    certificate: socket.authorized ? uriOf(socket.getPeerCertificate().subjectaltname) : null,
  };
}

// Exactly one URI: with two, the identity would be ambiguous. Node quotes names that contain a separator.
function uriOf(names: string | undefined): string | null {
  const uris = (names ?? '').split(', ').filter((name) => name.startsWith('URI:'));
  const [only] = uris;
  return uris.length === 1 && only !== undefined && !only.includes('"') ? only.slice(4) : null;
}
