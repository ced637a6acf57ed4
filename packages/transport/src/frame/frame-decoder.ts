// Hot path: no allocation per frame while a frame lies whole inside the chunk it arrived in.

/** `length:4 type:1 payloadLen:4`. */
export const FRAME_HEAD_BYTES = 9;
const FIRST_BLOCK_BYTES = 64 * 1024;
const SECOND_BLOCK_BYTES = 1024 * 1024 + 64 * 1024;
const EMPTY = Buffer.alloc(0);

/** Why a stream cannot be read any further: frame boundaries are lost with each of them. */
export type FrameViolation = 'length-mismatch' | 'oversized' | 'unexpected-type';

export interface FrameSink {
  /** The payload is `bytes[start..end)`, a view that is valid during the call only. */
  onFrame(type: number, bytes: Buffer, start: number, end: number): void;
  /**
   * A part of a payload selected by `wantsFragments`: `bytes[start..end)` is at `offset` in a payload of
   * `payloadLen`. Parts come in order and without gaps, the first one at offset 0.
   */
  onFragment?(bytes: Buffer, start: number, end: number, offset: number, payloadLen: number): void;
}

/**
 * Cuts a byte stream into frames. Any split of a stream gives the same frames. A length is checked before
 * memory is reserved for it, and memory follows the bytes received: at most 64 KiB for a declared length,
 * then the frame's size.
 */
export class FrameDecoder {
  /** Largest payload accepted from the next frame on. */
  payloadBytesMax: number;
  /** While set, a frame of a refused type is a violation as soon as its type byte has arrived. */
  acceptsType: ((type: number) => boolean) | null = null;
  /**
   * A payload that did not arrive whole is assembled, unless this returns true for its first bytes: then it
   * goes to `onFragment` part by part, and a long body costs neither a copy nor memory.
   */
  wantsFragments: ((type: number, bytes: Buffer, start: number, end: number) => boolean) | null = null;
  private readonly sink: FrameSink;
  private readonly head = new Uint8Array(FRAME_HEAD_BYTES);
  private headBytes = 0;
  private type = 0;
  /** Payload bytes of the unfinished frame; −1 between frames and inside a head. */
  private payloadNeeded = -1;
  private payloadReceived = 0;
  private block: Buffer = EMPTY;
  private fragmented = false;
  private decoded = 0;
  private halted = false;
  private held: Buffer = EMPTY;
  private violation: FrameViolation | null = null;

  constructor(sink: FrameSink, payloadMax: number) {
    this.sink = sink;
    this.payloadBytesMax = payloadMax;
  }

  /** Complete frames so far. */
  get framesDecoded(): number {
    return this.decoded;
  }

  /** True between the first byte of a frame and its last: an end of stream here is a cut. */
  get insideFrame(): boolean {
    return this.headBytes > 0 || this.payloadNeeded >= 0;
  }

  /** Declared payload of the unfinished frame; 0 while its head is incomplete. */
  get declaredBytes(): number {
    return Math.max(this.payloadNeeded, 0);
  }

  get receivedBytes(): number {
    return this.payloadReceived;
  }

  /** Bytes kept back because of `halt`. */
  get heldBytes(): number {
    return this.held.length;
  }

