// Hot path: frames are encoded into slabs, so that a thousand small frames are one write to the socket.
import { FRAME_HEAD_BYTES } from './frame-decoder.js';
import { type FrameHeader, NO_HEADER } from './frame-header.js';
import { headerBytes, writeHeader } from './header-writer.js';

const SLAB_BYTES_MIN = 512;
const SLAB_BYTES_MAX = 64 * 1024;
/** Bodies from this size on are referenced: a second write is cheaper than the copy. */
const BY_REFERENCE_BYTES = 16 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * Encodes frames into as few pieces as possible. Small bodies are copied; a body of 16 KiB or more is
 * referenced until it is written, so its owner must not change it any more.
 *
 * ```
 * slab   | taken earlier | encoded, not taken | free |
 *        0             from                   at
 * ```
 */
export class FrameWriter {
  private slab: Buffer = EMPTY;
  private from = 0;
  private at = 0;
  private slabBytes = SLAB_BYTES_MIN;
  private pieces: Buffer[] = [];
  private pending = 0;

  /** Bytes encoded and not taken yet. */
  get pendingBytes(): number {
    return this.pending;
  }

  /** A frame without header area: the minimal dialect and the transport's own frames. */
  writeFrame(type: number, payload: Uint8Array): void {
    this.writeHead(type, payload.length, payload.length < BY_REFERENCE_BYTES ? payload.length : 0);
    this.append(payload);
  }

  /** A frame of the full dialect. Throws a HeaderError for a field that cannot be encoded. */
  writeMessage(type: number, header: FrameHeader, body: Uint8Array): void {
    const headerLen = header === NO_HEADER ? 0 : headerBytes(header);
    const small = body.length < BY_REFERENCE_BYTES ? body.length : 0;
    this.writeHead(type, 2 + headerLen + body.length, 2 + headerLen + small);
    const slab = this.slab;
    slab[this.at] = headerLen & 0xff;
    slab[this.at + 1] = headerLen >>> 8;
    if (headerLen > 0) writeHeader(header, slab, this.at + 2);
    this.advance(2 + headerLen);
    this.append(body);
  }

  /** A BodyChunk, without joining its five fixed bytes to its data first. */
  writeChunk(type: number, bodyId: number, flags: number, data: Uint8Array): void {
    this.writeHead(type, 5 + data.length, 5 + (data.length < BY_REFERENCE_BYTES ? data.length : 0));
    this.slab.writeUInt32LE(bodyId, this.at);
    this.slab[this.at + 4] = flags;
    this.advance(5);
    this.append(data);
  }

  /** All pieces encoded so far, in order. The writer does not touch their bytes before `reuseSlab`. */
  takePieces(): Buffer[] {
    this.seal();
    const pieces = this.pieces;
    this.pieces = [];
    this.pending = 0;
    return pieces;
  }

  /** The taken pieces have left the process: the slab is overwritten, so it stays small and in cache. */
  reuseSlab(): void {
    if (this.pending > 0) return;
    this.from = 0;
    this.at = 0;
  }

  /** Frees the slab: ten thousand silent connections must not hold ten thousand slabs. */
  releaseSlab(): void {
    if (this.pending > 0) return;
    this.reuseSlab();
    this.slab = EMPTY;
    this.slabBytes = SLAB_BYTES_MIN;
  }

  private writeHead(type: number, payloadLen: number, contiguous: number): void {
    const slab = this.reserve(FRAME_HEAD_BYTES + contiguous);
    const at = this.at;
    const length = payloadLen + 5;
    slab[at] = length;
    slab[at + 1] = length >>> 8;
    slab[at + 2] = length >>> 16;
    slab[at + 3] = length >>> 24;
    slab[at + 4] = type;
    slab[at + 5] = payloadLen;
    slab[at + 6] = payloadLen >>> 8;
    slab[at + 7] = payloadLen >>> 16;
    slab[at + 8] = payloadLen >>> 24;
    this.advance(FRAME_HEAD_BYTES);
  }

  private append(body: Uint8Array): void {
    if (body.length === 0) return;
    if (body.length < BY_REFERENCE_BYTES) {
      this.slab.set(body, this.at);
      this.advance(body.length);
      return;
    }
    this.seal();
    this.pieces.push(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    this.pending += body.length;
  }

  private advance(bytes: number): void {
    this.at += bytes;
    this.pending += bytes;
  }

  private reserve(bytes: number): Buffer {
    if (this.slab.length - this.at >= bytes) return this.slab;
    this.seal();
    this.slabBytes = Math.min(this.slabBytes * 2, SLAB_BYTES_MAX);
    this.slab = Buffer.allocUnsafeSlow(Math.max(this.slabBytes, bytes));
    this.from = 0;
    this.at = 0;
    return this.slab;
  }

  private seal(): void {
    if (this.at === this.from) return;
    this.pieces.push(this.slab.subarray(this.from, this.at));
    this.from = this.at;
  }
}
