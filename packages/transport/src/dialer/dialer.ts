import { checkOption, number } from '@troupe/core/option-check';
import type { Role } from '../access/identity.js';
import { type Profile, type TransportLimits, transportLimits } from '../access/transport-limits.js';
import type { CloseReason } from '../connection/close-reason.js';
import { Connection } from '../connection/connection.js';
import type { ConnectionHandler } from '../connection/connection-handler.js';
import { otherAddressOf } from '../connection/wire-error.js';
import { type DialerAuth, DialerHandshake } from '../handshake/dialer-handshake.js';
import type { Clock } from '../net/clock.js';
import type { Address, DialTls, Net, NetSocket } from '../net/net-interface.js';
import { type RedialBackoff, redialBackoff, redialDelayMs } from './redial-backoff.js';

export interface DialerOptions {
  /** Sockets: `nodeNet`, or the fake of a test. */
  readonly net: Net;
  /** Time and chance: `nodeClock`, or the host of a system. */
  readonly clock: Clock;
  /**
   * Host and port, or the path of a Unix socket. Of several the next is dialed after a failure or a loss; a
   * standby may name another one, which is dialed once.
   */
  readonly address: Address | readonly Address[];
  /** The role in its Hello; the identity must be allowed to take it. */
  readonly role: Role;
  /** Client or worker id. Default: chosen by the listener. */
  readonly name?: string | undefined;
  /** The proof of identity. Default: none. */
  readonly auth?: DialerAuth | undefined;
  /** Needed where the listener has TLS. */
  readonly tls?: DialTls | undefined;
  /** Limits for frames of the listener. Default `trusted`. */
  readonly profile?: Profile | undefined;
  /** In place of those of the profile. */
  readonly limits?: Partial<TransportLimits> | undefined;
  /** Delays between dial attempts. */
  readonly backoff?: Partial<RedialBackoff> | undefined;
  /** Time for one dial attempt. Default 5,000. */
  readonly connectMs?: number | undefined;
  /** Called after each handshake. The returned handler gets the frames. */
  readonly onConnection: (connection: Connection) => ConnectionHandler;
  /** Receives events, for logs and metrics. */
  readonly onEvent?: ((event: DialerEvent) => void) | undefined;
}

export type DialerEvent =
  /** An attempt begins; with several addresses `attempt` counts rounds. */
  | { readonly kind: 'dialing'; readonly attempt: number; readonly address: Address }
  /** An attempt failed; the next comes after `retryInMs`. */
  | { readonly kind: 'unreachable'; readonly error: Error; readonly retryInMs: number }
  /** A connection has ended; the next attempt comes after `retryInMs`. */
  | { readonly kind: 'lost'; readonly reason: CloseReason; readonly retryInMs: number };

const CONNECT_MS = 5_000;

/** Keeps one connection to an address or to one of several: dials, redials after a loss, until closed. */
export class Dialer {
  private readonly options: DialerOptions;
  private readonly limits: TransportLimits;
  private readonly backoff: RedialBackoff;
  private dialed: Connection | null = null;
  private dialing: { cancel(): void } | null = null;
  private timer: { cancel(): void } | null = null;
  private readonly addresses: readonly Address[];
  /** The one that is dialed next. */
  private at = 0;
  /** An address that a standby has named, in place of the next. */
  private named: Address | undefined = undefined;
  private isNamed = false;
  private failures = 0;
  private readyAt = Number.POSITIVE_INFINITY;
  private closed = false;

  constructor(options: DialerOptions) {
    this.options = options;
    this.addresses = addressesOf(options.address);
    checkOption('address', this.addresses.length, number(1));
    this.limits = transportLimits(options.profile ?? 'trusted', options.limits);
    this.backoff = redialBackoff(options.backoff);
    checkOption('connectMs', options.connectMs ?? CONNECT_MS, number(1, 2 ** 31 - 1));
    this.dial();
  }

  /** The connection while it is ready, else null. */
  get connection(): Connection | null {
    return this.dialed?.state === 'ready' || this.dialed?.state === 'draining' ? this.dialed : null;
  }

