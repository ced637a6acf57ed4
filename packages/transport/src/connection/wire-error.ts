import { FrameType } from '../frame/frame-type.js';
import { parseAddress } from '../net/address.js';
import type { Address } from '../net/net-interface.js';

/** A row of the error table in docs/wire-protocol.md §7. Texts are constants, never input of the peer. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly endsConnection: boolean;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
  /** More than this many within a minute end the connection; 0: no limit. */
  readonly perMinuteMax: number;
}

export type WireErrorName = keyof typeof WIRE_ERRORS;

export const WIRE_ERRORS = {
  PROTOCOL: closing(1001, 'handshake expected'),
  AUTH_FAILED: closing(1002, 'authentication failed'),
  AUTH_TIMEOUT: closing(1003, 'handshake timed out'),
  VERSION: closing(1004, 'supported: 1'),
  TOO_MANY_CONNECTIONS: { ...closing(1005, 'too many connections'), retryable: true, retryAfterMs: 5_000 },
  NOT_LEADER: { ...closing(1006, 'not the leader'), retryable: true },
  FRAME: closing(1010, 'frame refused'),
  UNKNOWN_TYPE: nonClosing(1011, 'unknown frame type', 10),
  MALFORMED: nonClosing(1012, 'malformed', 10),
  SLOW_FRAME: closing(1013, 'frame not completed in time'),
  STALE: closing(1014, 'heartbeat missed'),
  FORBIDDEN: nonClosing(1102, 'not allowed', 100),
  PAYLOAD_TOO_LARGE: nonClosing(1103, 'payload too large'),
  IDEMPOTENCY_CONFLICT: nonClosing(1104, 'same key, other payload'),
  QUEUE_FULL: retryable(1110, 'queue full'),
  QUOTA: retryable(1111, 'over quota'),
  DEDUPE_FULL: retryable(1112, 'dedupe table full'),
  BUSY: retryable(1113, 'busy'),
  DISK_LOW: retryable(1114, 'disk low'),
  DISK_SLOW: retryable(1115, 'disk slow'),
  DRAINING: retryable(1116, 'draining'),
  STALE_LEASE: nonClosing(1201, 'lease is stale'),
  ALREADY_DONE: nonClosing(1202, 'already done'),
  CREDIT: nonClosing(1203, 'more than was granted', 10),
  RESULT_TOO_LARGE: nonClosing(1204, 'result too large'),
} as const satisfies Record<string, WireError>;

/** A received Error frame. `endsConnection`: the sender closes after it. */
export interface PeerError {
  readonly code: number;
  readonly name: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly endsConnection: boolean;
  readonly retryAfterMs: number;
  /** The msgId of the frame it answers, or empty. */
  readonly corrId: string;
}

export interface WireErrorDetail {
  readonly corrId?: string | undefined;
  /** The field at fault: a constant, never input of the peer. */
  readonly field?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Of NOT_LEADER: where the leader listens. */
  readonly otherAddress?: string | undefined;
  /** Set where too many errors of a kind that does not close end the connection. */
  readonly endsConnection?: boolean | undefined;
}

const MESSAGE_BYTES_MAX = 256;

export function encodeWireError(name: WireErrorName, detail: WireErrorDetail = {}): Buffer {
  const error: WireError = WIRE_ERRORS[name];
  const corrId = detail.corrId ?? '';
  const message = messageOf(error, detail).slice(0, MESSAGE_BYTES_MAX);
  const payload = Buffer.alloc(11 + corrId.length + name.length + message.length);
  payload.writeUInt16LE(error.code, 0);
  payload[2] = (error.retryable ? 1 : 0) | (error.endsConnection || detail.endsConnection === true ? 2 : 0);
  payload.writeUInt32LE(detail.retryAfterMs ?? error.retryAfterMs, 3);
  let at = writeText(payload, 7, corrId);
  at = writeText(payload, at, name);
  payload.writeUInt16LE(message.length, at);
  payload.write(message, at + 2, 'latin1');
  return payload;
}

function messageOf({ message }: WireError, { field, otherAddress }: WireErrorDetail): string {
  if (field !== undefined) return `field ${field}`;
  return otherAddress === undefined ? message : `${message}, try ${otherAddress}`;
}

/** The address that NOT_LEADER names. */
export function otherAddressOf({ name, message }: PeerError): Address | undefined {
  const text = name === 'NOT_LEADER' ? / try (\S+)$/.exec(message)?.[1] : undefined;
  return text === undefined ? undefined : parseAddress(text);
}

/** Null where the payload is not that of an Error frame. */
export function decodeWireError(payload: Buffer): PeerError | null {
  if (payload.length < 11) return null;
  const idEnd = 8 + (payload[7] as number); // eleven bytes are there
  if (idEnd - 8 > 64 || idEnd + 3 > payload.length) return null;
  const nameEnd = idEnd + 1 + (payload[idEnd] as number); // checked on the line above
  if (nameEnd + 2 > payload.length) return null;
  const messageBytes = payload.readUInt16LE(nameEnd);
  if (messageBytes > MESSAGE_BYTES_MAX || nameEnd + 2 + messageBytes !== payload.length) return null;
  const flags = payload[2] as number;
  return {
    code: payload.readUInt16LE(0),
    name: printable(payload.subarray(idEnd + 1, nameEnd)),
    message: printable(payload.subarray(nameEnd + 2)),
    retryable: (flags & 1) !== 0,
    endsConnection: (flags & 2) !== 0,
    retryAfterMs: payload.readUInt32LE(3),
    corrId: printable(payload.subarray(8, idEnd)),
  };
}

/** A whole Error frame, for a socket that is refused before any handshake. */
export function refusalFrame(name: WireErrorName): Buffer {
  const payload = encodeWireError(name);
  const frame = Buffer.alloc(9 + payload.length);
  frame.writeUInt32LE(5 + payload.length, 0);
  frame[4] = FrameType.Error;
  frame.writeUInt32LE(payload.length, 5);
  payload.copy(frame, 9);
  return frame;
}

// Texts of a peer go to logs, control characters must not.
function printable(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '?');
}

function writeText(out: Buffer, at: number, text: string): number {
  out[at] = text.length;
  return at + 1 + out.write(text, at + 1, 'latin1');
}

function closing(code: number, message: string): WireError {
  return { code, message, endsConnection: true, retryable: false, retryAfterMs: 0, perMinuteMax: 0 };
}

function nonClosing(code: number, message: string, perMinuteMax = 0): WireError {
  return { code, message, endsConnection: false, retryable: false, retryAfterMs: 0, perMinuteMax };
}

function retryable(code: number, message: string): WireError {
  return { code, message, endsConnection: false, retryable: true, retryAfterMs: 1_000, perMinuteMax: 0 };
}
