import { type InlinePayload, payloadOfPart } from '../job/payload/payload.js';

/**
 * Reads the values that {@link ByteWriter} wrote, never beyond the end of the bytes. A subclass knows where
 * they came from and which error a short or damaged value is.
 */
export abstract class ByteReader {
  protected readonly buffer: Buffer;
  protected at = 0;
  private readonly end: number;
  private readonly owned: boolean;

  /** `owned`: the bytes have no other user, so a payload that is most of them may be a view. */
  constructor(bytes: Uint8Array, owned = false) {
    this.owned = owned;
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.byteLength;
  }

  abstract malformed(problem: string): Error;

  /** Counts an item of a list. A reader of a peer's message bounds their number. */
  countItem(): void {}

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
    throw this.malformed('a number is longer than 53 bits');
  }

  /** A length of four bytes. */
  length32(): number {
    this.need(4);
    const value = this.buffer.readUInt32LE(this.at);
    this.at += 4;
    return value;
  }

  /** The next bytes, as they lie in the buffer. */
  view(bytes: number): Uint8Array {
    this.need(bytes);
    const from = this.at;
    this.at += bytes;
    return this.buffer.subarray(from, this.at);
  }

  double(): number {
    this.need(8);
    const value = this.buffer.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  text(): string {
    const from = this.span();
    return from === this.at ? '' : this.buffer.toString('utf8', from, this.at);
  }

  /** A copy of bytes behind their length. */
  bytes(): Uint8Array {
    const from = this.span();
    return Uint8Array.prototype.slice.call(this.buffer, from, this.at);
  }

  payload(): InlinePayload {
    const from = this.span();
    const length = this.at - from;
    if (this.owned && length * 2 > this.end)
      return new Uint8Array(this.buffer.buffer, this.buffer.byteOffset + from, length);
    return payloadOfPart(this.buffer, from, this.at);
  }

  /** Whether the text or payload that comes next is here whole, with `after` more bytes behind it. */
  hasSpan(after: number): boolean {
    const start = this.at;
    const bytes = this.int();
    const end = this.at + bytes + after;
    this.at = start;
    return end <= this.end;
  }

  protected need(bytes: number): void {
    if (this.at + bytes > this.end)
      throw this.malformed(`ends too early: ${bytes} bytes needed at ${this.at} of ${this.end}`);
  }

  private span(): number {
    const bytes = this.int();
    this.need(bytes);
    const from = this.at;
    this.at += bytes;
    return from;
  }
}
