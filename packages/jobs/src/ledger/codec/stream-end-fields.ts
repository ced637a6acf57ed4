// The optional fields of an attempt that streamed, in records and in snapshots.
import { ByteWriter } from '../../bytes/byte-writer.js';
import { type OptionalField, type OptionalFields, readTextField } from '../../bytes/optional-fields.js';
import type { Job } from '../jobs/job.js';
import { LedgerByteReader } from './ledger-byte-reader.js';

/** Numbers of the optional fields of the end of an attempt; of `cancel`; of a job in a snapshot. */
const CHUNKS = 1;
const METADATA = 2;
const CHUNKS_OF_CANCEL = 2;
const CHUNKS_OF_JOB = 3;
const METADATA_OF_JOB = 4;

export interface StreamEndFields {
  readonly chunks?: number | undefined;
  readonly metadata?: string | undefined;
}

/** Undefined: no field is written. */
export function streamEndFields(end: StreamEndFields): OptionalField[] | undefined {
  if (end.chunks === undefined && end.metadata === undefined) return undefined;
  return fieldsOf(end, CHUNKS, METADATA);
}

/** A record without a field has no such property. */
export function readStreamEndFields(fields: OptionalFields | undefined): StreamEndFields {
  return readFields(fields, CHUNKS, METADATA);
}

export function jobFields({ chunks, end }: Pick<Job, 'chunks' | 'end'>): OptionalField[] {
  return fieldsOf({ chunks, metadata: end?.metadata }, CHUNKS_OF_JOB, METADATA_OF_JOB);
}

export function readJobFields(fields: OptionalFields | undefined): StreamEndFields {
  return readFields(fields, CHUNKS_OF_JOB, METADATA_OF_JOB);
}

export function chunksOfCancel(chunks: number | undefined): OptionalField[] {
  return chunks === undefined ? [] : [chunksField(CHUNKS_OF_CANCEL, chunks)];
}

export function readChunksOfCancel(fields: OptionalFields | undefined): StreamEndFields {
  const chunks = fields && readChunks(fields, CHUNKS_OF_CANCEL);
  return chunks === undefined ? NO_FIELDS : { chunks };
}

function fieldsOf(
  { chunks, metadata }: StreamEndFields,
  chunksNumber: number,
  metadataNumber: number,
): OptionalField[] {
  const fields: OptionalField[] = [];
  if (chunks !== undefined) fields.push(chunksField(chunksNumber, chunks));
  if (metadata !== undefined) fields.push({ number: metadataNumber, bytes: Buffer.from(metadata) });
  return fields;
}

function readFields(
  fields: OptionalFields | undefined,
  chunksNumber: number,
  metadataNumber: number,
): StreamEndFields {
  if (fields === undefined) return NO_FIELDS;
  const chunks = readChunks(fields, chunksNumber);
  const metadata = readTextField(fields, metadataNumber);
  return { ...(chunks === undefined ? {} : { chunks }), ...(metadata === undefined ? {} : { metadata }) };
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
