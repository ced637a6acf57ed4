// One event a line, readable with any text tool:  <length hex8> <crc hex8> {"lsn":7,"type":0,"event":{…}}\n
// A payload that is JSON text on one line is included byte for byte; anything else is base64.

import { crc32 } from 'node:zlib';
import type { BlobRef } from '../blob/blob-ref.js';
import { FLAG_JSONL } from '../format/batch.js';
import { type RecordCodec, RecordFormatError } from './record-codec.js';

const PREFIX_BYTES = 18;
const OBJECT_OVERHEAD_MAX = 192;
const EVENT_KEY = ',"event":';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const jsonlCodec: RecordCodec = {
  name: 'jsonl',
  batchFlag: FLAG_JSONL,

  encodedMax: (payloadBytes) => PREFIX_BYTES + OBJECT_OVERHEAD_MAX + Math.ceil(payloadBytes / 3) * 4,

  encode(out, at, lsn, payload, type, blob) {
    const from = at + PREFIX_BYTES;
    let end = from + out.write(head(lsn, type, blob), from, 'latin1');
    if (isJsonLine(payload)) {
      end += out.write(EVENT_KEY, end, 'latin1');
      out.set(payload, end);
      end += payload.length;
    } else {
      const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
      end += out.write(`,"base64":"${bytes.toString('base64')}"`, end, 'latin1');
    }
    end += out.write('}', end, 'latin1');
    out.write(prefix(out.subarray(from, end)), at, 'latin1');
    end += out.write('\n', end, 'latin1');
    return end;
  },

  decode(body, from, to, firstLsn, count, visit) {
    let at = from;
    for (let lsn = firstLsn; lsn < firstLsn + count; lsn += 1) {
      const start = at + PREFIX_BYTES;
      const end = start + Number.parseInt(body.toString('latin1', at, at + 8), 16);
      if (!(end < to)) throw new RecordFormatError(lsn, 'line longer than the batch');
      const object = body.subarray(start, end);
      if (body.toString('latin1', at, start) !== prefix(object) || body[end] !== 10) {
        throw new RecordFormatError(lsn, 'line length or crc is wrong');
      }
      visitLine(object, lsn, visit);
      at = end + 1;
    }
    return at;
  },
};

function head(lsn: number, type: number, blob: BlobRef | undefined): string {
  const reference = blob === undefined ? '' : `,"blob":"${blob.sha256}","blobBytes":${blob.bytes}`;
  return `{"lsn":${lsn},"type":${type}${reference}`;
}

function prefix(object: Buffer): string {
  return `${hex8(object.length)} ${hex8(crc32(object))} `;
}

function hex8(value: number): string {
  return value.toString(16).padStart(8, '0');
}

function isJsonLine(payload: Uint8Array): boolean {
  if (payload.length === 0 || payload.includes(10) || payload.includes(13)) return false;
  try {
    JSON.parse(utf8.decode(payload));
    return true;
  } catch {
    return false; // Not JSON, or not UTF-8: base64 keeps every byte.
  }
}

function visitLine(
  object: Buffer,
  lsn: number,
  visit: (lsn: number, payload: Buffer, type: number, blob: BlobRef | undefined) => void,
): void {
  const line =
    /^\{"lsn":(\d+),"type":(\d+)(?:,"blob":"([0-9a-f]{64})","blobBytes":(\d+))?(,"event":|,"base64":")/.exec(
      object.toString('latin1', 0, OBJECT_OVERHEAD_MAX),
    );
  if (line === null || Number(line[1]) !== lsn)
    throw new RecordFormatError(lsn, 'line is not the record expected here');
  const blob = line[3] === undefined ? undefined : { sha256: line[3], bytes: Number(line[4]) };
  const start = line[0].length;
  const payload =
    line[5] === EVENT_KEY
      ? object.subarray(start, object.length - 1)
      : Buffer.from(object.toString('latin1', start, object.length - 2), 'base64');
  visit(lsn, payload, Number(line[2]), blob);
}
