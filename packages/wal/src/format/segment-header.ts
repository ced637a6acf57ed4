import { crc32 } from 'node:zlib';
import { FORMAT_MAJOR, FORMAT_MINOR } from './format-version.js';
import { PAGE_BYTES } from './page-padding.js';
import { readUint64, writeUint64 } from './uint64.js';

const MAGIC = 0x4c415754; // "TWAL" read as a little-endian u32

export interface SegmentHeader {
  readonly major: number;
  readonly storeId: string;
  readonly seq: number;
  readonly bytes: number;
  readonly salt: number;
}

export function encodeSegmentHeader(header: Omit<SegmentHeader, 'major'>): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  page.writeUInt32LE(MAGIC, 0);
  page.writeUInt16LE(FORMAT_MAJOR, 4);
  page.writeUInt16LE(FORMAT_MINOR, 6);
  page.write(header.storeId, 8, 'hex');
  writeUint64(page, header.seq, 24);
  page.writeUInt32LE(header.bytes, 32);
  page.writeUInt32LE(header.salt, 36);
  page.writeUInt32LE(crc32(page.subarray(0, PAGE_BYTES - 4)), PAGE_BYTES - 4);
  return page;
}

/** Undefined if the page is not a valid segment header. The caller checks the version. */
export function decodeSegmentHeader(page: Buffer): SegmentHeader | undefined {
  if (page.length < PAGE_BYTES || page.readUInt32LE(0) !== MAGIC) return undefined;
  if (crc32(page.subarray(0, PAGE_BYTES - 4)) !== page.readUInt32LE(PAGE_BYTES - 4)) return undefined;
  return {
    major: page.readUInt16LE(4),
    storeId: page.toString('hex', 8, 24),
    seq: readUint64(page, 24),
    bytes: page.readUInt32LE(32),
    salt: page.readUInt32LE(36),
  };
}

export function segmentName(seq: number): string {
  return `wal-${String(seq).padStart(10, '0')}.seg`;
}

export function segmentSeqOf(name: string): number | undefined {
  const match = /^wal-(\d{10,16})\.seg$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}
