import type { ByteReader } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';

/** The bit of a flags or type byte that states that optional fields follow. */
export const HAS_FIELDS = 128;
const TIME_BYTES = 8;

/**
 * A field that a reader without it skips. The numbers are in docs/wire-protocol.md §12 for messages and in
 * docs/ledger-format.md for records.
 */
export interface OptionalField {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** Fields by number. */
export type OptionalFields = ReadonlyMap<number, Uint8Array>;

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

/** The fields by number. Copies: the bytes may be a view of a buffer that is used again. */
export function readOptionalFields(from: ByteReader): OptionalFields {
  const fields = new Map<number, Uint8Array>();
  const length = from.int();
  const end = from.position + length;
  while (from.position < end) {
    from.countItem();
    fields.set(from.int(), from.bytes());
  }
  if (from.position !== end) throw from.malformed('has an optional field that is longer than their list');
  return fields;
}

/** The fields of a message that has no known ones. */
export function skipOptionalFields(from: ByteReader): void {
  from.bytes();
}

/** A text as an optional field; an absent value is no field. */
export function textField(number: number, value: string | undefined): OptionalField[] | undefined {
  return value === undefined ? undefined : [{ number, bytes: Buffer.from(value) }];
}

export function readTextField(fields: OptionalFields | undefined, number: number): string | undefined {
  const bytes = fields?.get(number);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

/** A time as an optional field, f64. */
export function timeField(number: number, value: number | undefined): OptionalField[] | undefined {
  if (value === undefined) return undefined;
  const bytes = Buffer.alloc(TIME_BYTES);
  bytes.writeDoubleLE(value);
  return [{ number, bytes }];
}

/** A field of another length is none of this version. */
export function readTimeField(fields: OptionalFields | undefined, number: number): number | undefined {
  const bytes = fields?.get(number);
  return bytes?.length === TIME_BYTES ? Buffer.from(bytes).readDoubleLE() : undefined;
}

function intBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}
