/** The most that is reserved for a declared length: a peer that lies about it costs no more. */
const RESERVED_BYTES_MAX = 16 * 1024 * 1024;

const FIRST_BYTES = 64 * 1024;

/** Collects the chunks of one body in one buffer. */
export class BodyCollector {
  private buffer: Buffer;
  private at = 0;

  constructor(declared: number | undefined) {
    this.buffer = Buffer.allocUnsafeSlow(Math.min(declared ?? FIRST_BYTES, RESERVED_BYTES_MAX));
  }

  add(chunk: Uint8Array): void {
    const needed = this.at + chunk.length;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
      this.buffer.copy(larger, 0, 0, this.at);
      this.buffer = larger;
    }
    this.buffer.set(chunk, this.at);
    this.at = needed;
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.at);
  }
}
