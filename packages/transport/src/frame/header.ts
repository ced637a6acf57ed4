// Hot path: one object per header that has fields, none for a frame without.
import { isUtf8 } from 'node:buffer';
import { isSubject } from '../access/subject.js';
import { HeaderError } from '../errors.js';

export type Compression = 'gzip' | 'brotli';

/** What a frame of the full dialect says besides its body (docs/wire-protocol.md §5). */
export interface FrameHeader {
  readonly msgId?: string | undefined;
  readonly corrId?: string | undefined;
  readonly subject?: string | undefined;
  readonly attempt?: number | undefined;
  /** Milliseconds left, counted from arrival: frames never carry instants. */
  readonly deadlineMs?: number | undefined;
  /** A W3C traceparent, `00-<32 hex>-<16 hex>-<2 hex>`. */
  readonly trace?: string | undefined;
  readonly compression?: Compression | undefined;
  /** Body length before compression. Present exactly when `compression` is. */
  readonly rawLen?: number | undefined;
  readonly bodyId?: number | undefined;
  /** Length of a body in pieces; absent where it is not known yet. */
  readonly bodyLength?: number | undefined;
  readonly extras?: ReadonlyMap<string, string> | undefined;
}

export const NO_HEADER: FrameHeader = Object.freeze({});

/** What is wrong with received header bytes, and which answer that has. */
export interface HeaderFault {
  readonly answer: 'MALFORMED' | 'FRAME' | 'BAD_SUBJECT';
  readonly field: string;
}

const VERSION = 1;
const FIXED_BYTES = 4;
const ID_BYTES_MAX = 64;
const SUBJECT_BYTES_MAX = 255;
const EXTRAS_MAX = 32;
const EXTRA_VALUE_BYTES_MAX = 1024;
const TRACE_BYTES = 25;
const U32_MAX = 0xffff_ffff;
const LENGTH_UNKNOWN = 0xffff_ffff_ffff_ffffn;

const HAS_MSG_ID = 1;
const HAS_CORR_ID = 2;
const HAS_SUBJECT = 4;
const HAS_ATTEMPT = 8;
const HAS_DEADLINE = 16;
const HAS_TRACE = 32;
const HAS_RAW_LEN = 64;
const HAS_BODY = 128;
const HAS_EXTRAS = 256;
const RESERVED = 0xfe00;

