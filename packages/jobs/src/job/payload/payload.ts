import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { StoredPayload } from './stored-payload.js';

/**
 * The bytes of a JSON text, or a zero byte and then bytes that are the value itself: no JSON begins so. A
 * short ASCII one is a string, one byte a character: 16 bytes of overhead, and it pins nothing, where a typed
 * array costs two hundred bytes or pins a slab. Any other is a byte array of its own, or stays on the disk.
 * Invariant: a string here is ASCII; its maker has checked it, so no reader checks again.
 */
export type InlinePayload = string | Uint8Array;
export type Payload = InlinePayload | StoredPayload;

/** A larger payload is held outside the JavaScript heap. */
const TEXT_PAYLOAD_BYTES_MAX = 4_096;

/** Node takes buffers up to this size from a shared pool, which a payload must not pin. */
const POOLED_BYTES_MAX = 64 * 1024;

/** With its quotes it is still a text payload. */
const PLAIN_CHARS_MAX = TEXT_PAYLOAD_BYTES_MAX - 2;

export const EMPTY_PAYLOAD: Payload = '';

/** The first byte of a value that is bytes. */
const BYTES_MARK = 0;

/** Characters that JSON writes as they are. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/**
 * The value as JSON; undefined for a value that JSON cannot hold. To match a plain string takes a third of
 * the time `JSON.stringify` takes to write it.
 */
export function payloadOfValue(value: unknown): InlinePayload | undefined {
  if (typeof value === 'string' && value.length <= PLAIN_CHARS_MAX && PLAIN_TEXT.test(value))
    return `"${value}"`;
  if (value instanceof Uint8Array) return markedBytes(value);
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : payloadOfText(json);
}

/**
 * The value that {@link payloadOfValue} was given. Throws a SyntaxError if the payload is neither JSON nor
 * bytes.
 */
export function payloadValue(payload: Payload): unknown {
  const first = typeof payload === 'string' ? payload.charCodeAt(0) : firstByte(payload);
  return first === BYTES_MARK ? payloadBytes(payload).slice(1) : JSON.parse(payloadText(payload));
}

function markedBytes(value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(value.length + 1);
  bytes[0] = BYTES_MARK;
  bytes.set(value, 1);
  return bytes;
}

function firstByte(payload: Uint8Array | StoredPayload): number | undefined {
  mustBeHere(payload);
  return payload[0];
}

/** The bytes of a JSON text in UTF-8. An ASCII text is its own bytes. */
export function payloadOfText(text: string): InlinePayload {
  if (isShortAscii(text)) return text;
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length > POOLED_BYTES_MAX ? bytes : payloadOfBytes(bytes);
}

/**
 * Only ASCII takes one byte a character; counting bytes is several times as fast as a look at each character.
 */
function isShortAscii(text: string): boolean {
  return text.length <= TEXT_PAYLOAD_BYTES_MAX && Buffer.byteLength(text) === text.length;
}

/** Copies, so that the caller's buffer is not pinned. */
export function payloadOfBytes(bytes: Uint8Array): InlinePayload {
  return payloadOfPart(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
}

/** The same of a part of a buffer. */
export function payloadOfPart(buffer: Buffer, from: number, to: number): InlinePayload {
  if (to - from <= TEXT_PAYLOAD_BYTES_MAX) {
    const text = buffer.toString('latin1', from, to);
    if (isShortAscii(text)) return text;
  }
  return new Uint8Array(buffer.subarray(from, to));
}

/** The JSON text. */
export function payloadText(payload: Payload): string {
  if (typeof payload === 'string') return payload;
  mustBeHere(payload);
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  // Two vectorised passes are faster than one that looks at every byte, and a long text stays outside the
  // heap.
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

/** The bytes of the JSON text. */
export function payloadBytes(payload: Payload): Uint8Array {
  mustBeHere(payload);
  return typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
}

/** The content of a stored payload has to be read from the disk first. */
function mustBeHere(payload: Payload): asserts payload is InlinePayload {
  if (payload instanceof StoredPayload)
    assert.fail(`payload ${payload.sha256} is on the disk, not in memory`);
}

/** The hash that an idempotency key keeps of its payload: FNV-1a twice with different seeds, 53 bits. */
export function payloadHash(exec: string, payload: Payload): number {
  if (payload instanceof StoredPayload) return payload.hash;
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < exec.length; i += 1) {
    low = Math.imul(low ^ exec.charCodeAt(i), 0x01000193);
    high = Math.imul(high ^ exec.charCodeAt(i), 0x85ebca6b);
  }
  const text = typeof payload === 'string';
  for (let i = 0; i < payload.length; i += 1) {
    const byte = text ? payload.charCodeAt(i) : (payload[i] as number);
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x85ebca6b);
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}
