import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryCodec } from '#src/codec/binary-codec.js';
import {
  BATCH_HEADER_BYTES,
  batchExtent,
  bodyCrc,
  closeBatch,
  crcSeed,
  FLAG_LINK,
  ORIGIN,
  readBatchHeader,
} from '#src/format/batch.js';
import { isZero, lastNonZero, padToPage } from '#src/format/page.js';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  segmentName,
  segmentSeqOf,
} from '#src/format/segment-header.js';
import { readUint64, writeUint64 } from '#src/format/uint64.js';

const batch = suite('batch');
const SEGMENT = { seq: 1, salt: 0x01020304 };

/** The example of docs/wal-format.md: two records in the first segment of a log. */
function exampleBatch(): Buffer {
  const bytes = Buffer.alloc(batchExtent(64));
  let end = binaryCodec.encode(bytes, BATCH_HEADER_BYTES, 1, Buffer.from('ann'), 1, undefined);
  end = binaryCodec.encode(bytes, end, 2, Buffer.from('{"to":"bob"}'), 2, undefined);
  closeBatch(
    bytes,
    end - BATCH_HEADER_BYTES,
    { position: ORIGIN, firstLsn: 1, count: 2, epoch: 1, flags: FLAG_LINK },
    crcSeed(SEGMENT),
  );
  return bytes.subarray(0, end + 4);
}

batch('a closed batch reads back with its fields and both checksums', () => {
  const bytes = Buffer.concat([exampleBatch(), Buffer.alloc(100)]);
  const header = readBatchHeader(bytes, 0, crcSeed(SEGMENT));
  assert.ok(header !== undefined);
  assert.is(header.batchSeq, 1);
  assert.is(header.firstLsn, 1);
  assert.is(header.count, 2);
  assert.is(header.flags, FLAG_LINK);
  assert.is(bodyCrc(bytes, 0, header), bytes.readUInt32LE(BATCH_HEADER_BYTES + header.bodyLen));
});

batch('a batch is invalid in any other segment', () => {
  const bytes = exampleBatch();
  assert.is(readBatchHeader(bytes, 0, crcSeed({ seq: 2, salt: SEGMENT.salt })), undefined);
  assert.is(readBatchHeader(bytes, 0, crcSeed({ seq: 1, salt: 9 })), undefined);
});

batch('a changed byte anywhere in a batch is detected', () => {
  const bytes = exampleBatch();
  for (let offset = 0; offset < bytes.length; offset += 1) {
    const damaged = Buffer.from(bytes);
    damaged[offset] = (damaged[offset] ?? 0) ^ 1;
    const header = readBatchHeader(damaged, 0, crcSeed(SEGMENT));
    assert.ok(header === undefined || bodyCrc(damaged, 0, header) === undefined, `byte ${offset}`);
  }
});

batch('the example in docs/wal-format.md is this batch, byte for byte', () => {
  const page = readFileSync(new URL('../../../../docs/wal-format.md', import.meta.url), 'utf8');
  const dump = /```hex\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const hex = dump
    .split('\n')
    .map((line) => line.slice(6, 54).replaceAll(' ', ''))
    .join('');
  assert.is(hex, exampleBatch().toString('hex'));
});

batch('a segment header reads back, and a changed byte is detected', () => {
  const header = { storeId: 'ab'.repeat(16), seq: 2 ** 40, bytes: 65_536, salt: 0xffffffff };
  const page = encodeSegmentHeader(header);
  assert.equal(decodeSegmentHeader(page), { major: 1, ...header });
  for (let offset = 0; offset < page.length; offset += 1) {
    const damaged = Buffer.from(page);
    damaged[offset] = (damaged[offset] ?? 0) ^ 0x80;
    assert.is(decodeSegmentHeader(damaged), undefined);
  }
  assert.is(segmentSeqOf(segmentName(12)), 12);
  assert.is(segmentSeqOf('wal-1.seg'), undefined);
});

batch('a 64-bit number above the safe integers reads as NaN', () => {
  const bytes = Buffer.alloc(8);
  writeUint64(bytes, Number.MAX_SAFE_INTEGER, 0);
  assert.is(readUint64(bytes, 0), Number.MAX_SAFE_INTEGER);
  bytes.fill(0xff);
  assert.ok(Number.isNaN(readUint64(bytes, 0)));
});

batch('sizes are padded to pages, and nonzero bytes are found', () => {
  assert.equal([0, 1, 4_096, 4_097].map(padToPage), [0, 4_096, 4_096, 8_192]);
  const bytes = Buffer.alloc(200_000);
  assert.ok(isZero(bytes, 0, bytes.length));
  assert.is(lastNonZero(bytes, 5, 100), 5);
  bytes[199_999] = 1;
  assert.not.ok(isZero(bytes, 0, bytes.length));
  assert.ok(isZero(bytes, 0, 199_999));
  assert.is(lastNonZero(bytes, 0, bytes.length), 200_000);
});

batch.run();
