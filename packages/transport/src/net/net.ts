import type { ChannelSecurity } from '../handshake/listener-handshake.js';

export type Address = { readonly host?: string; readonly port: number } | { readonly path: string };

/** Files are read by whoever builds this; here are only their contents. */
export interface ListenTls {
  readonly key: string | Uint8Array;
  readonly cert: string | Uint8Array;
  /** With it, a dialer must show a certificate signed by this authority. */
  readonly clientCa?: string | Uint8Array;
}

export interface DialTls {
  /** The authority the listener's certificate must come from; the system's unless given. */
  readonly ca?: string | Uint8Array;
  /** The name in the listener's certificate, where it is not the host dialled. */
  readonly serverName?: string;
  readonly key?: string | Uint8Array;
  readonly cert?: string | Uint8Array;
}

export interface SocketHandler {
  onData(chunk: Buffer): void;
  /** Everything written has left for the operating system. Only after a `write` that returned false. */
  onWritable(): void;
  /** The peer will send nothing more. */
  onEnd(): void;
  /** Exactly once, last. */
  onClose(error: Error | null): void;
}

/** A byte stream to a peer. Callbacks only, so that a simulator decides when each of them happens. */
export interface NetSocket {
  /** The peer's address as limits count it; `unix` for a Unix socket. */
  readonly remote: string;
  readonly channel: ChannelSecurity;
  /** Bytes begin to flow once a handler is attached. */
  attach(handler: SocketHandler): void;
  /** Takes all pieces, in order. False: write no more before `onDrain`. */
  write(pieces: readonly Buffer[]): boolean;
  /** Written, and not yet taken by the operating system: those pieces must not change. */
  readonly heldBytes: number;
  pause(): void;
  resume(): void;
  /** Sends what is written, then tells the peer that there is no more. */
  end(): void;
  destroy(): void;
}

export interface ListenHandler {
  onListening(address: Address): void;
  /** Before TLS and before anything is read. 'refuse' tells a plain socket `refusal` first, 'drop' says nothing. */
  admit(remote: string): 'accept' | 'reject' | 'drop';
  readonly refusal: Buffer;
  onSocket(socket: NetSocket): void;
  /** A socket that `admits` served and that never became one for `onSocket` (its TLS handshake failed). */
  onTlsFailed(remote: string, error: Error): void;
  onError(error: Error): void;
}

export interface NetServer {
  /** Accepts nobody any more. Sockets already accepted live on. */
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
  /** Bytes nobody can guess. */
  randomBytes(bytes: number): Uint8Array;
}
