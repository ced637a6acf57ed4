import type { Payload } from '../job/payload.js';
import { StoredPayload } from '../job/stored-payload.js';
import { ByteWriter } from './byte-writer.js';

/** From here on a payload travels by reference: it is not changed once it is somebody's payload, and a copy costs more than a second piece. */
const BY_REFERENCE_BYTES = 256 * 1024;

/** A part of a frame: bytes, or what is read while the frame is sent. */
export type WirePiece = Uint8Array | StoredPayload;

/** A writer that does not copy large payloads. What it holds is a list of pieces then. */
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

  /** Everything written, in order; the writer starts anew. */
  takePieces(): readonly WirePiece[] {
    const { pieces } = this;
    this.pieces = [];
    this.piecesBytes = 0;
    return super.length === 0 ? pieces : [...pieces, super.take()];
  }
}

const shared = new WireWriter();

/**
 * The writer of all connections of this process: a message is encoded and posted in one go, so one buffer is enough and stays in the
 * processor's cache. Empty, whatever became of the message before.
 */
export function wireWriter(): WireWriter {
  shared.reset();
  return shared;
}
