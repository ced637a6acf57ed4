import type { Host, Middleware } from '@troupe/core';
import { anything, callback, number, type OptionRule, object, oneOf } from '@troupe/core/option-check';
import {
  type Address,
  type CloseReason,
  type Compression,
  type DialerAuth,
  type DialerEvent,
  type DialTls,
  formatAddress,
  formatCloseReason,
  type Net,
  type RedialBackoff,
  type TransportLimits,
} from '@troupe/transport';
import { LeaderRefusedError, LeaderUnreachableError } from '../jobs-error.js';

/** The way of a client or a worker to its leader. */
export interface DialOptions {
  readonly address: Address;
  readonly auth?: DialerAuth | undefined;
  readonly tls?: DialTls | undefined;
  /** Compresses a message where that makes it smaller. */
  readonly compress?: Compression | undefined;
  /** Time for the first session; 10 s. After it the connection is kept up for good. */
  readonly withinMs?: number | undefined;
  readonly backoff?: Partial<RedialBackoff> | undefined;
  readonly transportLimits?: Partial<TransportLimits> | undefined;
  readonly onEvent?: ((event: DialerEvent) => void) | undefined;
  /** Of its actor system: telemetry, logging. */
  readonly middleware?: readonly Middleware[] | undefined;
  readonly host?: Host | undefined;
  readonly net?: Net | undefined;
}

export const DIAL_CHECKS = {
  address: object,
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

/** A restarted leader is back within a second or two, so the first waits are short. */
export const RECONNECT: Partial<RedialBackoff> = { fromMs: 50, toMs: 2_000, jitter: 0.2, stableMs: 2_000 };

/** A connection that is dead without a word is noticed within 10 s. */
export const NOTICED_SILENCE: Partial<TransportLimits> = { pingMs: 3_000, deadMs: 9_000 };

/** After these answers another attempt would end the same way. */
const HOPELESS: ReadonlySet<string> = new Set(['AUTH_FAILED', 'VERSION', 'FORBIDDEN', 'PROTOCOL']);

export function hopeless(address: Address, reason: CloseReason): LeaderRefusedError | undefined {
  if (reason.kind !== 'peer-error' || !HOPELESS.has(reason.error.name)) return undefined;
  return new LeaderRefusedError(formatAddress(address), reason.error.name, reason.error.message);
}

export function unreachable(
  address: Address,
  withinMs: number,
  last: DialerEvent | undefined,
): LeaderUnreachableError {
  const where = formatAddress(address);
  const why =
    last?.kind === 'unreachable'
      ? last.error.message
      : last?.kind === 'lost'
        ? formatCloseReason(last.reason)
        : 'no answer';
  return new LeaderUnreachableError(where, `no session within ${withinMs} ms (${why})`);
}
