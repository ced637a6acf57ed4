// Hot path: once per part of a stream that goes to a file or comes from one.
//
//   magic u32 · CRC-32 of the next 32 bytes u32 ·
//   CRC-32 of the body u32 · bytes of the body u32 · job f64 · first f64 · attempt u32 · count u32 ·
//   body: count payloads, each behind its length
import { crc32 } from 'node:zlib';
import { ByteReader } from '../../bytes/byte-reader.js';
import { ByteWriter } from '../../bytes/byte-writer.js';
import type { Payload } from '../../job/payload/payload.js';

const MAGIC = 0x4c505354; // TSPL
const HEAD_BYTES = 40;
const CHECKED_AT = 8;
/** Of one chunk. The writer reserves so much. */
const LENGTH_BYTES_MAX = 8;

/** Chunks of one attempt with consecutive numbers, as one block of a file. */
export interface BlockHead {
  readonly job: number;
  readonly attempt: number;
  readonly first: number;
  readonly count: number;
}

/** A block as it stands in a file. */
export interface FoundBlock extends BlockHead {
  readonly position: number;
  readonly bytes: number;
}

export function encodeBlock({ job, attempt, first, count }: BlockHead, chunks: readonly Payload[]): Buffer {
  let bytes = HEAD_BYTES;
  for (const chunk of chunks) bytes += chunk.length + LENGTH_BYTES_MAX;
  const out = new ByteWriter(bytes);
  for (let at = 0; at < HEAD_BYTES; at += 8) out.double(0);
  for (const chunk of chunks) out.payload(chunk);
  const { buffer, byteOffset, length } = out.view(0, out.length);
  const block = Buffer.from(buffer, byteOffset, length);
  const body = block.subarray(HEAD_BYTES);
  block.writeUInt32LE(MAGIC, 0);
  block.writeUInt32LE(crc32(body), 8);
  block.writeUInt32LE(body.length, 12);
  block.writeDoubleLE(job, 16);
  block.writeDoubleLE(first, 24);
  block.writeUInt32LE(attempt, 32);
  block.writeUInt32LE(count, 36);
  block.writeUInt32LE(crc32(block.subarray(CHECKED_AT, HEAD_BYTES)), 4);
  return block;
}

/** The blocks of a file, up to the first that is not whole: the rest was never finished. */
export function* scanBlocks(bytes: Uint8Array): Generator<FoundBlock> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let position = 0;
  for (;;) {
    const head = headAt(file, position);
    if (head === undefined) return;
    yield { ...head.block, position, bytes: head.bytes };
    position += head.bytes;
  }
}

/** Undefined: the block is damaged, or another. */
export function decodeBlock(bytes: Uint8Array, expected: BlockHead): Payload[] | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = headAt(file, 0);
  if (head === undefined || head.bytes !== file.length) return undefined;
  const { job, attempt, first, count } = head.block;
  const isExpected =
    job === expected.job &&
    attempt === expected.attempt &&
    first === expected.first &&
    count === expected.count;
  const body = file.subarray(HEAD_BYTES);
  if (!isExpected || crc32(body) !== file.readUInt32LE(8)) return undefined;
  const read = new BlockReader(body);
  return Array.from({ length: count }, () => read.payload());
}

function headAt(
  file: Buffer,
  position: number,
): { readonly block: BlockHead; readonly bytes: number } | undefined {
  if (position + HEAD_BYTES > file.length || file.readUInt32LE(position) !== MAGIC) return undefined;
  const checked = file.subarray(position + CHECKED_AT, position + HEAD_BYTES);
  const bytes = HEAD_BYTES + file.readUInt32LE(position + 12);
  if (crc32(checked) !== file.readUInt32LE(position + 4) || position + bytes > file.length) return undefined;
  const block = {
    job: file.readDoubleLE(position + 16),
    first: file.readDoubleLE(position + 24),
    attempt: file.readUInt32LE(position + 32),
    count: file.readUInt32LE(position + 36),
  };
  return { block, bytes };
}

/** The checksum of the block guarantees its bytes. */
class BlockReader extends ByteReader {
  override malformed(problem: string): Error {
    return new RangeError(`a block of the spill ${problem}`);
  }
}
