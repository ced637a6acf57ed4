import { checkOptions, number, type OptionRule, rule, wholeNumber } from '@troupe/core/option-check';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bounds of a listener or a dialer (docs/wire-protocol.md §9). Reaching one is an error, never growth. */
export interface TransportLimits {
  /** Of each frame before Welcome. */
  readonly handshakePayloadBytesMax: number;
  /** The payload of a frame after Welcome. */
  readonly payloadBytesMax: number;
  /** The payload of a frame in the minimal dialect. */
  readonly minimalPayloadBytesMax: number;
  /** A streamed body. */
  readonly bodyBytesMax: number;
  /** One chunk of a body. */
  readonly chunkBytesMax: number;
  /** The credit of each body at its start. */
  readonly windowBytes: number;
  /** Bodies that one connection receives at once. */
  readonly bodiesMax: number;
  /** A compressed frame or body may declare no more. */
  readonly expandedBytesMax: number;
  /** Bodies in pieces that are put together in memory, of one connection. */
  readonly gatheredBytesMax: number;
  /** The same of all connections of one identity; as much again for bodies that wait for their turn. */
  readonly gatheredBytesPerIdentityMax: number;
  /** From the socket to Welcome. */
  readonly handshakeMs: number;
  /** From the socket to the end of its TLS handshake. */
  readonly tlsHandshakeMs: number;
  /** Sockets before Welcome. */
  readonly unauthenticatedMax: number;
  /** The same from one address; of IPv6 from one /64. */
  readonly unauthenticatedPerAddressMax: number;
  /** Connections after Welcome. */
  readonly connectionsMax: number;
  /** The same of one identity. */
  readonly connectionsPerIdentityMax: number;
  /** Failed proofs of one address before its answers are late. */
  readonly authFailuresPerMinuteMax: number;
  /** Time for which the failures of an address with too many of them are answered late. */
  readonly authPenaltyMs: number;
  /** From the first byte of a frame to its last, for each MiB begun. */
  readonly frameMs: number;
  /** The lowest rate of a frame that has begun. */
  readonly frameBytesPerSecondMin: number;
  /** Silence in either direction before a Ping. */
  readonly pingMs: number;
  /** Silence of the peer before the connection ends. */
  readonly deadMs: number;
  /** Writes above this return 'backpressure'. */
  readonly outboxHighBytes: number;
  /** Frames that wait for the socket; a write beyond it returns 'full'. */
  readonly outboxBytesMax: number;
  /** Time in which a full socket must take bytes again. */
  readonly writeMs: number;
  /** From closing to destroying a socket whose peer does not close. */
  readonly closingMs: number;
  /** Requests of one peer that are not answered. */
  readonly inFlightMax: number;
  /** The payloads of these requests together. */
  readonly inFlightBytesMax: number;
  /** Jobs that one worker may have at once. */
  readonly creditMax: number;
  /** Events about peers that were refused or broke off before they were known. */
  readonly eventsPerSecondMax: number;
  /** Jobs a second that one identity may submit to a leader; `Infinity`: no limit. */
  readonly submitsPerSecond: number;
  /** Jobs at once after a pause; `Infinity`: no limit. */
  readonly submitsBurst: number;
}

export type Profile = 'public' | 'trusted';

const PUBLIC: TransportLimits = Object.freeze({
  handshakePayloadBytesMax: 4 * KIB,
  payloadBytesMax: MIB + 64 * KIB,
  minimalPayloadBytesMax: 256 * MIB,
  bodyBytesMax: 8 * MIB,
  chunkBytesMax: 64 * KIB,
  windowBytes: MIB,
  bodiesMax: 16,
  expandedBytesMax: MIB + 64 * KIB,
  gatheredBytesMax: 16 * MIB,
  gatheredBytesPerIdentityMax: 64 * MIB,
  handshakeMs: 2_000,
  tlsHandshakeMs: 5_000,
  unauthenticatedMax: 256,
  unauthenticatedPerAddressMax: 16,
  connectionsMax: 4_096,
  connectionsPerIdentityMax: 256,
  authFailuresPerMinuteMax: 10,
  authPenaltyMs: 60_000,
  frameMs: 10_000,
  frameBytesPerSecondMin: KIB,
  pingMs: 10_000,
  deadMs: 30_000,
  outboxHighBytes: MIB,
  outboxBytesMax: 8 * MIB,
  writeMs: 10_000,
  closingMs: 1_000,
  inFlightMax: 1_024,
  inFlightBytesMax: 8 * MIB,
  creditMax: 1_024,
  eventsPerSecondMax: 20,
  submitsPerSecond: 10_000,
  submitsBurst: 20_000,
});

const TRUSTED: TransportLimits = Object.freeze({
  ...PUBLIC,
  bodyBytesMax: 256 * MIB,
  chunkBytesMax: 256 * KIB,
  windowBytes: 4 * MIB,
  bodiesMax: 64,
  gatheredBytesMax: 64 * MIB,
  gatheredBytesPerIdentityMax: 256 * MIB,
  unauthenticatedMax: 1_024,
  unauthenticatedPerAddressMax: 1_024,
  connectionsPerIdentityMax: 4_096,
  inFlightMax: 16_384,
  inFlightBytesMax: 256 * MIB,
  creditMax: 16_384,
  submitsPerSecond: Number.POSITIVE_INFINITY,
  submitsBurst: Number.POSITIVE_INFINITY,
});

const count = wholeNumber(1);
const bytes = wholeNumber(1);
const ms = number(1, 2 ** 31 - 1);
const rate = rule('a number above 0, or Infinity', (value) => typeof value === 'number' && value > 0);

const RULES = {
  handshakePayloadBytesMax: bytes,
  payloadBytesMax: bytes,
  minimalPayloadBytesMax: bytes,
  bodyBytesMax: bytes,
  chunkBytesMax: bytes,
  windowBytes: bytes,
  bodiesMax: count,
  expandedBytesMax: bytes,
  gatheredBytesMax: bytes,
  gatheredBytesPerIdentityMax: bytes,
  handshakeMs: ms,
  tlsHandshakeMs: ms,
  unauthenticatedMax: count,
  unauthenticatedPerAddressMax: count,
  connectionsMax: count,
  connectionsPerIdentityMax: count,
  authFailuresPerMinuteMax: count,
  authPenaltyMs: ms,
  frameMs: ms,
  frameBytesPerSecondMin: wholeNumber(0),
  pingMs: ms,
  deadMs: ms,
  outboxHighBytes: bytes,
  outboxBytesMax: bytes,
  writeMs: ms,
  closingMs: ms,
  inFlightMax: count,
  inFlightBytesMax: bytes,
  creditMax: count,
  eventsPerSecondMax: count,
  submitsPerSecond: rate,
  submitsBurst: rate,
} satisfies Record<keyof TransportLimits, OptionRule>;

/**
 * The limits of a profile, with some of them changed; `option` is their name in errors. An unknown one is
 * refused: a misspelt limit must not become no limit.
 */
export function transportLimits(
  profile: Profile,
  changes: Partial<TransportLimits> = {},
  option = 'limits',
): TransportLimits {
  checkOptions(option, changes, RULES);
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...(profile === 'public' ? PUBLIC : TRUSTED), ...Object.fromEntries(given) };
}
