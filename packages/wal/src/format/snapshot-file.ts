// Header and sections of a snapshot file. Layout in docs/wal-format.md.

import { crc32 } from 'node:zlib';
import { FORMAT_MAJOR, FORMAT_MINOR } from './format-version.js';
import { readUint64, writeUint64 } from './uint64.js';

export const SNAPSHOT_HEADER_BYTES = 36;
export const SECTION_HEAD_BYTES = 12;
export const SECTION_BYTES_MAX = 16 * 1024 * 1024;

export const SECTION_STATE = 1;
export const SECTION_BLOBS = 2;
export const SECTION_END = 3;

const MAGIC = 0x504e5354; // "TSNP" read as a little-endian u32
const LSN_AT = 24;
const CRC_AT = 32;

export function snapshotName(lsn: number): string {
  return `snap-${lsn}.snap`;
}

export interface SnapshotHeader {
  readonly major: number;
  readonly storeId: string;
  readonly lsn: number;
  readonly crc: number;
}

export function encodeSnapshotHeader(storeId: string, lsn: number): Buffer {
  const bytes = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt16LE(FORMAT_MAJOR, 4);
  bytes.writeUInt16LE(FORMAT_MINOR, 6);
  bytes.write(storeId, 8, 'hex');
  writeUint64(bytes, lsn, LSN_AT);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
  return bytes;
}

export function decodeSnapshotHeader(bytes: Buffer): SnapshotHeader | undefined {
  if (bytes.length < SNAPSHOT_HEADER_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  const crc = bytes.readUInt32LE(CRC_AT);
  if (crc32(bytes.subarray(0, CRC_AT)) !== crc) return undefined;
  return {
    major: bytes.readUInt16LE(4),
    storeId: bytes.toString('hex', 8, 24),
    lsn: readUint64(bytes, LSN_AT),
    crc,
  };
}

export interface SectionHead {
  readonly bytes: number;
  readonly kind: number;
  readonly crc: number;
}

export function encodeSectionHead(kind: number, payload: Uint8Array, previousCrc: number): Buffer {
  const head = Buffer.alloc(SECTION_HEAD_BYTES);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(kind, 4);
  head.writeUInt32LE(sectionCrc(head, payload, previousCrc), 8);
  return head;
}

export function decodeSectionHead(bytes: Buffer): SectionHead {
  return { bytes: bytes.readUInt32LE(0), kind: bytes.readUInt32LE(4), crc: bytes.readUInt32LE(8) };
}

/** Covers length and kind too, and continues the CRC of the previous section. */
export function sectionCrc(head: Buffer, payload: Uint8Array, previousCrc: number): number {
  return crc32(payload, crc32(head.subarray(0, 8), previousCrc));
}
