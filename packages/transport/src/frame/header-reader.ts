// Hot path: one object per header that has fields, none for a frame without.
import { type FrameHeader, NO_HEADER } from './frame-header.js';
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
  RESERVED_FLAGS,
} from './header-layout.js';

/** A problem of received header bytes, and the error its sender gets. */
export interface HeaderFault {
  readonly errorName: 'MALFORMED' | 'FRAME';
  readonly field: string;
}

/** Reads `bytes[start..end)` as one whole header. Never throws: a fault has the name of the field. */
export function readHeader(bytes: Buffer, start: number, end: number): FrameHeader | HeaderFault {
  if (start === end) return NO_HEADER;
  if (end - start < HEADER_FIXED_BYTES || bytes[start] !== HEADER_VERSION) return malformed('version');
  const method = bytes[start + 1] as number; // four bytes are there
  const flags = bytes.readUInt16LE(start + 2);
  if ((flags & RESERVED_FLAGS) !== 0 || method > 2) return { errorName: 'FRAME', field: 'flags' };
  if (flags === 0 && method === 0)
    return end - start === HEADER_FIXED_BYTES ? NO_HEADER : malformed('header');
  const reader = new HeaderReader(bytes, start + HEADER_FIXED_BYTES, end);
  return reader.read(flags, method);
}

export function isHeaderFault(header: FrameHeader | HeaderFault): header is HeaderFault {
  return 'errorName' in header;
}

class HeaderReader {
  private readonly bytes: Buffer;
  private readonly end: number;
  private at: number;
  private fault: HeaderFault | null = null;

  constructor(bytes: Buffer, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  // All decoded headers have the same fields in the same order: code that reads them stays monomorphic.
  read(flags: number, method: number): FrameHeader | HeaderFault {
    const msgId = flags & HAS_MSG_ID ? this.readId('msgId') : undefined;
    const corrId = flags & HAS_CORR_ID ? this.readId('corrId') : undefined;
    const rawLen = flags & HAS_RAW_LEN ? this.readU32('rawLen') : undefined;
    const bodyId = flags & HAS_BODY ? this.readU32('bodyId') : undefined;
    const bodyLength = flags & HAS_BODY ? this.readBodyLength() : undefined;
    if (this.fault !== null) return this.fault;
    if (this.at !== this.end) return malformed('header');
    if ((method !== 0) !== (rawLen !== undefined)) return malformed('rawLen');
    if (bodyId !== undefined && (bodyId === 0 || method !== 0)) return malformed('bodyId');
    const compression = method === 0 ? undefined : method === 1 ? 'gzip' : 'brotli';
    return { msgId, corrId, compression, rawLen, bodyId, bodyLength };
  }

  private take(bytes: number, field: string): number {
    if (this.fault !== null) return -1;
    if (this.end - this.at < bytes) {
      this.fault = malformed(field);
      return -1;
    }
    const at = this.at;
    this.at += bytes;
    return at;
  }

  private readU32(field: string): number {
    const at = this.take(4, field);
    return at < 0 ? 0 : this.bytes.readUInt32LE(at);
  }

  private readId(field: string): string {
    const at = this.take(1, field);
    const length = at < 0 ? 0 : (this.bytes[at] as number); // `take` saw the byte
    if (length === 0 || length > ID_BYTES_MAX) {
      this.fault ??= malformed(field);
      return '';
    }
    const from = this.take(length, field);
    const text = from < 0 ? '' : this.bytes.toString('latin1', from, from + length);
    if (this.fault === null && !isVisibleAscii(text)) this.fault = malformed(field);
    return text;
  }

  private readBodyLength(): number | undefined {
    const at = this.take(8, 'bodyLength');
    if (at < 0) return undefined;
    const length = this.bytes.readBigUInt64LE(at);
    if (length === LENGTH_UNKNOWN) return undefined;
    if (length > BigInt(Number.MAX_SAFE_INTEGER)) this.fault ??= malformed('bodyLength');
    return Number(length);
  }
}

function malformed(field: string): HeaderFault {
  return { errorName: 'MALFORMED', field };
}
