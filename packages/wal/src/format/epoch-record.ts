// EPOCH: the opening that owns the directory. Overwritten in place by every opening, before it reads the log.

import { copyOffset, encodeCopy, newestCopy, PAIR_FILE_BYTES } from './paired-record.js';

const MAGIC = 'TEPO';
const NONCE_BYTES = 16;

export interface EpochRecord {
  readonly epoch: number;
  /** Random, 32 hex digits: two processes that open at the same moment may write the same number. */
  readonly nonce: string;
}

export function encodeEpoch({ epoch, nonce }: EpochRecord): Buffer {
  return encodeCopy(MAGIC, epoch, Buffer.from(nonce, 'hex'));
}

/** The whole file of a copy, which no process has opened yet. */
export function encodeEpochFile(epoch: number): Buffer {
  const bytes = Buffer.alloc(PAIR_FILE_BYTES);
  encodeEpoch({ epoch, nonce: '00'.repeat(NONCE_BYTES) }).copy(bytes, copyOffset(epoch));
  return bytes;
}

/** `pair`: both copies. Undefined if neither is valid. */
export function decodeEpoch(pair: Buffer): EpochRecord | undefined {
  const record = newestCopy(MAGIC, pair);
  if (record === undefined) return undefined;
  return { epoch: record.number, nonce: record.payload.toString('hex', 0, NONCE_BYTES) };
}
