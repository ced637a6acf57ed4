import type { Host } from '@troupe/core';
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
import { anObject, type Check, isFunction, numberWithin, oneOf } from '../option-check.js';
import { LeaderRefusedError, LeaderUnreachableError } from '../wire/remote-error.js';

/** How a client or a worker reaches its leader. */
export interface DialOptions {
  readonly address: Address;
  readonly auth?: DialerAuth;
  readonly tls?: DialTls;
  /** Compress what is sent where that makes it smaller. */
  readonly compress?: Compression;
  /** How long the first session may take to come about; 10 s. After it, the link is kept up for good. */
  readonly withinMs?: number;
  readonly backoff?: Partial<RedialBackoff>;
  readonly transportLimits?: Partial<TransportLimits>;
  readonly onEvent?: (event: DialerEvent) => void;
  readonly host?: Host;
  readonly net?: Net;
}

export const DIAL_CHECKS = {
  address: anObject,
  auth: anObject,
  tls: anObject,
  compress: oneOf('gzip', 'brotli'),
  withinMs: numberWithin(1, 3_600_000),
  backoff: anObject,
  transportLimits: anObject,
  onEvent: isFunction,
  host: anObject,
  net: anObject,
} satisfies Readonly<Record<keyof DialOptions, Check>>;

/** A leader that restarts is back within a second or two: the first waits are short. */
export const RECONNECT: Partial<RedialBackoff> = { fromMs: 50, toMs: 2_000, jitter: 0.2, stableMs: 2_000 };

/** Answers after which another attempt would end the same way. */
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
