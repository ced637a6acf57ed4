// The optional fields of an attempt that streamed, in records and in snapshots.
import { ByteWriter } from '../../bytes/byte-writer.js';
import type { OptionalField, OptionalFields } from '../../bytes/optional-fields.js';
import { LedgerByteReader } from './ledger-byte-reader.js';

/** Numbers of the optional fields. `cancel` had number 1 already. */
const CHUNKS = 1;
const METADATA = 2;
const CHUNKS_OF_CANCEL = 2;

export interface StreamEndFields {
  readonly chunks?: number | undefined;
  readonly metadata?: string | undefined;
}

/** Undefined: no field is written. */
export function streamEndFields({ chunks, metadata }: StreamEndFields): OptionalField[] | undefined {
  if (chunks === undefined && metadata === undefined) return undefined;
  const fields: OptionalField[] = [];
  if (chunks !== undefined) fields.push(chunksField(CHUNKS, chunks));
  if (metadata !== undefined) fields.push({ number: METADATA, bytes: Buffer.from(metadata) });
  return fields;
}

/** A record without a field has no such property. */
export function readStreamEndFields(fields: OptionalFields | undefined): StreamEndFields {
  if (fields === undefined) return NO_FIELDS;
  const chunks = readChunks(fields, CHUNKS);
  const metadata = fields.get(METADATA);
  return {
    ...(chunks === undefined ? {} : { chunks }),
    ...(metadata === undefined ? {} : { metadata: Buffer.from(metadata).toString() }),
  };
}

export function chunksOfCancel(chunks: number | undefined): OptionalField[] {
  return chunks === undefined ? [] : [chunksField(CHUNKS_OF_CANCEL, chunks)];
}

export function readChunksOfCancel(fields: OptionalFields | undefined): StreamEndFields {
  const chunks = fields && readChunks(fields, CHUNKS_OF_CANCEL);
  return chunks === undefined ? NO_FIELDS : { chunks };
}

const NO_FIELDS: StreamEndFields = {};
const INT_BYTES_MAX = 8;

function chunksField(number: number, chunks: number): OptionalField {
  const out = new ByteWriter(INT_BYTES_MAX);
  out.int(chunks);
  return { number, bytes: out.take() };
}

function readChunks(fields: OptionalFields, number: number): number | undefined {
  const bytes = fields.get(number);
  return bytes === undefined ? undefined : new LedgerByteReader(bytes).int();
}
