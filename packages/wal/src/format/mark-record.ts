// MARK: a batch that was durable, written behind the acknowledgement. A log that ends before it is damaged.

import { encodeCopy, newestCopy } from './paired-record.js';
import { readUint64, writeUint64 } from './uint64.js';

const MAGIC = 'TMRK';

export interface MarkRecord {
  /** Counts the writes of the mark. */
  readonly number: number;
  readonly batch: number;
  readonly lsn: number;
}

export const NO_MARK: MarkRecord = { number: 0, batch: 0, lsn: 0 };

export function encodeMark({ number, batch, lsn }: MarkRecord): Buffer {
  const payload = Buffer.alloc(16);
  writeUint64(payload, batch, 0);
  writeUint64(payload, lsn, 8);
  return encodeCopy(MAGIC, number, payload);
}

/** `pair`: both copies. Undefined if neither is valid. */
export function decodeMark(pair: Buffer): MarkRecord | undefined {
  const record = newestCopy(MAGIC, pair);
  if (record === undefined) return undefined;
  const { number, payload } = record;
  return { number, batch: readUint64(payload, 0), lsn: readUint64(payload, 8) };
}
