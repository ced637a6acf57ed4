import type { Host, Middleware } from '@troupe/core';
import { anything, callback, number, type OptionRule, object, oneOf, rule } from '@troupe/core/option-check';
import {
  type Address,
  type CloseReason,
  type Compression,
  type DialerAuth,
  type DialerEvent,
  type DialTls,
  formatAddresses,
  formatCloseReason,
  type Net,
  type RedialBackoff,
  type TransportLimits,
} from '@troupe/transport';
import { LeaderRefusedError, LeaderUnreachableError } from '../jobs-error.js';

/** The way of a client or a worker to its leader. */
export interface DialOptions {
  /** Of the leader: host and port, or the path of a Unix socket. Of several one leads: all are tried. */
  readonly address: Address | readonly Address[];
  /** The proof of identity: a key, or with `mtls` the certificate in `tls`. */
  readonly auth?: DialerAuth | undefined;
  /** Needed where the leader listens with TLS. */
  readonly tls?: DialTls | undefined;
  /** Compresses a message where that makes it smaller. */
  readonly compress?: Compression | undefined;
  /** Time for the first session. After it the connection is kept up for good. Default 10,000. */
  readonly withinMs?: number | undefined;
  /** Delays between dial attempts. Default from 50 ms to 2 s, ± 20 %. */
  readonly backoff?: Partial<RedialBackoff> | undefined;
  /** Limits for frames of the leader. */
  readonly transportLimits?: Partial<TransportLimits> | undefined;
  /** Receives events of the connection. */
  readonly onEvent?: ((event: DialerEvent) => void) | undefined;
  /** Of its actor system: telemetry, logging. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Clock, chance and log. Default: this Node process. */
  readonly host?: Host | undefined;
  /** Sockets. Default: those of Node. */
  readonly net?: Net | undefined;
}

export const DIAL_CHECKS = {
  address: rule('an address, or an array of them', isAddress),
  auth: object,
  tls: object,
  compress: oneOf(['gzip', 'brotli']),
  withinMs: number(1, 3_600_000),
  backoff: object,
  transportLimits: object,
  onEvent: callback,
  // The system checks it.
  middleware: anything,
  host: object,
  net: object,
} satisfies Readonly<Record<keyof DialOptions, OptionRule>>;

function isAddress(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === 'object' && value !== null;
}

/** A restarted leader is back within a second or two, so the first waits are short. */
export const RECONNECT: Partial<RedialBackoff> = { fromMs: 50, toMs: 2_000, jitter: 0.2, stableMs: 2_000 };

/** A connection that is dead without a word is noticed within 10 s. */
export const NOTICED_SILENCE: Partial<TransportLimits> = { pingMs: 3_000, deadMs: 9_000 };

/** After these answers another attempt would end the same way. */
const HOPELESS: ReadonlySet<string> = new Set(['AUTH_FAILED', 'VERSION', 'FORBIDDEN', 'PROTOCOL']);

export function hopeless(
  address: DialOptions['address'],
  reason: CloseReason,
): LeaderRefusedError | undefined {
  if (reason.kind !== 'peer-error' || !HOPELESS.has(reason.error.name)) return undefined;
  return new LeaderRefusedError(formatAddresses(address), reason.error.name, reason.error.message);
}

export function unreachable(
  address: DialOptions['address'],
  withinMs: number,
  last: DialerEvent | undefined,
): LeaderUnreachableError {
  const where = formatAddresses(address);
  const why =
    last?.kind === 'unreachable'
      ? last.error.message
      : last?.kind === 'lost'
        ? formatCloseReason(last.reason)
        : 'no answer';
  return new LeaderUnreachableError(where, `no session within ${withinMs} ms (${why})`);
}
