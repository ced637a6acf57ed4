import type { IdentityStore } from '../access/directory.js';
import type { Action } from '../access/identity.js';
import { type Profile, type TransportLimits, transportLimits } from '../access/limits.js';
import { refusalFrame } from '../connection/answer.js';
import type { CloseReason } from '../connection/close-reason.js';
import { Connection } from '../connection/connection.js';
import type { ConnectionHandler } from '../connection/connection-handler.js';
import { ListenError } from '../errors.js';
import { type ListenerAuth, ListenerHandshake } from '../handshake/listener-handshake.js';
import { checkBind, DEFAULT_HOST, formatAddress, isLocal } from '../net/address.js';
import type { Clock } from '../net/clock.js';
import type { Address, ListenHandler, ListenTls, Net, NetServer, NetSocket } from '../net/net.js';
import { Admission } from './admission.js';
import { Gatekeeper } from './frame-permission.js';

export interface ListenerOptions {
  readonly net: Net;
  readonly clock: Clock;
  /** 127.0.0.1 and a free port, unless given. */
  readonly address?: Address;
  /** 'trusted' on loopback and Unix sockets, 'public' elsewhere, unless given. */
  readonly profile?: Profile;
  readonly limits?: Partial<TransportLimits>;
  /** None, unless given. */
  readonly auth?: ListenerAuth;
  readonly tls?: ListenTls;
  /** Serve the minimal dialect: by default only where the profile is trusted and there is no authentication. */
  readonly minimal?: boolean;
  /** Frame types whose subject must be allowed for the identity before the application sees them. */
  readonly actions?: ReadonlyMap<number, Action>;
  /** Bind a public address without TLS or authentication all the same. Warns every minute. */
  readonly insecure?: boolean;
  readonly onListening?: (address: Address) => void;
  /** A peer is through the handshake. The handler returned gets its frames. */
  readonly onConnection: (connection: Connection) => ConnectionHandler;
  readonly onEvent?: (event: ListenerEvent) => void;
}

/** For logs and counters. Nothing in it comes from the peer unescaped. */
export type ListenerEvent =
  | { readonly kind: 'refused'; readonly remote: string; readonly why: 'limits' | 'penalty' }
  | { readonly kind: 'tls-failed'; readonly remote: string; readonly error: Error }
  | {
      readonly kind: 'closed';
      readonly remote: string;
      readonly identityName: string | null;
      readonly reason: CloseReason;
    }
  | { readonly kind: 'insecure'; readonly address: string }
  | { readonly kind: 'failed'; readonly error: Error };

const WARN_EVERY_MS = 60_000;

/** Accepts connections within its limits. Opens at once; throws an UnsafeBindError instead of letting strangers in. */
export class Listener implements ListenHandler {
  readonly limits: TransportLimits;
  readonly #options: ListenerOptions;
  readonly #admission: Admission;
  readonly #gatekeeper: Gatekeeper;
  readonly #minimal: boolean;
  readonly #connections = new Set<Connection>();
  /** Not through the handshake yet. */
  readonly #arriving = new Set<Connection>();
  readonly #server: NetServer;
  #auth: ListenerAuth;
  #address: Address | null = null;
  #grace: { cancel(): void } | null = null;
  #waiting: (() => void)[] = [];
  #warning: { cancel(): void } | null = null;

  constructor(options: ListenerOptions) {
    const { address = { host: DEFAULT_HOST, port: 0 }, auth = { kind: 'none' }, tls } = options;
    const profile = options.profile ?? (isLocal(address) ? 'trusted' : 'public');
    checkBind(address, {
      tls: tls !== undefined,
      auth: auth.kind !== 'none',
      trusted: profile === 'trusted',
      insecure: options.insecure === true,
    });
    if (auth.kind === 'mtls' && tls?.clientCa === undefined) {
      throw new ListenError(formatAddress(address), 'authentication by certificate needs tls.clientCa');
    }
    this.#options = options;
    this.limits = transportLimits(profile, options.limits);
    this.#auth = auth;
    this.#minimal = options.minimal ?? (profile === 'trusted' && auth.kind === 'none');
    this.#admission = new Admission(this.limits);
    this.#gatekeeper = new Gatekeeper(this.limits, options.actions ?? new Map());
    this.#server = options.net.listen({ address, tls, tlsHandshakeMs: this.limits.tlsHandshakeMs }, this);
    if (!isLocal(address) && options.insecure === true) this.#warn(address);
  }

