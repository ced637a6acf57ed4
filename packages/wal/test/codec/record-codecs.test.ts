import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { BlobRef } from '#src/blob/blob-ref.js';
import { binaryCodec } from '#src/codec/binary-codec.js';
import { jsonlCodec } from '#src/codec/jsonl-codec.js';
import { type RecordCodec, RecordFormatError } from '#src/codec/record-codec.js';

const codecs = suite('record codecs');
const BLOB: BlobRef = { sha256: 'ab'.repeat(32), bytes: 77 };

interface Written {
  readonly payload: Uint8Array;
  readonly type: number;
  readonly hasBlob: boolean;
}

function encode(codec: RecordCodec, records: readonly Written[], firstLsn: number): Buffer {
  const blob = (record: Written): BlobRef | undefined => (record.hasBlob ? BLOB : undefined);
  const bytesMax = records.reduce(
    (sum, record) => sum + codec.encodedMax(record.payload.length, blob(record)),
    0,
  );
  const out = Buffer.alloc(bytesMax);
  let end = 0;
  for (const [index, record] of records.entries()) {
    end = codec.encode(out, end, firstLsn + index, record.payload, record.type, blob(record));
  }
  return out.subarray(0, end);
}

function decode(
  codec: RecordCodec,
  body: Buffer,
  firstLsn: number,
  count: number,
): { lsn: number; written: Written }[] {
  const seen: { lsn: number; written: Written }[] = [];
  codec.decode(body, 0, body.length, firstLsn, count, (lsn, payload, type, blob) => {
    if (blob !== undefined) assert.equal(blob, BLOB);
    seen.push({ lsn, written: { payload: Uint8Array.from(payload), type, hasBlob: blob !== undefined } });
  });
  return seen;
}

const payloads = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => Uint8Array.from(Buffer.from(text))),
  fc
    .constantFrom('', '{}', '"a\\nb"', '[1,\n2]', 'null', '\ufeff{}', '{"event":1}')
    .map((text) => Uint8Array.from(Buffer.from(text))),
);
const records = fc.array(
  fc.record(
    { payload: payloads, type: fc.integer({ min: 0, max: 255 }), hasBlob: fc.boolean() },
    { noNullPrototype: true },
  ),
  { maxLength: 12 },
);

for (const codec of [binaryCodec, jsonlCodec]) {
  codecs(`${codec.name}: a decoded record equals the encoded one, byte for byte`, () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 2 ** 40 }), (written, firstLsn) => {
        const seen = decode(codec, encode(codec, written, firstLsn), firstLsn, written.length);
        assert.equal(
          seen,
          written.map((record, index) => ({ lsn: firstLsn + index, written: record })),
        );
      }),
      { numRuns: 300 },
    );
  });

  codecs(`${codec.name}: a body truncated at any byte is refused, and no byte beyond its end is read`, () => {
    const written = ['one', '{"two":2}', 'three'].map((text) => ({
      payload: Buffer.from(text),
      type: 1,
      hasBlob: true,
    }));
    const body = encode(codec, written, 5);
    for (let length = 0; length < body.length; length += 1) {
      assert.throws(
        () => decode(codec, body.subarray(0, length), 5, 3),
        (error: unknown) => error instanceof RecordFormatError,
      );
    }
    const end = codec.decode(body, 0, body.length, 5, 2, () => undefined);
    assert.equal(decode(codec, body.subarray(end), 7, 1), decode(codec, body, 5, 3).slice(2));
  });
}

codecs('jsonl: an event is one line of JSON after its length and checksum', () => {
  const body = encode(
    jsonlCodec,
    [{ payload: Buffer.from('{"type":"enqueue","job":7}'), type: 2, hasBlob: false }],
    41,
  );
  const line = body.toString();
  assert.match(
    line,
    /^[0-9a-f]{8} [0-9a-f]{8} \{"lsn":41,"type":2,"event":\{"type":"enqueue","job":7\}\}\n$/,
  );
  assert.is(Number.parseInt(line, 16), line.length - 19);
  assert.equal(JSON.parse(line.slice(18)), { lsn: 41, type: 2, event: { type: 'enqueue', job: 7 } });
});

codecs('jsonl: any flipped bit of a line is detected by length or checksum', () => {
  const body = encode(jsonlCodec, [{ payload: Buffer.from('{"a":1}'), type: 0, hasBlob: false }], 1);
  for (let offset = 0; offset < body.length; offset += 1) {
    const torn = Buffer.from(body);
    torn[offset] = (torn[offset] ?? 0) ^ 4;
    assert.throws(
      () => decode(jsonlCodec, torn, 1, 1),
      (error: unknown) => error instanceof RecordFormatError,
      `byte ${offset}`,
    );
  }
});

codecs('binary: a record with an unknown flag is refused, or skipped if it is marked ignorable', () => {
  const body = encode(binaryCodec, [{ payload: Buffer.from('x'), type: 0, hasBlob: false }], 1);
  body.writeUInt16LE(0x0002, 6);
  assert.throws(() => decode(binaryCodec, body, 1, 1), /unknown record flags/);
  body.writeUInt16LE(0x8002, 6);
  assert.equal(decode(binaryCodec, body, 1, 1), []);
});

codecs.run();
