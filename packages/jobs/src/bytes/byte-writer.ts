// Hot path: no allocation per value.
import type { Payload } from '../job/payload/payload.js';
import { StoredPayload } from '../job/payload/stored-payload.js';

const FIRST_BYTES = 64 * 1024;
export const STORED_MARK = Number.MAX_SAFE_INTEGER;
export const SHA256_BYTES = 32;
/** Below 128, so its length is one byte. */
const SHORT_CHARS = 64;
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** Appends values to one growing buffer. `take` returns the filled part and starts a new one. */
export class ByteWriter {
  private buffer: Buffer;
  private at = 0;

  constructor(bytes: number = FIRST_BYTES) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
  }

  get length(): number {
    return this.at;
  }

  byte(value: number): void {
    this.room(1);
    this.buffer[this.at] = value;
    this.at += 1;
  }

  /** A whole number from 0 to 2^53 - 1, seven bits a byte, low bits first. */
  int(value: number): void {
    this.room(8);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.at] = (rest % 0x80) | 0x80;
      this.at += 1;
      rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    this.buffer[this.at] = rest;
    this.at += 1;
  }

  double(value: number): void {
    this.room(8);
    this.at = this.buffer.writeDoubleLE(value, this.at);
  }

  /** Room for a length of four bytes, which `endSpan` writes. Returns where the span begins. */
  beginSpan(): number {
    this.room(4);
    this.at += 4;
    return this.at;
  }

  endSpan(start: number): void {
    this.buffer.writeUInt32LE(this.at - start, start - 4);
  }

  text(value: string): void {
    if (value.length <= SHORT_CHARS && this.shortText(value)) return;
    const bytes = Buffer.byteLength(value);
    this.int(bytes);
    this.room(bytes);
    this.at += this.buffer.write(value, this.at, bytes, 'utf8');
  }

  /** A text without its length. */
  textAlone(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.room(bytes);
    this.at += this.buffer.write(value, this.at, bytes, 'utf8');
  }

  /**
   * Short ASCII, mostly names: cheaper by hand than with two calls into the runtime. False if it is not
   * ASCII.
   */
  private shortText(value: string): boolean {
    const { length } = value;
    this.room(length + 1);
    const start = this.at + 1;
    for (let i = 0; i < length; i += 1) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      this.buffer[start + i] = code;
    }
    this.buffer[this.at] = length;
    this.at = start + length;
    return true;
  }

  payload(value: Payload): void {
    if (typeof value === 'string') return this.ascii(value);
    if (value instanceof StoredPayload) return this.stored(value);
    this.int(value.length);
    this.room(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  private ascii(value: string): void {
    const bytes = value.length;
    if (bytes <= SHORT_CHARS && this.shortText(value)) return;
    this.int(bytes);
    this.room(bytes);
    this.buffer.write(value, this.at, bytes, 'latin1');
    this.at += bytes;
  }

  /** A length that no payload has marks it. */
  private stored(value: StoredPayload): void {
    this.int(STORED_MARK);
    this.room(SHA256_BYTES);
    this.at += this.buffer.write(value.sha256, this.at, 'hex');
    this.int(value.length);
  }

  /** The bytes written since the start. The writer never touches them again. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.at);
    this.buffer = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, this.at));
    this.at = 0;
    return taken;
  }

  /** A view of the bytes written; valid until `reset`. */
  view(from: number, to: number): Uint8Array {
    return this.buffer.subarray(from, to);
  }

  /** Empties the writer. A buffer that one large batch made huge is replaced. */
  reset(): void {
    this.at = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  private room(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
}
