// A small record that is overwritten in place: two copies on two pages, written in turn, so that a torn write
// leaves the older one. Both are read with one call. EPOCH and MARK are such files.

import { crc32 } from 'node:zlib';
import { PAGE_BYTES } from './page-padding.js';
import { readUint64, writeUint64 } from './uint64.js';

const COPY_BYTES = 64;
export const PAIR_BYTES = 2 * COPY_BYTES;
/** The copies meet at a page boundary. */
export const PAIR_OFFSET = PAGE_BYTES - COPY_BYTES;
export const PAIR_FILE_BYTES = PAGE_BYTES + COPY_BYTES;
const PAYLOAD_OFFSET = 16;

export interface PairedRecord {
  /** The copy with the higher number is the newer one; an even number is in the first copy. */
  readonly number: number;
  readonly payload: Buffer;
}

/** Where the copy with this number is written. */
export function copyOffset(number: number): number {
  return PAIR_OFFSET + (number % 2) * COPY_BYTES;
}

export function encodeCopy(magic: string, number: number, payload: Uint8Array): Buffer {
  const copy = Buffer.alloc(COPY_BYTES);
  copy.write(magic, 0, 4, 'latin1');
  writeUint64(copy, number, 8);
  copy.set(payload, PAYLOAD_OFFSET);
  copy.writeUInt32LE(crcOf(copy), 4);
  return copy;
}

/** The newer valid copy of the pair at the beginning of `bytes`; undefined if neither is valid. */
export function newestCopy(magic: string, bytes: Buffer): PairedRecord | undefined {
  const first = decodeCopy(magic, bytes, 0);
  const second = decodeCopy(magic, bytes, COPY_BYTES);
  if (first === undefined || second === undefined) return first ?? second;
  return second.number > first.number ? second : first;
}

function decodeCopy(magic: string, bytes: Buffer, offset: number): PairedRecord | undefined {
  const copy = bytes.subarray(offset, offset + COPY_BYTES);
  if (copy.length < COPY_BYTES || copy.toString('latin1', 0, 4) !== magic) return undefined;
  if (copy.readUInt32LE(4) !== crcOf(copy)) return undefined;
  const number = readUint64(copy, 8);
  return copyOffset(number) === PAIR_OFFSET + offset
    ? { number, payload: Buffer.from(copy.subarray(PAYLOAD_OFFSET)) }
    : undefined;
}

function crcOf(copy: Buffer): number {
  return crc32(copy.subarray(8, COPY_BYTES), crc32(copy.subarray(0, 4)));
}
