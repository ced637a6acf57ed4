import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { recurringText, rememberText } from '../wire/recurring-text.js';
import { StoredPayload } from './stored-payload.js';
import { TextPayload } from './text-payload.js';

/**
 * A run of bytes, JSON by agreement, or a text as it is. A small run in ASCII is a string (each character is one byte): it costs 16 bytes
 * beside its content and pins nothing, where a typed array costs two hundred or pins a slab. Any other is a byte array of its own, or stays
 * on the disk. A string here is ASCII, always: whoever makes one has looked, so nobody who reads one looks again.
 */
export type InlinePayload = string | Uint8Array | TextPayload;
export type Payload = InlinePayload | StoredPayload;

/** From this size on a payload is held outside the JavaScript heap. */
export const TEXT_PAYLOAD_BYTES_MAX = 4_096;

/** Node takes buffers up to this size from a shared pool, which a payload must not pin. Larger ones are nobody else's. */
const POOLED_BYTES_MAX = 64 * 1024;

export const EMPTY_PAYLOAD: Payload = '';

/** As JSON has it; undefined for what JSON cannot say. */
export function payloadOfValue(value: unknown): Payload | undefined {
  if (typeof value === 'string' && isShortAscii(value)) return new TextPayload(value);
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : payloadOfText(json);
}

/** What {@link payloadOfValue} was given. Throws a SyntaxError if it is not JSON. */
export function payloadValue(payload: Payload): unknown {
  return payload instanceof TextPayload ? payload.text : JSON.parse(payloadText(payload));
}

/** The bytes of a JSON text in UTF-8. An ASCII text is its own bytes. */
export function payloadOfText(text: string): InlinePayload {
  if (isShortAscii(text)) return text;
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length > POOLED_BYTES_MAX ? bytes : payloadOfBytes(bytes);
}

/** Only ASCII takes one byte a character. Counting bytes is several times as fast as looking at characters one by one. */
function isShortAscii(text: string): boolean {
  return text.length <= TEXT_PAYLOAD_BYTES_MAX && Buffer.byteLength(text) === text.length;
}

/** Copies, so that the caller's buffer is not pinned. */
export function payloadOfBytes(bytes: Uint8Array): InlinePayload {
  return payloadOfPart(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
}

/** The same of a part of a buffer. */
export function payloadOfPart(buffer: Buffer, from: number, to: number): InlinePayload {
  return asciiOfPart(buffer, from, to) ?? new Uint8Array(buffer.subarray(from, to));
}

/** Of a part that is a text in UTF-8 as it is. We write only short ones in ASCII so; a peer may write any. */
export function textPayloadOfPart(buffer: Buffer, from: number, to: number): InlinePayload {
  const text = asciiOfPart(buffer, from, to);
  if (text !== undefined) return new TextPayload(text);
  return payloadOfText(JSON.stringify(buffer.toString('utf8', from, to)));
}

/** Undefined if it is long or not ASCII. */
function asciiOfPart(buffer: Buffer, from: number, to: number): string | undefined {
  if (to - from > TEXT_PAYLOAD_BYTES_MAX) return undefined;
  const again = recurringText(buffer, from, to);
  if (again !== undefined) return again;
  const text = buffer.toString('latin1', from, to);
  if (!isShortAscii(text)) return undefined;
  rememberText(text);
  return text;
}

/** As far as can be told at a glance: bytes are not compared. */
export function isSamePayload(one: Payload | undefined, other: Payload | undefined): boolean {
  if (one === other) return true;
  return one instanceof TextPayload && other instanceof TextPayload && one.text === other.text;
}

/** The JSON text. */
export function payloadText(payload: Payload): string {
  if (typeof payload === 'string') return payload;
  if (payload instanceof TextPayload) return JSON.stringify(payload.text);
  mustBeHere(payload);
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  // Two passes that move whole vectors are faster than one that looks at every byte; and a long text stays outside the heap.
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

/** The bytes of the JSON text. */
export function payloadBytes(payload: Payload): Uint8Array {
  mustBeHere(payload);
  return payload instanceof Uint8Array ? payload : Buffer.from(payloadText(payload), 'latin1');
}

/** Whoever wants the content of a stored payload has to read it first. */
function mustBeHere(payload: Payload): asserts payload is InlinePayload {
  if (payload instanceof StoredPayload)
    assert.fail(`payload ${payload.sha256} is on the disk, not in memory`);
}

/** The hash under which a key remembers its payload: FNV-1a twice with different seeds, 53 bits. */
export function payloadHash(exec: string, payload: Payload): number {
  if (payload instanceof StoredPayload) return payload.hash;
  // The same input has the same hash, whichever way it came.
  if (payload instanceof TextPayload) return payloadHash(exec, payloadText(payload));
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
