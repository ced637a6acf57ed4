import type { IdentityStore } from '../access/identity-store.js';
import { type Profile, type TransportLimits, transportLimits } from '../access/transport-limits.js';
import type { CloseReason } from '../connection/close-reason.js';
import { Connection } from '../connection/connection.js';
import type { ConnectionHandler } from '../connection/connection-handler.js';
import { refusalFrame } from '../connection/wire-error.js';
import { type ListenerAuth, ListenerHandshake } from '../handshake/listener-handshake.js';
import { checkBind, DEFAULT_HOST, formatAddress, isLocal } from '../net/address.js';
import type { Clock } from '../net/clock.js';
import type { Address, ListenHandler, ListenTls, Net, NetServer, NetSocket } from '../net/net-interface.js';
import { ListenError } from '../transport-error.js';
import { ConnectionAdmission } from './connection-admission.js';
import { EventLimit } from './event-limit.js';

export interface ListenerOptions {
  /** Sockets: `nodeNet`, or the fake of a test. */
  readonly net: Net;
  /** Time and chance: `nodeClock`, or the host of a system. */
  readonly clock: Clock;
  /** Where it listens. Default: 127.0.0.1 and a free port. */
  readonly address?: Address | undefined;
  /** Chooses the limits. Default: `trusted` on loopback and Unix sockets, `public` elsewhere. */
  readonly profile?: Profile | undefined;
  /** In place of those of the profile. */
  readonly limits?: Partial<TransportLimits> | undefined;
  /** How peers prove their identity. Default: not at all. */
  readonly auth?: ListenerAuth | undefined;
  /** Key and certificate. Default: no TLS. */
  readonly tls?: ListenTls | undefined;
  /**
   * Whether the minimal dialect is served. Default: where the profile is trusted and there is no
   * authentication.
   */
  readonly servesMinimal?: boolean | undefined;
  /** Allows a public address without TLS or authentication, with a warning every minute. Default false. */
  readonly insecure?: boolean | undefined;
  /** The address is bound. */
  readonly onListening?: ((address: Address) => void) | undefined;
  /** The handshake of a peer is done. The returned handler gets its frames. */
  readonly onConnection: (connection: Connection) => ConnectionHandler;
  /** Receives events, for logs and metrics. */
  readonly onEvent?: ((event: ListenerEvent) => void) | undefined;
}

/** For logs and metrics. Texts of a peer are escaped. */
export type ListenerEvent =
  /** A socket was refused before its handshake. */
  | { readonly kind: 'refused'; readonly remote: string; readonly cause: 'limits' | 'draining' }
  /** A TLS handshake failed. */
  | { readonly kind: 'tls-failed'; readonly remote: string; readonly error: Error }
  /** A connection has ended; `identityName` is null before its handshake. */
  | {
      readonly kind: 'closed';
      readonly remote: string;
      readonly identityName: string | null;
      readonly reason: CloseReason;
    }
  /** So many events about refused or broken peers were left out: more came than `eventsPerSecondMax`. */
  | { readonly kind: 'events-left-out'; readonly count: number }
  /** A reminder every minute: the address is public and unprotected. */
  | { readonly kind: 'insecure'; readonly address: string }
  /** The address cannot be bound, or the server socket failed. */
  | { readonly kind: 'failed'; readonly error: Error };

/** The part of its limits that a listener uses. */
export interface ListenerUsage {
  readonly connections: number;
  readonly unauthenticated: number;
  /** Memory of bodies in pieces. */
  readonly gatheredBytes: number;
}

const WARN_EVERY_MS = 60_000;

