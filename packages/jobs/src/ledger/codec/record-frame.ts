// Hot path: the beginning and the end of every record.
//
//   kind u8 · [length u32, from 32 on] · at f64 · [optional fields, if bit 128 of the kind is set] · fields
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import {
  HAS_FIELDS,
  type OptionalField,
  type OptionalFields,
  readOptionalFields,
  writeOptionalFields,
} from '../../bytes/optional-fields.js';
import { LedgerVersionError } from '../../jobs-error.js';

/** From this number on a record or a chunk has a length and states whether it may be skipped. */
export const FIRST_FRAMED = 32;
/** From this number on a reader that does not know the kind skips it; below it, it refuses the folder. */
const FIRST_OPTIONAL = 64;
/** The first byte of an entry that is JSON text is `{`. */
export const LAST_KIND = 122;

/** The head of a record. The result is for `endRecord`. */
export function beginRecord(
  out: ByteWriter,
  kind: number,
  at: number,
  fields: readonly OptionalField[] | undefined,
): number {
  out.byte(fields === undefined ? kind : kind | HAS_FIELDS);
  const start = kind < FIRST_FRAMED ? 0 : out.beginSpan();
  out.double(at);
  if (fields !== undefined) writeOptionalFields(out, fields);
  return start;
}

export function endRecord(out: ByteWriter, start: number): void {
  if (start !== 0) out.endSpan(start);
}

export function kindOf(head: number): number {
  return head & ~HAS_FIELDS;
}

export function fieldsBehind(head: number, read: ByteReader): OptionalFields | undefined {
  return (head & HAS_FIELDS) === 0 ? undefined : readOptionalFields(read);
}

export function isOptionalKind(kind: number): boolean {
  return kind >= FIRST_OPTIONAL;
}

/** A kind that this version does not know. Throws unless it may be skipped. */
export function assertOptional(kind: number, what: string): void {
  if (isOptionalKind(kind)) return;
  throw new LedgerVersionError(
    `${what} kind ${kind} is not known to this version; start the version that wrote the folder, or a later one`,
  );
}
