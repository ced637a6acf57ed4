import type { ChannelSecurity } from '../handshake/listener-handshake.js';

export type Address =
  | { readonly host?: string | undefined; readonly port: number }
  | { readonly path: string };

/** The contents of the files; reading them is the caller's part. */
export interface ListenTls {
  /** The private key, in PEM. */
  readonly key: string | Uint8Array;
  /** The certificate chain, in PEM. */
  readonly cert: string | Uint8Array;
  /** Requires a certificate of the dialer, signed by this authority. */
  readonly clientCa?: string | Uint8Array | undefined;
}

export interface DialTls {
  /** The authority of the listener's certificate. Default: those of the system. */
  readonly ca?: string | Uint8Array | undefined;
  /** The name in the listener's certificate. Default: the dialled host. */
  readonly serverName?: string | undefined;
  /** The private key of the dialer's own certificate, for `mtls`. */
  readonly key?: string | Uint8Array | undefined;
  /** The dialer's own certificate chain, for `mtls`. */
  readonly cert?: string | Uint8Array | undefined;
}

export interface SocketHandler {
  onData(chunk: Buffer): void;
  /** All written bytes were taken by the operating system. Only after a `write` that returned false. */
  onWritable(): void;
  /** The peer has ended its stream. */
  onEnd(): void;
  /** Exactly once, as the last event. */
  onClose(error: Error | null): void;
}

/** A byte stream to a peer. Callbacks only, so that a simulator controls the order of events. */
export interface NetSocket {
  /** The peer's address; `unix` for a Unix socket. */
  readonly remote: string;
  readonly channel: ChannelSecurity;
  /** Starts reading. */
  attach(handler: SocketHandler): void;
  /** Queues all pieces, in order. False: write no more before `onWritable`. */
  write(pieces: readonly Buffer[]): boolean;
  /** Bytes written and not yet taken by the operating system: their pieces must not change. */
  readonly heldBytes: number;
  pause(): void;
  resume(): void;
  /** Ends the stream to the peer after the written bytes. */
  end(): void;
  destroy(): void;
}

export interface ListenHandler {
  onListening(address: Address): void;
  /** Called before TLS and any read. 'reject' writes `refusal` to a plain socket first, 'drop' nothing. */
  admit(remote: string): 'accept' | 'reject' | 'drop';
  readonly refusal: Buffer;
  onSocket(socket: NetSocket): void;
  /** The TLS handshake of an accepted socket has failed; `onSocket` does not follow. */
  onTlsFailed(remote: string, error: Error): void;
  onError(error: Error): void;
}

export interface NetServer {
  /** Stops accepting. Accepted sockets stay open. */
  close(done: () => void): void;
  /** Replaces the certificate for handshakes from now on. */
  renew(tls: ListenTls): void;
}

export interface DialHandler {
  onOpen(socket: NetSocket): void;
  onError(error: Error): void;
}

export interface Net {
  listen(
    options: {
      readonly address: Address;
      readonly tls?: ListenTls | undefined;
      readonly tlsHandshakeMs: number;
    },
    handler: ListenHandler,
  ): NetServer;
  /** Exactly one of the handler's callbacks follows, unless cancelled. */
  dial(
    options: { readonly address: Address; readonly tls?: DialTls | undefined; readonly timeoutMs: number },
    handler: DialHandler,
  ): { cancel(): void };
  /** Cryptographically strong random bytes. */
  secureRandom(bytes: number): Uint8Array;
}
