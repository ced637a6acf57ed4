// Hot path: no allocation per record.
// A batch while it is being filled: records are encoded directly into the bytes that will be written.

import type { BlobRef } from '../blob/blob-ref.js';
import type { RecordCodec } from '../codec/record-codec.js';
import { BATCH_HEADER_BYTES, BATCH_TRAILER_BYTES, batchExtent } from '../format/batch.js';

const BYTES_AT_FIRST = 64 * 1024;

export class BatchBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
  /** Offset after the last record. */
  end = BATCH_HEADER_BYTES;
  firstLsn = 0;
  count = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get bodyLen(): number {
    return this.end - BATCH_HEADER_BYTES;
  }

  /** True if a record of at most `bytes` fits. Grows the buffer if it has to. */
  reserve(bytes: number): boolean {
    const needed = this.end + bytes + BATCH_TRAILER_BYTES;
    if (needed > this.bytesMax) return false;
    if (needed > this.bytes.length) this.grow(needed);
    return true;
  }

  add(codec: RecordCodec, lsn: number, payload: Uint8Array, type: number, blob: BlobRef | undefined): void {
    this.end = codec.encode(this.bytes, this.end, lsn, payload, type, blob);
    this.count += 1;
  }

  reset(firstLsn: number): void {
    this.end = BATCH_HEADER_BYTES;
    this.count = 0;
    this.firstLsn = firstLsn;
  }

  private grow(needed: number): void {
    let bytes = this.bytes.length;
    while (bytes < needed) bytes *= 2;
    // Whole pages, so that the padding of the last one has room.
    const grown = Buffer.allocUnsafeSlow(Math.min(bytes, batchExtent(this.bytesMax)));
    this.bytes.copy(grown, 0, 0, this.end);
    this.bytes = grown;
  }
}
