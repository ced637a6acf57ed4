import type { ByteWriter } from '../bytes/byte-writer.js';
import type { WireReader } from './wire-reader.js';

/** The bit of every flags byte that states that optional fields follow. */
export const HAS_FIELDS = 128;

/** A field that a reader without it skips. The numbers of each message are in docs/wire-protocol.md §12. */
export interface OptionalField {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Their length in bytes, then number, length and bytes of each. */
export function writeOptionalFields(out: ByteWriter, fields: readonly OptionalField[]): void {
  let length = 0;
  for (const { number, bytes } of fields) length += intBytes(number) + intBytes(bytes.length) + bytes.length;
  out.int(length);
  for (const { number, bytes } of fields) {
    out.int(number);
    out.payload(bytes);
  }
}

/** The fields by number. Copies: the message may be a view of a buffer that is used again. */
export function readOptionalFields(from: WireReader): ReadonlyMap<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  const length = from.int();
  const end = from.position + length;
  while (from.position < end) {
    from.countItem();
    fields.set(from.int(), from.bytes());
  }
  if (from.position !== end) throw from.malformed('an optional field is longer than their list');
  return fields;
}

/** The fields of a message that has no known ones. */
export function skipOptionalFields(from: WireReader): void {
  from.bytes();
}

function intBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}
