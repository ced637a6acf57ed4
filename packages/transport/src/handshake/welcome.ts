import {
  AUTH_METHODS,
  type AuthMethod,
  type Capacity,
  PROOF_BYTES,
  readCapacity,
  writeCapacity,
} from './hello.js';

export interface Welcome {
  readonly version: number;
  readonly authMethod: AuthMethod;
  readonly connectionId: string;
  readonly capacity: Capacity;
  readonly pingMs: number;
  readonly deadMs: number;
  readonly inFlightMax: number;
  readonly creditMax: number;
  readonly identityName: string;
}

const FIXED_BYTES = 51;

/** The payload without the proof; with hmac the caller appends the proof over it. */
export function encodeWelcome(welcome: Welcome): Buffer {
  const payload = Buffer.alloc(FIXED_BYTES + welcome.identityName.length);
  payload[0] = welcome.version;
  payload[1] = AUTH_METHODS.indexOf(welcome.authMethod);
  payload.write(welcome.connectionId, 2, 16, 'hex');
  writeCapacity(payload, 18, welcome.capacity);
  payload.writeUInt32LE(welcome.pingMs, 34);
  payload.writeUInt32LE(welcome.deadMs, 38);
  payload.writeUInt32LE(welcome.inFlightMax, 42);
  payload.writeUInt32LE(welcome.creditMax, 46);
  payload[50] = welcome.identityName.length;
  payload.write(welcome.identityName, FIXED_BYTES, 'latin1');
  return payload;
}

/** Null where it is not a Welcome. `signed` is the part that `proof` covers, which is empty without hmac. */
export function decodeWelcome(payload: Buffer): { welcome: Welcome; signed: Buffer; proof: Buffer } | null {
  if (payload.length < FIXED_BYTES) return null;
  const method = AUTH_METHODS[payload[1] as number]; // FIXED_BYTES are there
  const nameEnd = FIXED_BYTES + (payload[50] as number);
  if (method === undefined || payload.length !== nameEnd + (method === 'hmac' ? PROOF_BYTES : 0)) return null;
  const welcome: Welcome = {
    version: payload[0] as number,
    authMethod: method,
    connectionId: payload.toString('hex', 2, 18),
    capacity: readCapacity(payload, 18),
    pingMs: payload.readUInt32LE(34),
    deadMs: payload.readUInt32LE(38),
    inFlightMax: payload.readUInt32LE(42),
    creditMax: payload.readUInt32LE(46),
    identityName: payload.toString('latin1', FIXED_BYTES, nameEnd),
  };
  return { welcome, signed: payload.subarray(0, nameEnd), proof: payload.subarray(nameEnd) };
}
