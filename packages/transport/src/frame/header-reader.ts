// Hot path: one object per header that has fields, none for a frame without.
import { isUtf8 } from 'node:buffer';
import { isSubject } from '../access/subject-pattern.js';
import { type FrameHeader, NO_HEADER } from './frame-header.js';
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
  RESERVED_FLAGS,
  SUBJECT_BYTES_MAX,
  TRACE_BYTES,
} from './header-layout.js';

/** A problem of received header bytes, and the error its sender gets. */
export interface HeaderFault {
  readonly errorName: 'MALFORMED' | 'FRAME' | 'BAD_SUBJECT';
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
    const subject = flags & HAS_SUBJECT ? this.readSubject() : undefined;
    const trace = flags & HAS_TRACE ? this.readTrace() : undefined;
    const rawLen = flags & HAS_RAW_LEN ? this.readU32('rawLen') : undefined;
    const bodyId = flags & HAS_BODY ? this.readU32('bodyId') : undefined;
    const bodyLength = flags & HAS_BODY ? this.readBodyLength() : undefined;
    const extras = flags & HAS_EXTRAS ? this.readExtras() : undefined;
    if (this.fault !== null) return this.fault;
    if (this.at !== this.end) return malformed('header');
    if ((method !== 0) !== (rawLen !== undefined)) return malformed('rawLen');
    if (bodyId !== undefined && (bodyId === 0 || method !== 0)) return malformed('bodyId');
    const compression = method === 0 ? undefined : method === 1 ? 'gzip' : 'brotli';
    return {
      msgId,
      corrId,
      subject,
      trace,
      compression,
      rawLen,
      bodyId,
      bodyLength,
      extras,
    };
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

  private readShortText(field: string, bytesMax: number): string {
    const at = this.take(1, field);
    const length = at < 0 ? 0 : (this.bytes[at] as number); // `take` saw the byte
    if (length === 0 || length > bytesMax) {
      this.fault ??= malformed(field);
      return '';
    }
    const from = this.take(length, field);
    return from < 0 ? '' : this.bytes.toString('latin1', from, from + length);
  }

  private readId(field: string): string {
    const text = this.readShortText(field, ID_BYTES_MAX);
    if (this.fault === null && !isVisibleAscii(text)) this.fault = malformed(field);
    return text;
  }

  private readSubject(): string {
    const text = this.readShortText('subject', SUBJECT_BYTES_MAX);
    if (this.fault === null && !isSubject(text)) this.fault = { errorName: 'BAD_SUBJECT', field: 'subject' };
    return text;
  }

  private readTrace(): string {
    const at = this.take(TRACE_BYTES, 'trace');
    if (at < 0) return '';
    const hex = this.bytes.toString('hex', at, at + TRACE_BYTES);
    return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-${hex.slice(48)}`;
  }

  private readBodyLength(): number | undefined {
    const at = this.take(8, 'bodyLength');
    if (at < 0) return undefined;
    const length = this.bytes.readBigUInt64LE(at);
    if (length === LENGTH_UNKNOWN) return undefined;
    if (length > BigInt(Number.MAX_SAFE_INTEGER)) this.fault ??= malformed('bodyLength');
    return Number(length);
  }

  private readExtras(): ReadonlyMap<string, string> {
    const extras = new Map<string, string>();
    const at = this.take(1, 'extras');
    const count = at < 0 ? 0 : (this.bytes[at] as number); // `take` saw the byte
    if (count === 0 || count > EXTRAS_MAX) this.fault ??= malformed('extras');
    for (let i = 0; i < count && this.fault === null; i += 1) {
      const key = this.readId('extras');
      const value = this.readExtraValue();
      if (extras.has(key)) this.fault ??= malformed('extras');
      extras.set(key, value);
    }
    return extras;
  }

  private readExtraValue(): string {
    const at = this.take(2, 'extras');
    const length = at < 0 ? 0 : this.bytes.readUInt16LE(at);
    if (length > EXTRA_VALUE_BYTES_MAX) this.fault ??= malformed('extras');
    const from = this.take(length, 'extras');
    if (from < 0) return '';
    const view = this.bytes.subarray(from, from + length);
    if (!isUtf8(view)) this.fault ??= malformed('extras');
    return view.toString('utf8');
  }
}

function malformed(field: string): HeaderFault {
  return { errorName: 'MALFORMED', field };
}
