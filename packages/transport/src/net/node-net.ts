import { constants, randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  connect as connectTls,
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
} from 'node:tls';
import { ListenError } from '../transport-error.js';
import { DEFAULT_HOST, formatAddress } from './address.js';
import type {
  Address,
  DialHandler,
  DialTls,
  ListenHandler,
  ListenTls,
  Net,
  NetServer,
} from './net-interface.js';
import { NodeSocket } from './node-socket.js';

const ALPN = ['troupe/1'];
const TLS_VERSION = 'TLSv1.3';
/** High-water mark of a socket; Node's 16 KiB would cost a turn of the event loop for every small batch. */
const BUFFER_BYTES = 128 * 1024;
const UNIX = 'unix';
const ONLY_OWNER = 0o600;
const BACKLOG = 1024;

/** TCP, TLS and Unix sockets of Node. No other file of this package opens sockets. */
export const nodeNet: Net = {
  listen: ({ address, tls, tlsHandshakeMs }, handler) =>
    new NodeServer(address, tls, tlsHandshakeMs, handler),
  dial: ({ address, tls, timeoutMs }, handler) => dial(address, tls, timeoutMs, handler),
  secureRandom: (bytes) => randomBytes(bytes),
};

class NodeServer implements NetServer {
  private readonly server: Server;
  private readonly tlsServer: TlsServer | null;
  private readonly handler: ListenHandler;
  /** Accepted sockets by remote address and port, which their TLS sockets share. */
  private readonly inTlsHandshake = new Map<string, Socket>();
  private triedReclaim = false;

  constructor(address: Address, tls: ListenTls | undefined, tlsHandshakeMs: number, handler: ListenHandler) {
    if (tls !== undefined && 'path' in address)
      throw new ListenError(formatAddress(address), 'a Unix socket takes no TLS');
    this.handler = handler;
    this.tlsServer = tls === undefined ? null : this.createTls(tls, tlsHandshakeMs);
    this.server = createServer(
      // With TLS a peer that ends its stream in the handshake would stay half open until the timeout.
      { allowHalfOpen: tls === undefined, noDelay: true, highWaterMark: BUFFER_BYTES },
      (socket) => this.accept(socket),
    );
    this.server.on('error', (error: NodeJS.ErrnoException) => this.onError(address, error));
    this.server.on('listening', () => this.onListening(address));
    this.listen(address);
  }

  close(done: () => void): void {
    for (const socket of [...this.inTlsHandshake.values()]) socket.destroy();
    if (this.server.listening) this.server.close(() => done());
    else done();
  }

  renew(tls: ListenTls): void {
    this.tlsServer?.setSecureContext(contextOf(tls));
  }

  private listen(address: Address): void {
    if ('path' in address) this.server.listen({ path: address.path, backlog: BACKLOG });
    else this.server.listen({ host: address.host ?? DEFAULT_HOST, port: address.port, backlog: BACKLOG });
  }

  private onError(address: Address, error: NodeJS.ErrnoException): void {
    const report = (): void =>
      this.handler.onError(new ListenError(formatAddress(address), error.message, { cause: error }));
    if (error.code !== 'EADDRINUSE' || !('path' in address) || this.triedReclaim) return report();
    // A killed process leaves its socket file behind: a file without a listener is replaced.
    this.triedReclaim = true;
    const probe = connect(address.path, () => {
      probe.destroy();
      report();
    });
    probe.on('error', (refusal: NodeJS.ErrnoException) => {
      if (refusal.code !== 'ECONNREFUSED' || !lstatSync(address.path).isSocket()) return report();
      unlinkSync(address.path);
      this.listen(address);
    });
  }

  private onListening(address: Address): void {
    if ('path' in address) {
      chmodSync(address.path, ONLY_OWNER);
      return this.handler.onListening(address);
    }
    const bound = this.server.address();
    if (bound !== null && typeof bound === 'object')
      this.handler.onListening({ host: bound.address, port: bound.port });
  }

  private accept(socket: Socket): void {
    const remote = socket.remoteAddress ?? UNIX;
    const verdict = this.handler.admit(remote);
    if (verdict === 'accept') {
      if (this.tlsServer === null) this.handler.onSocket(new NodeSocket(socket, remote));
      else this.startTls(this.tlsServer, socket, remote);
      return;
    }
    socket.on('error', () => socket.destroy());
    if (verdict === 'reject' && this.tlsServer === null)
      socket.end(this.handler.refusal, () => socket.destroy());
    else socket.destroy();
  }

  private startTls(secure: TlsServer, socket: Socket, remote: string): void {
    const key = keyOf(socket);
    this.inTlsHandshake.set(key, socket);
    socket.once('close', () => {
      if (this.inTlsHandshake.delete(key))
        this.handler.onTlsFailed(remote, new Error('closed in the TLS handshake'));
    });
    secure.emit('connection', socket);
  }

  private createTls(tls: ListenTls, handshakeTimeout: number): TlsServer {
    const server = createTlsServer({
      ...contextOf(tls),
      requestCert: tls.clientCa !== undefined,
      rejectUnauthorized: true,
      ALPNProtocols: ALPN,
      handshakeTimeout,
      // No session resumption: every connection proves its certificate.
      secureOptions: constants.SSL_OP_NO_TICKET,
    });
    server.on('secureConnection', (socket) => {
      const key = keyOf(socket);
      const remote = this.inTlsHandshake.get(key)?.remoteAddress ?? UNIX;
      if (this.inTlsHandshake.delete(key)) this.handler.onSocket(new NodeSocket(socket, remote));
      else socket.destroy();
    });
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }
}

function dial(
  address: Address,
  tls: DialTls | undefined,
  timeoutMs: number,
  handler: DialHandler,
): { cancel(): void } {
  const target =
    'path' in address ? { path: address.path } : { host: address.host ?? DEFAULT_HOST, port: address.port };
  const options = { ...target, allowHalfOpen: true, highWaterMark: BUFFER_BYTES };
  const socket: Socket =
    tls === undefined
      ? connect(options)
      : connectTls({
          ...options,
          minVersion: TLS_VERSION,
          ALPNProtocols: ALPN,
          ca: optionalBytes(tls.ca),
          key: optionalBytes(tls.key),
          cert: optionalBytes(tls.cert),
          servername: tls.serverName,
        });
  let isDone = false;
  const timer = setTimeout(
    () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const finish = (): boolean => {
    clearTimeout(timer);
    const isFirst = !isDone;
    isDone = true;
    return isFirst;
  };
  socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
    if (finish()) handler.onOpen(new NodeSocket(socket, socket.remoteAddress ?? UNIX));
  });
  socket.on('error', (error) => {
    if (finish()) handler.onError(error);
  });
  socket.once('close', () => {
    if (finish()) handler.onError(new Error('closed while connecting'));
  });
  return {
    cancel() {
      if (finish()) socket.destroy();
    },
  };
}

function contextOf(tls: ListenTls): SecureContextOptions {
  return {
    key: bytesOf(tls.key),
    cert: bytesOf(tls.cert),
    ca: optionalBytes(tls.clientCa),
    minVersion: TLS_VERSION,
  };
}

function optionalBytes(text: string | Uint8Array | undefined): Buffer | undefined {
  return text === undefined ? undefined : bytesOf(text);
}

function bytesOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string'
    ? Buffer.from(text)
    : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
}

function keyOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ''} ${socket.remotePort ?? 0}`;
}
