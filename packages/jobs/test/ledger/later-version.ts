// Records and chunks as a later version of the ledger may write them, by the rules of docs/ledger-format.md.
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { HAS_FIELDS, type OptionalField, writeOptionalFields } from '#src/bytes/optional-fields.js';
import { beginRecord, endRecord, FIRST_FRAMED } from '#src/ledger/codec/record-frame.js';

/** Kinds that no version has. */
export const LATER_REQUIRED = 63;
export const LATER_OPTIONAL = 122;

export const LATER_FIELDS: readonly OptionalField[] = [
  { number: 99, bytes: Buffer.from('later') },
  { number: 300, bytes: Buffer.alloc(200, 7) },
];

export function bytesOf(write: (out: ByteWriter) => void): Buffer {
  const out = new ByteWriter(16);
  write(out);
  return out.take();
}

/** A record of a kind that this version does not know: the head as this version writes it, and any content. */
export function laterRecord(out: ByteWriter, kind: number, fields?: readonly OptionalField[]): void {
  const start = beginRecord(out, kind, 5.5, fields);
  out.text('content of a later version');
  out.payload(Buffer.alloc(30, 1));
  endRecord(out, start);
}

/** A record of this version with the fields of a later one, if it has no length and no optional fields yet. */
export function withLaterFields(record: Uint8Array): Uint8Array {
  const [kind = 0] = record;
  if (kind >= FIRST_FRAMED) return record;
  const fields = bytesOf((out) => writeOptionalFields(out, LATER_FIELDS));
  return Buffer.concat([Buffer.of(kind | HAS_FIELDS), record.subarray(1, 9), fields, record.subarray(9)]);
}

const [HEAD, PRODUCERS, KEYS, JOBS] = [1, 2, 3, 4];

/** A chunk with optional fields in its head, its first item or its first job. Others stay as they are. */
export function chunkWithLaterFields(chunk: Uint8Array): Uint8Array {
  const [kind = 0, second = 0] = chunk;
  const fields = bytesOf((out) => writeOptionalFields(out, LATER_FIELDS));
  const none = Buffer.of(0);
  if (kind === HEAD) return Buffer.concat([chunk.subarray(0, -none.length), fields]);
  if (kind === PRODUCERS || kind === KEYS) return chunk;
  if (kind !== JOBS || (second & HAS_FIELDS) !== 0) return chunk;
  return Buffer.concat([Buffer.of(kind, second | HAS_FIELDS), fields, chunk.subarray(2)]);
}

/** A chunk of one item with optional fields in front of it. */
export function itemWithLaterFields(chunk: Uint8Array): Uint8Array {
  const fields = bytesOf((out) => writeOptionalFields(out, LATER_FIELDS));
  return Buffer.concat([Buffer.of((chunk[0] ?? 0) | HAS_FIELDS), fields, chunk.subarray(1)]);
}

/** A table that this version does not know. */
export function laterChunk(kind: number): Uint8Array {
  return bytesOf((out) => {
    out.byte(kind);
    out.text('a table of a later version');
  });
}