  /** Delivers every frame completed by `chunk`, in order. After a violation nothing more is delivered. */
  push(chunk: Uint8Array): FrameViolation | null {
    if (this.violation !== null) return this.violation;
    let bytes = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.held.length > 0) {
      bytes = Buffer.concat([this.held, bytes]);
      this.held = EMPTY;
    }
    const end = bytes.length;
    let at = 0;
    while (at < end && this.violation === null) {
      if (this.halted) {
        this.held = bytes.subarray(at);
        break;
      }
      if (this.payloadNeeded >= 0) at = this.fillPayload(bytes, at);
      else if (this.headBytes > 0 || end - at < FRAME_HEAD_BYTES) at = this.fillHead(bytes, at);
      else at = this.decodeWhole(bytes, at, end);
    }
    return this.violation;
  }

  /** Called from inside `onFrame`: no further frame is delivered until `resume`. */
  halt(): void {
    this.halted = true;
  }

  resume(): FrameViolation | null {
    this.halted = false;
    return this.held.length === 0 ? this.violation : this.push(EMPTY);
  }

  private decodeWhole(bytes: Buffer, at: number, end: number): number {
    const type = bytes[at + 4] as number; // the caller saw nine bytes from `at` on
    const payloadLen = bytes.readUInt32LE(at + 5);
    if (!this.checkHead(bytes.readUInt32LE(at), type, payloadLen)) return end;
    const start = at + FRAME_HEAD_BYTES;
    const stop = start + payloadLen;
    if (stop > end) {
      this.fragmented = this.wantsFragments?.(type, bytes, start, end) ?? false;
      this.beginPayload(type, payloadLen);
      return start;
    }
    this.decoded += 1;
    this.sink.onFrame(type, bytes, start, stop);
    return stop;
  }

  private fillHead(bytes: Buffer, from: number): number {
    let at = from;
    const head = this.head;
    while (at < bytes.length && this.headBytes < FRAME_HEAD_BYTES) {
      head[this.headBytes] = bytes[at] as number; // at < length
      this.headBytes += 1;
      at += 1;
    }
    const view = Buffer.from(head.buffer, 0, this.headBytes);
    // Four bytes of another protocol are enough to refuse it: no need to wait for nine.
    if (this.headBytes >= 4 && !this.lengthFits(view.readUInt32LE(0))) return at;
    if (this.headBytes >= 5 && !this.typeFits(view[4] as number)) return at;
    if (this.headBytes < FRAME_HEAD_BYTES) return at;
    const type = view[4] as number;
    const payloadLen = view.readUInt32LE(5);
    this.headBytes = 0;
    if (!this.checkHead(view.readUInt32LE(0), type, payloadLen)) return at;
    if (payloadLen === 0) {
      this.decoded += 1;
      this.sink.onFrame(type, EMPTY, 0, 0);
    } else {
      this.fragmented = false;
      this.beginPayload(type, payloadLen);
    }
    return at;
  }

  private beginPayload(type: number, payloadLen: number): void {
    this.type = type;
    this.payloadNeeded = payloadLen;
    this.payloadReceived = 0;
    if (!this.fragmented) this.block = Buffer.allocUnsafeSlow(Math.min(payloadLen, FIRST_BLOCK_BYTES));
  }

  private fillPayload(bytes: Buffer, from: number): number {
    const take = Math.min(this.payloadNeeded - this.payloadReceived, bytes.length - from);
    if (this.fragmented) return this.passFragment(bytes, from, take);
    if (this.payloadReceived + take > this.block.length) this.grow(this.payloadReceived + take);
    bytes.copy(this.block, this.payloadReceived, from, from + take);
    this.payloadReceived += take;
    if (this.payloadReceived === this.payloadNeeded) {
      const block = this.block;
      this.block = EMPTY;
      this.payloadNeeded = -1;
      this.payloadReceived = 0;
      this.decoded += 1;
      this.sink.onFrame(this.type, block, 0, block.length);
    }
    return from + take;
  }

  private passFragment(bytes: Buffer, from: number, take: number): number {
    const offset = this.payloadReceived;
    const need = this.payloadNeeded;
    this.payloadReceived += take;
    if (this.payloadReceived === need) {
      this.payloadNeeded = -1;
      this.payloadReceived = 0;
      this.decoded += 1;
    }
    this.sink.onFragment?.(bytes, from, from + take, offset, need);
    return from + take;
  }

  private grow(atLeast: number): void {
    const size = Math.min(
      this.payloadNeeded,
      Math.max(SECOND_BLOCK_BYTES, atLeast, this.payloadReceived * 4),
    );
    const block = Buffer.allocUnsafeSlow(size);
    this.block.copy(block, 0, 0, this.payloadReceived);
    this.block = block;
  }

  private checkHead(length: number, type: number, payloadLen: number): boolean {
    if (!this.lengthFits(length) || !this.typeFits(type)) return false;
    if (length === payloadLen + 5) return true;
    this.violation = 'length-mismatch';
    return false;
  }

  private lengthFits(length: number): boolean {
    if (length < 5) this.violation = 'length-mismatch';
    else if (length - 5 > this.payloadBytesMax) this.violation = 'oversized';
    return this.violation === null;
  }

  private typeFits(type: number): boolean {
    if (this.acceptsType !== null && !this.acceptsType(type)) this.violation = 'unexpected-type';
    return this.violation === null;
  }
}
