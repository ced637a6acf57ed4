import { ByteWriter } from '../bytes/byte-writer.js';
import type { Payload } from '../job/payload/payload.js';
import { StoredPayload } from '../job/payload/stored-payload.js';

/**
 * A payload of this size is sent by reference: it never changes, and a copy costs more than a second piece.
 */
const BY_REFERENCE_BYTES = 256 * 1024;

/** A part of a frame: bytes, or a stored payload that is read while the frame is sent. */
export type WirePiece = Uint8Array | StoredPayload;

/** A writer that does not copy large payloads: with one of them its content is a list of pieces. */
export class WireWriter extends ByteWriter {
  private pieces: WirePiece[] = [];
  private piecesBytes = 0;

  override get length(): number {
    return super.length + this.piecesBytes;
  }

  override payload(value: Payload): void {
    const isShort = typeof value === 'string' || value.length < BY_REFERENCE_BYTES;
    if (isShort && !(value instanceof StoredPayload)) return super.payload(value);
    this.int(value.length);
    this.piecesBytes += super.length + value.length;
    this.pieces.push(super.take(), value);
  }

  override reset(): void {
    super.reset();
    this.pieces = [];
    this.piecesBytes = 0;
  }

  /** All bytes written, in order; the writer starts anew. */
  takePieces(): readonly WirePiece[] {
    const { pieces } = this;
    this.pieces = [];
    this.piecesBytes = 0;
    return super.length === 0 ? pieces : [...pieces, super.take()];
  }
}

const shared = new WireWriter();

/**
 * The writer of all connections of this process: a message is encoded and sent in one go, so one buffer is
 * enough and stays in the processor's cache. Always empty, even where the message before could not be
 * encoded.
 */
export function wireWriter(): WireWriter {
  shared.reset();
  return shared;
}
