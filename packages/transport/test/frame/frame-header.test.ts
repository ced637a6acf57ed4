import { type FrameHeader, FrameWriter, NO_HEADER } from '@troupe/transport';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isHeaderFault, readHeader } from '#src/frame/header-reader.js';
import { headerBytes } from '#src/frame/header-writer.js';

const header = suite('frame header');

const FULL: FrameHeader = {
  msgId: 'm-1',
  corrId: 'c-2',
  compression: 'gzip',
  rawLen: 10,
  bodyId: undefined,
  bodyLength: undefined,
};

function encode(fields: FrameHeader): Buffer {
  const writer = new FrameWriter();
  writer.writeMessage(64, fields, Buffer.alloc(0));
  return Buffer.concat(writer.takePieces()).subarray(11);
}

function decode(bytes: Buffer): ReturnType<typeof readHeader> {
  return readHeader(bytes, 0, bytes.length);
}

header('every field that is written is read back', () => {
  const bytes = encode(FULL);
  assert.is(bytes.length, headerBytes(FULL));
  assert.equal(decode(bytes), FULL);
});

header('a frame without header fields has a header length of zero', () => {
  const writer = new FrameWriter();
  writer.writeMessage(64, NO_HEADER, Buffer.from('x'));
  assert.is(Buffer.concat(writer.takePieces()).toString('hex'), '0800000040030000000000' + '78');
});

header('any header that can be written is read back', () => {
  const id = fc.string({
    minLength: 1,
    maxLength: 64,
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
  });
  const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
  const fields = fc.record({
    msgId: optional(id),
    corrId: optional(id),
    bodyId: optional(fc.integer({ min: 1, max: 0xffff_ffff })),
  });
  fc.assert(
    fc.property(fields, (written) => {
      const got = decode(encode(written));
      assert.not.ok(isHeaderFault(got));
      for (const key of Object.keys(written) as (keyof typeof written)[])
        assert.equal((got as FrameHeader)[key], written[key]);
    }),
    { numRuns: 500 },
  );
});

header('a header that is cut at any byte is malformed', () => {
  const bytes = encode(FULL);
  for (let end = 1; end < bytes.length; end += 1) {
    const got = decode(bytes.subarray(0, end));
    assert.ok(isHeaderFault(got), `cut at ${end}`);
  }
});

header('reserved bits and unknown compressions are errors of the frame', () => {
  for (const bit of [2, 3, 6, 7, 8, 15]) {
    const bytes = encode({ msgId: 'a' });
    bytes.writeUInt16LE(bytes.readUInt16LE(2) | (1 << bit), 2);
    assert.equal(decode(bytes), { errorName: 'FRAME', field: 'flags' }, `bit ${bit}`);
  }
  const method = encode({ msgId: 'a' });
  method[1] = 3;
  assert.equal(decode(method), { errorName: 'FRAME', field: 'flags' });
});

header('a fault carries the name of its field', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['01000100' + '00', 'MALFORMED', 'msgId'],
    ['01000100' + '0120', 'MALFORMED', 'msgId'],
    ['01010000', 'MALFORMED', 'rawLen'],
    ['01001000' + '00000000', 'MALFORMED', 'rawLen'],
    ['01002000' + '00000000' + 'ffffffffffffffff', 'MALFORMED', 'bodyId'],
    ['01002000' + '01000000' + '0000000000000080', 'MALFORMED', 'bodyLength'],
    ['02000000', 'MALFORMED', 'version'],
    [`${'01000100'}016100`, 'MALFORMED', 'header'],
    ['01000000' + '00', 'MALFORMED', 'header'],
  ];
  for (const [hex, errorName, field] of table)
    assert.equal(decode(Buffer.from(hex, 'hex')), { errorName, field }, hex);
});

header('the writer throws for every header that the reader would refuse', () => {
  const wrong: readonly FrameHeader[] = [
    { msgId: '' },
    { msgId: 'a'.repeat(65) },
    { corrId: 'with space' },
    { compression: 'gzip', rawLen: -1 },
    { compression: 'gzip', rawLen: 2 ** 32 },
    { bodyId: 2 ** 32 },
    { compression: 'gzip' },
    { rawLen: 1 },
  ];
  for (const fields of wrong)
    assert.throws(
      () => encode(fields),
      (error: Error & { code: string }) => error.code === 'ERR_FRAME_HEADER',
    );
});

header.run();