  /** Null until it is bound. */
  get address(): Address | null {
    return this.#address;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** How much of the limits is used. */
  get usage(): { readonly connections: number; readonly unproven: number } {
    return { connections: this.#admission.connections, unproven: this.#admission.unproven };
  }

  /** Takes another identities. Sessions whose key or certificate is no longer in it, or has other rights now, end. */
  renewIdentities(identities: IdentityStore): void {
    if (this.#auth.kind === 'none') return;
    this.#auth = { ...this.#auth, identities };
    for (const connection of this.#connections) {
      const { identity, credential, authMethod: method } = connection.handshake;
      const found =
        method === 'mtls'
          ? identities.byCertificate(credential ?? '')
          : identities.byKeyId(credential ?? '')?.identity;
      if (identity === null || found === undefined || !found.sameAs(identity))
        connection.writeError('AUTH_FAILED');
    }
  }

  renewTls(tls: ListenTls): void {
    this.#server.renew(tls);
  }

  /** Accepts nobody, says Goodbye to everybody, closes whoever is left after `graceMs`, then calls `done`. */
  drain(graceMs: number, done: () => void): void {
    this.#waiting.push(done);
    if (this.#grace === null) {
      this.#warning?.cancel();
      this.#grace = this.#options.clock.setTimer(graceMs, () => this.#closeAll());
      this.#server.close(() => undefined);
      for (const connection of [...this.#arriving]) connection.destroy();
      for (const connection of this.#connections) connection.drain(graceMs);
    }
    this.#doneIfEmpty();
  }

  /** `drain` without the wait. */
  close(done: () => void = () => undefined): void {
    this.drain(0, done);
    this.#closeAll();
  }

  onListening(address: Address): void {
    this.#address = address;
    this.#options.onListening?.(address);
  }

  admit(remote: string): 'accept' | 'reject' | 'drop' {
    const verdict = this.#grace === null ? this.#admission.arrive(remote, this.#options.clock.now()) : 'drop';
    if (verdict !== 'accept') {
      this.#options.onEvent?.({ kind: 'refused', remote, why: verdict === 'reject' ? 'limits' : 'penalty' });
    }
    return verdict;
  }

  readonly refusal: Buffer = refusalFrame('TOO_MANY_CONNECTIONS');

  onTlsFailed(remote: string, error: Error): void {
    this.#admission.left(remote, null);
    this.#options.onEvent?.({ kind: 'tls-failed', remote, error });
    this.#doneIfEmpty();
  }

  onError(error: Error): void {
    this.#options.onEvent?.({ kind: 'failed', error });
  }

  onSocket(socket: NetSocket): void {
    const { clock, net } = this.#options;
    let identityName: string | null = null;
    const handshake = new ListenerHandshake({
      auth: this.#auth,
      limits: this.limits,
      minimal: this.#minimal,
      channel: socket.channel,
      entropy: (bytes) => net.randomBytes(bytes),
      hasRoom: (identity) => this.#admission.hasRoom(identity.name),
      // At the refusal, not when its socket has closed: a guesser may leave that open.
      onFailure: () => this.#admission.failedAuth(socket.remote, clock.now()),
    });
    const connection: Connection = new Connection({
      socket,
      clock,
      limits: this.limits,
      side: 'listener',
      handshake,
      gate: this.#gatekeeper.gateFor(() => connection.handshake.identity),
      onReady: () => {
        identityName = connection.handshake.identityName;
        this.#admission.proven(socket.remote, identityName);
        this.#arriving.delete(connection);
        this.#connections.add(connection);
        return this.#options.onConnection(connection);
      },
      onClosed: (_, reason) => {
        this.#arriving.delete(connection);
        this.#connections.delete(connection);
        this.#admission.left(socket.remote, identityName);
        this.#options.onEvent?.({ kind: 'closed', remote: socket.remote, identityName, reason });
        this.#doneIfEmpty();
      },
    });
    this.#arriving.add(connection);
    connection.begin(null);
  }

  #closeAll(): void {
    for (const connection of this.#connections) connection.close();
  }

  #doneIfEmpty(): void {
    if (this.#grace === null || this.#admission.connections > 0) return;
    this.#grace.cancel();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done();
  }

  #warn(address: Address): void {
    this.#options.onEvent?.({ kind: 'insecure', address: formatAddress(address) });
    this.#warning = this.#options.clock.setTimer(WARN_EVERY_MS, () => this.#warn(address));
  }
}
