import type { Role } from '../access/identity.js';
import type { TransportLimits } from '../access/transport-limits.js';
import { FrameType } from '../frame/frame-type.js';

/** The first four bytes of a Hello of the full dialect. */
const MAGIC = 'TRP1';
export const PROTOCOL_VERSION = 1;
export const NONCE_BYTES = 32;
export const PROOF_BYTES = 32;

export type AuthMethod = 'none' | 'hmac' | 'mtls';
export const AUTH_METHODS: readonly AuthMethod[] = ['none', 'hmac', 'mtls'];

/** The limits of one side for frames sent to it; both sides exchange theirs in the handshake. */
export interface Capacity {
  readonly payloadBytesMax: number;
  readonly bodyBytesMax: number;
  readonly windowBytes: number;
  readonly chunkBytesMax: number;
}

export interface Hello {
  readonly versionMin: number;
  readonly versionMax: number;
  readonly methods: readonly AuthMethod[];
  readonly nonce: Uint8Array;
  readonly capacity: Capacity;
  readonly name: string;
}

const FIXED_BYTES = 57;
const NAME = /^[A-Za-z0-9_.-]{0,64}$/;

export function helloTypeOf(role: Role): number {
  return role === 'client'
    ? FrameType.HelloClient
    : role === 'worker'
      ? FrameType.HelloWorker
      : FrameType.HelloPeer;
}

export function roleOf(type: number): Role {
  return type === FrameType.HelloClient ? 'client' : type === FrameType.HelloWorker ? 'worker' : 'peer';
}

export function capacityOf(limits: TransportLimits): Capacity {
  return {
    payloadBytesMax: limits.payloadBytesMax,
    bodyBytesMax: limits.bodyBytesMax,
    windowBytes: limits.windowBytes,
    chunkBytesMax: limits.chunkBytesMax,
  };
}

function isName(name: string): boolean {
  return NAME.test(name);
}

export function encodeHello(hello: Hello): Buffer {
  const payload = Buffer.alloc(FIXED_BYTES + hello.name.length);
  payload.write(MAGIC, 0, 'latin1');
  payload[4] = hello.versionMin;
  payload[5] = hello.versionMax;
  payload[6] = hello.methods.reduce((bits, method) => bits | (1 << AUTH_METHODS.indexOf(method)), 0);
  payload.set(hello.nonce, 8);
  writeCapacity(payload, 40, hello.capacity);
  payload[56] = hello.name.length;
  payload.write(hello.name, 57, 'latin1');
  return payload;
}

/** Null where the payload is not a Hello. The caller has bounded its length. */
export function decodeHello(payload: Buffer): Hello | null {
  if (payload.length < FIXED_BYTES || payload.toString('latin1', 0, 4) !== MAGIC) return null;
  const bits = payload[6] as number; // FIXED_BYTES are there
  const nameBytes = payload[56] as number;
  const name = payload.toString('latin1', FIXED_BYTES);
  if (bits > 7 || payload[7] !== 0 || nameBytes !== name.length || !isName(name)) return null;
  return {
    versionMin: payload[4] as number,
    versionMax: payload[5] as number,
    methods: AUTH_METHODS.filter((_, bit) => (bits & (1 << bit)) !== 0),
    nonce: Buffer.from(payload.subarray(8, 40)),
    capacity: readCapacity(payload, 40),
    name,
  };
}

export function writeCapacity(out: Buffer, at: number, capacity: Capacity): void {
  out.writeUInt32LE(capacity.payloadBytesMax, at);
  out.writeUInt32LE(capacity.bodyBytesMax, at + 4);
  out.writeUInt32LE(capacity.windowBytes, at + 8);
  out.writeUInt32LE(capacity.chunkBytesMax, at + 12);
}

export function readCapacity(bytes: Buffer, at: number): Capacity {
  return {
    payloadBytesMax: bytes.readUInt32LE(at),
    bodyBytesMax: bytes.readUInt32LE(at + 4),
    windowBytes: bytes.readUInt32LE(at + 8),
    chunkBytesMax: bytes.readUInt32LE(at + 12),
  };
}
