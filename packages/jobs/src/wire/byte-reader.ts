import { type InlinePayload, type Payload, payloadOfPart } from '../job/payload.js';
import { StoredPayload } from '../job/stored-payload.js';
import { LedgerCorruptError } from '../jobs-error.js';
import { SHA256_BYTES, STORED_MARK } from './byte-writer.js';

/** Reads what {@link ByteWriter} wrote. Never reads beyond `end`: a short record is corruption, not an exception. */
export class ByteReader {
  private buffer: Buffer;
  private at: number;
  private end: number;
  private readonly owned: boolean;

  /** `owned`: nobody else has these bytes, so a payload that is most of them may be a view. */
  constructor(bytes: Uint8Array, owned = false) {
    this.owned = owned;
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = bytes.byteLength;
  }

  /** Bytes read so far. */
  get position(): number {
    return this.at;
  }

  get done(): boolean {
    return this.at === this.end;
  }

  byte(): number {
    this.need(1);
    const value = this.buffer[this.at] as number;
    this.at += 1;
    return value;
  }

  int(): number {
    // Most numbers are small.
    const first = this.byte();
    if (first < 0x80) return first;
    this.at -= 1;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new LedgerCorruptError('a number in a record is longer than 53 bits');
  }

  time(): number {
    this.need(8);
    const value = this.buffer.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  text(): string {
    const from = this.span();
    return from === this.at ? '' : this.buffer.toString('utf8', from, this.at);
  }

  /** From the log only: a peer must not name what others have stored. */
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

  payload(): InlinePayload {
    const from = this.span();
    const length = this.at - from;
    if (this.owned && length * 2 > this.end)
      return new Uint8Array(this.buffer.buffer, this.buffer.byteOffset + from, length);
    return payloadOfPart(this.buffer, from, this.at);
  }

  private span(): number {
    const bytes = this.int();
    this.need(bytes);
    const from = this.at;
    this.at += bytes;
    return from;
  }

  private need(bytes: number): void {
    if (this.at + bytes > this.end) throw new LedgerCorruptError(`a record ends ${bytes} bytes too early`);
  }
}
