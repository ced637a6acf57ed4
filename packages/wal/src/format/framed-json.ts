// STORE and CURRENT: one line of framing, one line of JSON, nothing else.

import { crc32 } from 'node:zlib';
import { WalCorruptError } from '../wal-error.js';

export function encodeFramedJson(kind: string, value: unknown): Buffer {
  const body = Buffer.from(`${JSON.stringify(value)}\n`);
  return Buffer.concat([Buffer.from(frameLine(kind, body)), body]);
}

export function decodeFramedJson(kind: string, bytes: Buffer): unknown {
  const newline = bytes.indexOf(10);
  const body = bytes.subarray(newline + 1);
  // Comparing with a newly written line checks magic, version, length, CRC and spelling at once.
  if (newline < 0 || bytes.toString('latin1', 0, newline + 1) !== frameLine(kind, body)) {
    throw new WalCorruptError({ file: kind, offset: 0, reason: 'framing, length or crc is wrong' });
  }
  return JSON.parse(body.toString());
}

function frameLine(kind: string, body: Buffer): string {
  return `TROUPE-${kind} 1 ${body.length} ${crc32(body).toString(16).padStart(8, '0')}\n`;
}
