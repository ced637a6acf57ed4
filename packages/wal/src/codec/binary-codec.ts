// Hot path: no allocation per record when encoding, one view per record when decoding.
//
//   len u32 · type u8 · ver u8 · flags u16 · [sha256 32 · length u32] · payload

import type { BlobRef } from '../blob/blob-ref.js';
import { type RecordCodec, RecordFormatError } from './record-codec.js';

const HEAD_BYTES = 8;
const BLOB_BYTES = 36;
const FLAG_BLOB = 1;
const FLAG_IGNORABLE = 0x8000;

export const binaryCodec: RecordCodec = {
  name: 'binary',
  batchFlag: 0,

  encodedMax: (payloadBytes, blob) => HEAD_BYTES + payloadBytes + (blob === undefined ? 0 : BLOB_BYTES),

  encode(out, at, _lsn, payload, type, blob) {
    const len = payload.length + (blob === undefined ? 0 : BLOB_BYTES);
    out[at] = len;
    out[at + 1] = len >>> 8;
    out[at + 2] = len >>> 16;
    out[at + 3] = len >>> 24;
    out[at + 4] = type;
    out[at + 5] = 0;
    out[at + 6] = blob === undefined ? 0 : FLAG_BLOB;
    out[at + 7] = 0;
    let start = at + HEAD_BYTES;
    if (blob !== undefined) {
      out.write(blob.sha256, start, 'hex');
      out.writeUInt32LE(blob.bytes, start + 32);
      start += BLOB_BYTES;
    }
    out.set(payload, start);
    return start + payload.length;
  },

  decode(body, from, to, firstLsn, count, visit) {
    let at = from;
    for (let lsn = firstLsn; lsn < firstLsn + count; lsn += 1) {
      if (at + HEAD_BYTES > to) throw new RecordFormatError(lsn, 'record head beyond the batch');
      const end = at + HEAD_BYTES + body.readUInt32LE(at);
      if (end > to) throw new RecordFormatError(lsn, 'record longer than the batch');
      const tail = body.readUInt16LE(at + 6);
      const known = (tail & ~(FLAG_BLOB | FLAG_IGNORABLE)) === 0 && body[at + 5] === 0;
      if (known) visitRecord(body, at, end, lsn, tail, visit);
      else if ((tail & FLAG_IGNORABLE) === 0)
        throw new RecordFormatError(lsn, `unknown record flags ${tail}`);
      at = end;
    }
    return at;
  },
};

function visitRecord(
  body: Buffer,
  at: number,
  end: number,
  lsn: number,
  flags: number,
  visit: (lsn: number, payload: Buffer, type: number, blob: BlobRef | undefined) => void,
): void {
  const start = at + HEAD_BYTES;
  const type = body[at + 4] ?? 0;
  if ((flags & FLAG_BLOB) === 0) {
    visit(lsn, body.subarray(start, end), type, undefined);
    return;
  }
  if (start + BLOB_BYTES > end) throw new RecordFormatError(lsn, 'blob reference beyond the record');
  const blob = { sha256: body.toString('hex', start, start + 32), bytes: body.readUInt32LE(start + 32) };
  visit(lsn, body.subarray(start + BLOB_BYTES, end), type, blob);
}
