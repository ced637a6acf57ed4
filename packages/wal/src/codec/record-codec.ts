// Records and the codec interface.

import { keepClassNames } from '@troupe/core/class-names';
import type { BlobRef } from '../blob/blob-ref.js';

/** `payload` is a view that is valid only during the call: copy it to keep it. */
export type RecordVisitor = (lsn: number, payload: Buffer, type: number, blob: BlobRef | undefined) => void;

export interface RecordCodec {
  readonly name: 'binary' | 'jsonl';
  /** Flag of batches whose body this codec wrote. */
  readonly batchFlag: number;
  /** Upper bound of the encoded size. */
  encodedMax(payloadBytes: number, blob: BlobRef | undefined): number;
  /** Writes one record at `at` and returns the offset after it. */
  encode(
    out: Buffer,
    at: number,
    lsn: number,
    payload: Uint8Array,
    type: number,
    blob: BlobRef | undefined,
  ): number;
  /**
   * Visits `count` records from `from` on and returns the offset after the last of them, or throws
   * RecordFormatError: at a record that is none or that ends after `to`.
   */
  decode(
    body: Buffer,
    from: number,
    to: number,
    firstLsn: number,
    count: number,
    visit: RecordVisitor,
  ): number;
}

/** The body passed its CRC but is not a list of records: a bug of the writer, or a newer writer. */
export class RecordFormatError extends Error {
  readonly lsn: number;

  constructor(lsn: number, reason: string) {
    super(reason);
    this.name = 'RecordFormatError';
    this.lsn = lsn;
  }
}

keepClassNames({
  RecordFormatError,
});
