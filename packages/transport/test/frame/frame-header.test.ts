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
  subject: 'job.submit.mail',
  trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  compression: 'gzip',
  rawLen: 10,
  bodyId: undefined,
  bodyLength: undefined,
  extras: new Map([
    ['k', 'wert ü'],
    ['empty', ''],
  ]),
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
    subject: optional(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}(\.[A-Za-z0-9_-]{1,20}){0,5}$/)),
    bodyId: optional(fc.integer({ min: 1, max: 0xffff_ffff })),
    extras: optional(
      fc
        .array(fc.tuple(id, fc.string({ maxLength: 200 })), { minLength: 1, maxLength: 8 })
        .map((pairs) => new Map(pairs)),
    ),
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
  const bytes = encode({ msgId: 'a' });
  bytes[3] = 0x80;
  assert.equal(decode(bytes), { errorName: 'FRAME', field: 'flags' });
  const method = encode({ msgId: 'a' });
  method[1] = 3;
  assert.equal(decode(method), { errorName: 'FRAME', field: 'flags' });
});

header('a fault carries the name of its field', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['01000100' + '00', 'MALFORMED', 'msgId'],
    ['01000100' + '0120', 'MALFORMED', 'msgId'],
    ['01000400' + '022e61', 'BAD_SUBJECT', 'subject'],
    ['01000400' + '012a', 'BAD_SUBJECT', 'subject'],
    ['01000800' + '0000', 'MALFORMED', 'trace'],
    ['01010000', 'MALFORMED', 'rawLen'],
    ['01001000' + '00000000', 'MALFORMED', 'rawLen'],
    ['01002000' + '00000000' + 'ffffffffffffffff', 'MALFORMED', 'bodyId'],
    ['01002000' + '01000000' + '0000000000000080', 'MALFORMED', 'bodyLength'],
    ['01004000' + '00', 'MALFORMED', 'extras'],
    ['01004000' + '02' + '01610000' + '01610000', 'MALFORMED', 'extras'],
    ['01004000' + '01' + '01610100ff', 'MALFORMED', 'extras'],
    ['02000000', 'MALFORMED', 'version'],
    [`${'01000100'}016100`, 'MALFORMED', 'header'],
    ['01000000' + '00', 'MALFORMED', 'header'],
  ];
  for (const [hex, errorName, field] of table)
    assert.equal(decode(Buffer.from(hex, 'hex')), { errorName, field }, hex);
});

header('`__proto__` is an ordinary key of the extras', () => {
  const got = decode(encode({ extras: new Map([['__proto__', 'x']]) })) as FrameHeader;
  assert.is(got.extras?.get('__proto__'), 'x');
  assert.is(({} as Record<string, unknown>)['x'], undefined);
});

header('the writer throws for every header that the reader would refuse', () => {
  const wrong: readonly FrameHeader[] = [
    { msgId: '' },
    { msgId: 'a'.repeat(65) },
    { corrId: 'with space' },
    { subject: 'a..b' },
    { subject: 'a.*' },
    { subject: 'a'.repeat(65_536) },
    { compression: 'gzip', rawLen: -1 },
    { compression: 'gzip', rawLen: 2 ** 32 },
    { bodyId: 2 ** 32 },
    { trace: 'nonsense' },
    { compression: 'gzip' },
    { rawLen: 1 },
    { extras: new Map([['k', 'v'.repeat(1025)]]) },
  ];
  for (const fields of wrong)
    assert.throws(
      () => encode(fields),
      (error: Error & { code: string }) => error.code === 'ERR_FRAME_HEADER',
    );
});

header.run();
