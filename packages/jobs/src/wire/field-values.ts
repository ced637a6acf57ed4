import { ByteWriter } from '../bytes/byte-writer.js';
import type { OptionalField } from '../bytes/optional-fields.js';
import { WireReader } from './wire-reader.js';

/** The value of an optional field, written as in a message. */
export function fieldOf(number: number, write: (out: ByteWriter) => void): OptionalField {
  const out = new ByteWriter(FIELD_BYTES);
  write(out);
  return { number, bytes: out.take() };
}

/** Undefined: the field is absent. */
export function readField<T>(
  fields: ReadonlyMap<number, Uint8Array>,
  number: number,
  read: (from: WireReader) => T,
): T | undefined {
  const bytes = fields.get(number);
  return bytes === undefined ? undefined : read(new WireReader(bytes));
}

/** Most are one number. */
const FIELD_BYTES = 16;