/** Accepts connections within its limits. Throws an UnsafeBindError for an unprotected public address. */
export class Listener implements ListenHandler {
  /** Its limits, those of the profile included. */
  readonly limits: TransportLimits;
  private readonly options: ListenerOptions;
  private readonly admission: ConnectionAdmission;
  private readonly eventLimit: EventLimit;
  private readonly servesMinimal: boolean;
  private readonly ready = new Set<Connection>();
  private readonly inHandshake = new Set<Connection>();
  private readonly server: NetServer;
  private auth: ListenerAuth;
  private bound: Address | null = null;
  private drainTimer: { cancel(): void } | null = null;
  private drainCallbacks: (() => void)[] = [];
  private warningTimer: { cancel(): void } | null = null;

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
    this.options = options;
    this.limits = transportLimits(profile, options.limits);
    this.auth = auth;
    this.servesMinimal = options.servesMinimal ?? (profile === 'trusted' && auth.kind === 'none');
    this.admission = new ConnectionAdmission(this.limits);
    this.eventLimit = new EventLimit(this.limits.eventsPerSecondMax);
    this.server = options.net.listen({ address, tls, tlsHandshakeMs: this.limits.tlsHandshakeMs }, this);
    if (!isLocal(address) && options.insecure === true) this.warnInsecure(address);
  }

  /** Null until the address is bound. */
  get address(): Address | null {
    return this.bound;
  }

  /** Connections after their handshake. */
  get connections(): number {
    return this.ready.size;
  }

  /** The part of the limits in use. */
  get usage(): ListenerUsage {
    const { connections, unauthenticated, gatheredBytes } = this.admission;
    return { connections, unauthenticated, gatheredBytes };
  }

  /** Ends the connections whose key or certificate is no longer in the store, or has other rights now. */
  renewIdentities(identities: IdentityStore): void {
    if (this.auth.kind === 'none') return;
    this.auth = { ...this.auth, identities };
    for (const connection of this.ready) {
      const { identity, credential, authMethod: method } = connection.handshake;
      const found =
        method === 'mtls'
          ? identities.byCertificate(credential ?? '')
          : identities.byKeyId(credential ?? '')?.identity;
      if (identity === null || found === undefined || !found.hasSameRules(identity))
        connection.writeError('AUTH_FAILED');
    }
  }

  /** Key and certificate for new connections. */
  renewTls(tls: ListenTls): void {
    this.server.renew(tls);
  }

  /**
   * Stops accepting, drains all connections, closes the remaining ones after `graceMs`, then calls `done`.
   */
  drain(graceMs: number, done: () => void): void {
    this.drainCallbacks.push(done);
    if (this.drainTimer === null) {
      this.warningTimer?.cancel();
      this.drainTimer = this.options.clock.setTimer(graceMs, () => this.closeAll());
      this.server.close(() => undefined);
      for (const connection of [...this.inHandshake]) connection.destroy();
      for (const connection of this.ready) connection.drain(graceMs);
    }
    this.finishDrain();
  }

  /** `drain` without a grace period. */
  close(done: () => void = () => undefined): void {
    this.drain(0, done);
    this.closeAll();
  }

  onListening(address: Address): void {
    this.bound = address;
    this.options.onListening?.(address);
  }

  admit(remote: string): 'accept' | 'reject' | 'drop' {
    const verdict = this.drainTimer === null ? this.admission.accept(remote) : 'drop';
    if (verdict !== 'accept') {
      this.reportPeer({ kind: 'refused', remote, cause: verdict === 'reject' ? 'limits' : 'draining' });
    }
    return verdict;
  }

  readonly refusal: Buffer = refusalFrame('TOO_MANY_CONNECTIONS');

  onTlsFailed(remote: string, error: Error): void {
    this.admission.closed(remote, null);
    this.reportPeer({ kind: 'tls-failed', remote, error });
    this.finishDrain();
  }

  onError(error: Error): void {
    this.options.onEvent?.({ kind: 'failed', error });
  }

  onSocket(socket: NetSocket): void {
    const { clock, net } = this.options;
    let identityName: string | null = null;
    const handshake = new ListenerHandshake({
      auth: this.auth,
      limits: this.limits,
      servesMinimal: this.servesMinimal,
      channel: socket.channel,
      secureRandom: (bytes) => net.secureRandom(bytes),
      hasRoom: (identity) => this.admission.hasRoom(identity.name),
      // Counted at the refusal, not when the socket has closed: an attacker may leave it open.
      onFailure: () => this.admission.authFailed(socket.remote, clock.now()),
    });
    const connection: Connection = new Connection({
      socket,
      clock,
      limits: this.limits,
      side: 'listener',
      handshake,
      bodyBudgetOf: ({ identityName: name }) => this.admission.bodyBudgetOf(name),
      onReady: () => {
        identityName = connection.handshake.identityName;
        this.admission.authenticated(socket.remote, identityName);
        this.inHandshake.delete(connection);
        this.ready.add(connection);
        return this.options.onConnection(connection);
      },
      onClosed: (_, reason) => {
        this.inHandshake.delete(connection);
        this.ready.delete(connection);
        this.admission.closed(socket.remote, identityName);
        const event = { kind: 'closed', remote: socket.remote, identityName, reason } as const;
        // A peer that was known and left is no flood.
        if (identityName !== null && reason.kind !== 'refused') this.options.onEvent?.(event);
        else this.reportPeer(event);
        this.finishDrain();
      },
    });
    this.inHandshake.add(connection);
    connection.begin(null);
  }

  /** Events that a hostile peer can cause at will are bounded. */
  private reportPeer(event: ListenerEvent): void {
    const { onEvent, clock } = this.options;
    if (onEvent === undefined) return;
    const onLeftOut = (count: number): void => onEvent({ kind: 'events-left-out', count });
    if (this.eventLimit.admits(clock.now(), onLeftOut)) onEvent(event);
  }

  private closeAll(): void {
    for (const connection of this.ready) connection.close();
  }

  private finishDrain(): void {
    if (this.drainTimer === null || this.admission.connections > 0) return;
    this.drainTimer.cancel();
    const waiting = this.drainCallbacks;
    this.drainCallbacks = [];
    for (const done of waiting) done();
  }

  private warnInsecure(address: Address): void {
    this.options.onEvent?.({ kind: 'insecure', address: formatAddress(address) });
    this.warningTimer = this.options.clock.setTimer(WARN_EVERY_MS, () => this.warnInsecure(address));
  }
}
