// Hot path: a header is measured, then written in place.
import { HeaderError } from '../transport-error.js';
import type { FrameHeader } from './frame-header.js';
import {
  HAS_BODY,
  HAS_CORR_ID,
  HAS_MSG_ID,
  HAS_RAW_LEN,
  HEADER_FIXED_BYTES,
  HEADER_VERSION,
  ID_BYTES_MAX,
  isVisibleAscii,
  LENGTH_UNKNOWN,
  U32_MAX,
} from './header-layout.js';

/** Checks every field and returns the size of the encoded header. */
export function headerBytes(header: FrameHeader): number {
  let bytes = HEADER_FIXED_BYTES;
  if (header.msgId !== undefined) bytes += 1 + idBytes('msgId', header.msgId);
  if (header.corrId !== undefined) bytes += 1 + idBytes('corrId', header.corrId);
  if ((header.compression === undefined) !== (header.rawLen === undefined)) {
    throw new HeaderError('rawLen', header.rawLen, 'rawLen exactly when compression is given');
  }
  if (header.rawLen !== undefined) bytes += checkU32('rawLen', header.rawLen);
  if (header.bodyId !== undefined) bytes += checkU32('bodyId', header.bodyId) + 8;
  return bytes;
}

/** Writes a header already measured by `headerBytes`. */
export function writeHeader(header: FrameHeader, out: Buffer, from: number): void {
  let flags = 0;
  let at = from + HEADER_FIXED_BYTES;
  if (header.msgId !== undefined) {
    flags |= HAS_MSG_ID;
    at = writeId(out, at, header.msgId);
  }
  if (header.corrId !== undefined) {
    flags |= HAS_CORR_ID;
    at = writeId(out, at, header.corrId);
  }
  if (header.rawLen !== undefined) {
    flags |= HAS_RAW_LEN;
    at = out.writeUInt32LE(header.rawLen, at);
  }
  if (header.bodyId !== undefined) {
    flags |= HAS_BODY;
    at = out.writeUInt32LE(header.bodyId, at);
    out.writeBigUInt64LE(header.bodyLength === undefined ? LENGTH_UNKNOWN : BigInt(header.bodyLength), at);
  }
  out[from] = HEADER_VERSION;
  out[from + 1] = header.compression === undefined ? 0 : header.compression === 'gzip' ? 1 : 2;
  out[from + 2] = flags;
  out[from + 3] = 0;
}

function idBytes(field: string, id: string): number {
  if (id.length === 0 || id.length > ID_BYTES_MAX || !isVisibleAscii(id)) {
    throw new HeaderError(field, id, '1 to 64 visible ASCII characters');
  }
  return id.length;
}

function checkU32(field: string, value: number): 4 {
  if (!Number.isInteger(value) || value < 0 || value > U32_MAX)
    throw new HeaderError(field, value, 'an unsigned integer of 32 bits');
  return 4;
}

function writeId(out: Buffer, at: number, text: string): number {
  out[at] = text.length;
  // For texts as short as ids a loop is faster than the call into native code.
  for (let i = 0; i < text.length; i += 1) out[at + 1 + i] = text.charCodeAt(i);
  return at + 1 + text.length;
}
