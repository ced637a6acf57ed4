// The batch: the unit of write and of sync. Layout in docs/wal-format.md.
// Hot path: no allocation per record.

import { crc32 } from 'node:zlib';
import { padToPage } from './page.js';
import { readUint64, writeUint64 } from './uint64.js';

export const BATCH_HEADER_BYTES = 44;
export const BATCH_TRAILER_BYTES = 4;
export const BATCH_BYTES_MAX = 16 * 1024 * 1024;
const BODY_BYTES_MAX = BATCH_BYTES_MAX - BATCH_HEADER_BYTES - BATCH_TRAILER_BYTES;

export const FLAG_SEAL = 1;
export const FLAG_LINK = 2;
export const FLAG_JSONL = 4;
const FLAGS_KNOWN = FLAG_SEAL | FLAG_LINK | FLAG_JSONL;

const MAGIC = 0x54414254; // "TBAT" read as a little-endian u32

/** The state of the log after a batch, which the next batch must continue. */
export interface Position {
  readonly batch: number;
  readonly lsn: number;
  readonly crc: number;
}

export const ORIGIN: Position = { batch: 0, lsn: 0, crc: 0 };

export interface BatchHeader {
  readonly bodyLen: number;
  readonly batchSeq: number;
  readonly firstLsn: number;
  readonly count: number;
  readonly prevCrc: number;
  readonly epoch: number;
  readonly flags: number;
  readonly headerCrc: number;
}

/** Header fields chosen by the writer; the rest follows from the body and the segment. */
export interface BatchFields {
  readonly position: Position;
  readonly firstLsn: number;
  readonly count: number;
  readonly epoch: number;
  readonly flags: number;
}

/** Start value of the header's CRC. A batch of another segment does not validate with it. */
export function crcSeed(segment: { readonly seq: number; readonly salt: number }): number {
  return (segment.salt ^ (segment.seq % 2 ** 32)) >>> 0;
}

export function batchExtent(bodyLen: number): number {
  return padToPage(BATCH_HEADER_BYTES + bodyLen + BATCH_TRAILER_BYTES);
}

/**
 * Completes a batch whose body is already at BATCH_HEADER_BYTES: writes header, trailer and padding, and
 * returns the position after it. `bytes` must have room for the whole extent.
 */
export function closeBatch(bytes: Buffer, bodyLen: number, fields: BatchFields, seed: number): Position {
  const batch = fields.position.batch + 1;
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt32LE(bodyLen, 4);
  writeUint64(bytes, batch, 8);
  writeUint64(bytes, fields.firstLsn, 16);
  bytes.writeUInt32LE(fields.count, 24);
  bytes.writeUInt32LE(fields.position.crc, 28);
  bytes.writeUInt32LE(fields.epoch, 32);
  bytes.writeUInt32LE(fields.flags, 36);
  const headerCrc = crc32(bytes.subarray(0, 40), seed);
  bytes.writeUInt32LE(headerCrc, 40);
  const end = BATCH_HEADER_BYTES + bodyLen;
  const crc = crc32(bytes.subarray(BATCH_HEADER_BYTES, end), headerCrc);
  bytes.writeUInt32LE(crc, end);
  bytes.fill(0, end + BATCH_TRAILER_BYTES, batchExtent(bodyLen));
  return { batch, lsn: fields.firstLsn + fields.count - 1, crc };
}

/** The header at `at` if its own CRC and its fields are valid. Body and chain are not checked. */
export function readBatchHeader(bytes: Buffer, at: number, seed: number): BatchHeader | undefined {
  if (at + BATCH_HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== MAGIC) return undefined;
  const headerCrc = bytes.readUInt32LE(at + 40);
  if (crc32(bytes.subarray(at, at + 40), seed) !== headerCrc) return undefined;
  const header: BatchHeader = {
    bodyLen: bytes.readUInt32LE(at + 4),
    batchSeq: readUint64(bytes, at + 8),
    firstLsn: readUint64(bytes, at + 16),
    count: bytes.readUInt32LE(at + 24),
    prevCrc: bytes.readUInt32LE(at + 28),
    epoch: bytes.readUInt32LE(at + 32),
    flags: bytes.readUInt32LE(at + 36),
    headerCrc,
  };
  return hasValidFields(header) ? header : undefined;
}

function hasValidFields(header: BatchHeader): boolean {
  return (
    header.bodyLen <= BODY_BYTES_MAX &&
    header.batchSeq >= 1 &&
    header.firstLsn >= 1 &&
    (header.flags & ~FLAGS_KNOWN) === 0
  );
}

/** The body's CRC if it equals the one in the trailer, else undefined. `at` is where the batch begins. */
export function bodyCrc(bytes: Buffer, at: number, header: BatchHeader): number | undefined {
  const from = at + BATCH_HEADER_BYTES;
  const end = from + header.bodyLen;
  const crc = crc32(bytes.subarray(from, end), header.headerCrc);
  return bytes.readUInt32LE(end) === crc ? crc : undefined;
}