/** Checks every field and returns the size of the encoded header. */
export function headerBytes(header: FrameHeader): number {
  let bytes = FIXED_BYTES;
  if (header.msgId !== undefined) bytes += 1 + idBytes('msgId', header.msgId);
  if (header.corrId !== undefined) bytes += 1 + idBytes('corrId', header.corrId);
  if (header.subject !== undefined) {
    if (!isSubject(header.subject))
      throw new HeaderError('subject', header.subject, 'tokens of [A-Za-z0-9_-] joined by dots');
    bytes += 1 + header.subject.length;
  }
  if (header.attempt !== undefined) bytes += checkU32('attempt', header.attempt);
  if (header.deadlineMs !== undefined) bytes += checkU32('deadlineMs', header.deadlineMs);
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
  let at = from + FIXED_BYTES;
  if (header.msgId !== undefined) {
    flags |= HAS_MSG_ID;
    at = writeShort(out, at, header.msgId);
  }
  if (header.corrId !== undefined) {
    flags |= HAS_CORR_ID;
    at = writeShort(out, at, header.corrId);
  }
  if (header.subject !== undefined) {
    flags |= HAS_SUBJECT;
    at = writeShort(out, at, header.subject);
  }
  if (header.attempt !== undefined) {
    flags |= HAS_ATTEMPT;
    at = out.writeUInt32LE(header.attempt, at);
  }
  if (header.deadlineMs !== undefined) {
    flags |= HAS_DEADLINE;
    at = out.writeUInt32LE(header.deadlineMs, at);
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
  out[from] = VERSION;
  out[from + 1] = header.compression === undefined ? 0 : header.compression === 'gzip' ? 1 : 2;
  out[from + 2] = flags & 0xff;
  out[from + 3] = flags >>> 8;
}

/** Reads `bytes[start..end)` as one whole header. Never throws: a fault names the field. */
export function readHeader(bytes: Buffer, start: number, end: number): FrameHeader | HeaderFault {
  if (start === end) return NO_HEADER;
  if (end - start < FIXED_BYTES || bytes[start] !== VERSION) return malformed('version');
  const method = bytes[start + 1] as number; // four bytes are there
  const flags = bytes.readUInt16LE(start + 2);
  if ((flags & RESERVED) !== 0 || method > 2) return { answer: 'FRAME', field: 'flags' };
  if (flags === 0 && method === 0) return end - start === FIXED_BYTES ? NO_HEADER : malformed('header');
  const reader = new HeaderReader(bytes, start + FIXED_BYTES, end);
  return reader.read(flags, method);
}

export function isHeaderFault(header: FrameHeader | HeaderFault): header is HeaderFault {
  return 'answer' in header;
}

class HeaderReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #fault: HeaderFault | null = null;

  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  // Every decoded header has the same fields in the same order, so that code reading headers stays monomorphic.
  read(flags: number, method: number): FrameHeader | HeaderFault {
    const msgId = flags & HAS_MSG_ID ? this.#id('msgId') : undefined;
    const corrId = flags & HAS_CORR_ID ? this.#id('corrId') : undefined;
    const subject = flags & HAS_SUBJECT ? this.#subject() : undefined;
    const attempt = flags & HAS_ATTEMPT ? this.#u32('attempt') : undefined;
    const deadlineMs = flags & HAS_DEADLINE ? this.#u32('deadlineMs') : undefined;
    const trace = flags & HAS_TRACE ? this.#trace() : undefined;
    const rawLen = flags & HAS_RAW_LEN ? this.#u32('rawLen') : undefined;
    const bodyId = flags & HAS_BODY ? this.#u32('bodyId') : undefined;
    const bodyLength = flags & HAS_BODY ? this.#bodyLength() : undefined;
    const extras = flags & HAS_EXTRAS ? this.#extras() : undefined;
    if (this.#fault !== null) return this.#fault;
    if (this.#at !== this.#end) return malformed('header');
    if ((method !== 0) !== (rawLen !== undefined)) return malformed('rawLen');
    if (bodyId !== undefined && (bodyId === 0 || method !== 0)) return malformed('bodyId');
    const compression = method === 0 ? undefined : method === 1 ? 'gzip' : 'brotli';
    return {
      msgId,
      corrId,
      subject,
      attempt,
      deadlineMs,
      trace,
      compression,
      rawLen,
      bodyId,
      bodyLength,
      extras,
    };
  }

  #take(bytes: number, field: string): number {
    if (this.#fault !== null) return -1;
    if (this.#end - this.#at < bytes) {
      this.#fault = malformed(field);
      return -1;
    }
    const at = this.#at;
    this.#at += bytes;
    return at;
  }

  #u32(field: string): number {
    const at = this.#take(4, field);
    return at < 0 ? 0 : this.#bytes.readUInt32LE(at);
  }

  #short(field: string, bytesMax: number): string {
    const at = this.#take(1, field);
    const length = at < 0 ? 0 : (this.#bytes[at] as number); // `take` saw the byte
    if (length === 0 || length > bytesMax) {
      this.#fault ??= malformed(field);
      return '';
    }
    const from = this.#take(length, field);
    return from < 0 ? '' : this.#bytes.toString('latin1', from, from + length);
  }

  #id(field: string): string {
    const text = this.#short(field, ID_BYTES_MAX);
    if (this.#fault === null && !isVisibleAscii(text)) this.#fault = malformed(field);
    return text;
  }

  #subject(): string {
    const text = this.#short('subject', SUBJECT_BYTES_MAX);
    if (this.#fault === null && !isSubject(text)) this.#fault = { answer: 'BAD_SUBJECT', field: 'subject' };
    return text;
  }

  #trace(): string {
    const at = this.#take(TRACE_BYTES, 'trace');
    if (at < 0) return '';
    const hex = this.#bytes.toString('hex', at, at + TRACE_BYTES);
    return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-${hex.slice(48)}`;
  }

  #bodyLength(): number | undefined {
    const at = this.#take(8, 'bodyLength');
    if (at < 0) return undefined;
    const length = this.#bytes.readBigUInt64LE(at);
    if (length === LENGTH_UNKNOWN) return undefined;
    if (length > BigInt(Number.MAX_SAFE_INTEGER)) this.#fault ??= malformed('bodyLength');
    return Number(length);
  }

  #extras(): ReadonlyMap<string, string> {
    const extras = new Map<string, string>();
    const at = this.#take(1, 'extras');
    const count = at < 0 ? 0 : (this.#bytes[at] as number); // `take` saw the byte
    if (count === 0 || count > EXTRAS_MAX) this.#fault ??= malformed('extras');
    for (let i = 0; i < count && this.#fault === null; i += 1) {
      const key = this.#id('extras');
      const value = this.#extraValue();
      if (extras.has(key)) this.#fault ??= malformed('extras');
      extras.set(key, value);
    }
    return extras;
  }

  #extraValue(): string {
    const at = this.#take(2, 'extras');
    const length = at < 0 ? 0 : this.#bytes.readUInt16LE(at);
    if (length > EXTRA_VALUE_BYTES_MAX) this.#fault ??= malformed('extras');
    const from = this.#take(length, 'extras');
    if (from < 0) return '';
    const view = this.#bytes.subarray(from, from + length);
    if (!isUtf8(view)) this.#fault ??= malformed('extras');
    return view.toString('utf8');
  }
}

function malformed(field: string): HeaderFault {
  return { answer: 'MALFORMED', field };
}

function isVisibleAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}

function idBytes(field: string, id: string): number {
  if (id.length === 0 || id.length > ID_BYTES_MAX || !isVisibleAscii(id)) {
    throw new HeaderError(field, id, '1 to 64 visible ASCII characters');
  }
  return id.length;
}

function checkU32(field: string, value: number): 4 {
  if (!Number.isInteger(value) || value < 0 || value > U32_MAX)
    throw new HeaderError(field, value, 'an integer of 32 bits');
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
    at = writeShort(out, at, key);
    const written = out.write(value, at + 2, 'utf8');
    out.writeUInt16LE(written, at);
    at += 2 + written;
  }
}

function writeShort(out: Buffer, at: number, text: string): number {
  out[at] = text.length;
  // A loop beats the call into native code for the lengths ids have.
  for (let i = 0; i < text.length; i += 1) out[at + 1 + i] = text.charCodeAt(i);
  return at + 1 + text.length;
}
