// Hot path: a header is measured, then written in place.
import { isSubject } from '../access/subject-pattern.js';
import { HeaderError } from '../transport-error.js';
import type { FrameHeader } from './frame-header.js';
import {
  EXTRA_VALUE_BYTES_MAX,
  EXTRAS_MAX,
  HAS_BODY,
  HAS_CORR_ID,
  HAS_EXTRAS,
  HAS_MSG_ID,
  HAS_RAW_LEN,
  HAS_SUBJECT,
  HAS_TRACE,
  HEADER_FIXED_BYTES,
  HEADER_VERSION,
  ID_BYTES_MAX,
  isVisibleAscii,
  LENGTH_UNKNOWN,
  TRACE_BYTES,
  U32_MAX,
} from './header-layout.js';

/** Checks every field and returns the size of the encoded header. */
export function headerBytes(header: FrameHeader): number {
  let bytes = HEADER_FIXED_BYTES;
  if (header.msgId !== undefined) bytes += 1 + idBytes('msgId', header.msgId);
  if (header.corrId !== undefined) bytes += 1 + idBytes('corrId', header.corrId);
  if (header.subject !== undefined) {
    if (!isSubject(header.subject))
      throw new HeaderError('subject', header.subject, 'tokens of [A-Za-z0-9_-] joined by dots');
    bytes += 1 + header.subject.length;
  }
  if (header.trace !== undefined) bytes += checkTrace(header.trace);
  if ((header.compression === undefined) !== (header.rawLen === undefined)) {
    throw new HeaderError('rawLen', header.rawLen, 'rawLen exactly when compression is given');
  }
  if (header.rawLen !== undefined) bytes += checkU32('rawLen', header.rawLen);
  if (header.bodyId !== undefined) bytes += checkU32('bodyId', header.bodyId) + 8;
  if (header.extras !== undefined && header.extras.size > 0) bytes += extrasBytes(header.extras);
  return bytes;
}

/** Writes a header already measured by `headerBytes`. */
export function writeHeader(header: FrameHeader, out: Buffer, from: number): void {
  let flags = 0;
  let at = from + HEADER_FIXED_BYTES;
  if (header.msgId !== undefined) {
    flags |= HAS_MSG_ID;
    at = writeShortText(out, at, header.msgId);
  }
  if (header.corrId !== undefined) {
    flags |= HAS_CORR_ID;
    at = writeShortText(out, at, header.corrId);
  }
  if (header.subject !== undefined) {
    flags |= HAS_SUBJECT;
    at = writeShortText(out, at, header.subject);
  }
  if (header.trace !== undefined) {
    flags |= HAS_TRACE;
    at += out.write(header.trace.slice(3).replaceAll('-', ''), at, 'hex');
  }
  if (header.rawLen !== undefined) {
    flags |= HAS_RAW_LEN;
    at = out.writeUInt32LE(header.rawLen, at);
  }
  if (header.bodyId !== undefined) {
    flags |= HAS_BODY;
    at = out.writeUInt32LE(header.bodyId, at);
    at = out.writeBigUInt64LE(
      header.bodyLength === undefined ? LENGTH_UNKNOWN : BigInt(header.bodyLength),
      at,
    );
  }
  if (header.extras !== undefined && header.extras.size > 0) {
    flags |= HAS_EXTRAS;
    writeExtras(header.extras, out, at);
  }
  out[from] = HEADER_VERSION;
  out[from + 1] = header.compression === undefined ? 0 : header.compression === 'gzip' ? 1 : 2;
  out[from + 2] = flags & 0xff;
  out[from + 3] = flags >>> 8;
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

function checkTrace(trace: string): number {
  if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(trace))
    throw new HeaderError('trace', trace, 'a traceparent of version 00');
  return TRACE_BYTES;
}

function extrasBytes(extras: ReadonlyMap<string, string>): number {
  if (extras.size > EXTRAS_MAX) throw new HeaderError('extras', extras.size, `at most ${EXTRAS_MAX} keys`);
  let bytes = 1;
  for (const [key, value] of extras) {
    const valueBytes = Buffer.byteLength(value);
    if (valueBytes > EXTRA_VALUE_BYTES_MAX)
      throw new HeaderError(`extras.${key}`, valueBytes, `at most ${EXTRA_VALUE_BYTES_MAX} bytes`);
    bytes += 1 + idBytes('extras', key) + 2 + valueBytes;
  }
  return bytes;
}

function writeExtras(extras: ReadonlyMap<string, string>, out: Buffer, from: number): void {
  let at = from;
  out[at] = extras.size;
  at += 1;
  for (const [key, value] of extras) {
    at = writeShortText(out, at, key);
    const written = out.write(value, at + 2, 'utf8');
    out.writeUInt16LE(written, at);
    at += 2 + written;
  }
}

function writeShortText(out: Buffer, at: number, text: string): number {
  out[at] = text.length;
  // For texts as short as ids a loop is faster than the call into native code.
  for (let i = 0; i < text.length; i += 1) out[at + 1 + i] = text.charCodeAt(i);
  return at + 1 + text.length;
}
