import { ByteReader } from '../../bytes/byte-reader.js';
import { SHA256_BYTES, STORED_MARK } from '../../bytes/byte-writer.js';
import type { Payload } from '../../job/payload/payload.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import { LedgerCorruptError } from '../../jobs-error.js';

/** Reads records and snapshots of the log, where a payload may be stored beside it. */
export class LedgerByteReader extends ByteReader {
  anyPayload(): Payload {
    const start = this.at;
    if (this.int() !== STORED_MARK) {
      this.at = start;
      return this.payload();
    }
    this.need(SHA256_BYTES);
    const sha256 = this.buffer.toString('hex', this.at, this.at + SHA256_BYTES);
    this.at += SHA256_BYTES;
    return new StoredPayload(sha256, this.int());
  }

  override malformed(problem: string): LedgerCorruptError {
    return new LedgerCorruptError(`a record ${problem}`);
  }
}