  /** Stops dialing; closes the connection after its outbox is written. */
  close(): void {
    this.closed = true;
    this.dialing?.cancel();
    this.timer?.cancel();
    this.dialed?.close();
  }

  private dial(): void {
    const { net, tls, connectMs = CONNECT_MS } = this.options;
    const address = this.named ?? (this.addresses[this.at] as Address); // `at` is below the length
    this.isNamed = this.named !== undefined;
    this.named = undefined;
    this.timer = null;
    this.options.onEvent?.({ kind: 'dialing', attempt: this.failures + 1, address });
    this.dialing = net.dial(
      { address, tls, timeoutMs: connectMs },
      {
        onOpen: (socket) => this.onOpen(socket),
        onError: (error) => {
          this.dialing = null;
          const retryInMs = this.scheduleRedial(0);
          this.options.onEvent?.({ kind: 'unreachable', error, retryInMs });
        },
      },
    );
  }

  private onOpen(socket: NetSocket): void {
    const { net, clock, role, name = '', auth = { kind: 'none' } } = this.options;
    this.dialing = null;
    const handshake = new DialerHandshake({
      role,
      name,
      auth,
      limits: this.limits,
      channel: socket.channel,
      secureRandom: (bytes) => net.secureRandom(bytes),
    });
    this.dialed = new Connection({
      socket,
      clock,
      limits: this.limits,
      side: 'dialer',
      handshake,
      onReady: (connection) => {
        this.readyAt = clock.now();
        return this.options.onConnection(connection);
      },
      onClosed: (connection, reason) => this.onClosed(connection, reason),
    });
    this.dialed.begin({ type: handshake.helloType, payload: handshake.hello });
  }

  private onClosed({ isPeerDraining }: Connection, reason: CloseReason): void {
    this.dialed = null;
    if (this.options.clock.now() - this.readyAt >= this.backoff.stableMs) this.failures = 0;
    this.readyAt = Number.POSITIVE_INFINITY;
    // An end in order is no failure, also of a young connection: leaders that hand over follow each other.
    if (isPeerDraining) this.failures = 0;
    // While a standby answers, the next leader is near: the delays stay short.
    if (reason.kind === 'peer-error' && reason.error.name === 'NOT_LEADER') this.failures = 0;
    // One that is named by a named one is not followed: two standbys may name each other.
    if (reason.kind === 'peer-error' && !this.isNamed) this.named = otherAddressOf(reason.error);
    const delayMsMin = reason.kind === 'peer-error' ? reason.error.retryAfterMs : 0;
    const isHandedOver = isPeerDraining && this.addresses.length > 1;
    const retryInMs = isHandedOver ? this.redialAtOnce() : this.scheduleRedial(delayMsMin);
    this.options.onEvent?.({ kind: 'lost', reason, retryInMs });
  }

  /** Another listener goes on, or is about to: where this one was named, the one that has named it. */
  private redialAtOnce(): number {
    if (!this.isNamed) this.at = (this.at + 1) % this.addresses.length;
    return this.redialIn(0);
  }

  private redialIn(ms: number): number {
    if (!this.closed) this.timer = this.options.clock.setTimer(ms, () => this.dial());
    return ms;
  }

  /** The listener's delay is a minimum, with jitter upwards only: all of its peers got the same number. */
  private scheduleRedial(delayMsMin: number): number {
    if (this.closed) return 0;
    if (this.named !== undefined) return this.redialIn(0);
    const { clock } = this.options;
    this.at = (this.at + 1) % this.addresses.length;
    // The delays grow by rounds: a standby that does not listen must not delay the next address.
    if (this.at === 0) this.failures += 1;
    const backoffMs = redialDelayMs(this.backoff, this.at === 0 ? this.failures : 1, clock.random());
    return this.redialIn(Math.max(backoffMs, delayMsMin * (1 + this.backoff.jitter * clock.random())));
  }
}

function addressesOf(address: Address | readonly Address[]): readonly Address[] {
  return Array.isArray(address) ? (address as readonly Address[]) : [address as Address];
}
