import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { LedgerByteReader } from '#src/ledger/codec/ledger-byte-reader.js';
import { WireReader } from '#src/wire/wire-reader.js';

const readers = suite('byte reader');

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'no error';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

readers('numbers, doubles and texts round-trip', () => {
  void fc.assert(
    fc.property(fc.maxSafeNat(), fc.double(), fc.string({ unit: 'binary' }), (int, double, text) => {
      const out = new ByteWriter();
      out.int(int);
      out.double(double);
      out.text(text);
      const read = new WireReader(out.take());
      assert.is(read.int(), int);
      assert.ok(Object.is(read.double(), double));
      assert.is(read.text(), Buffer.from(text).toString());
      assert.ok(read.done);
    }),
  );
});

readers('a value cut anywhere is ERR_MESSAGE_MALFORMED on the wire, ERR_LEDGER_CORRUPT in the log', () => {
  const out = new ByteWriter();
  out.int(1_000_000);
  out.double(1.5);
  out.text('text');
  const bytes = out.take();
  const readAll = (read: WireReader | LedgerByteReader): unknown => [read.int(), read.double(), read.text()];
  for (let length = 0; length < bytes.length; length += 1) {
    const part = bytes.subarray(0, length);
    assert.is(
      codeOf(() => readAll(new WireReader(part))),
      'ERR_MESSAGE_MALFORMED',
    );
    assert.is(
      codeOf(() => readAll(new LedgerByteReader(part))),
      'ERR_LEDGER_CORRUPT',
    );
  }
});

readers('a number beyond 53 bits is malformed', () => {
  const bytes = Buffer.alloc(9, 0xff);
  assert.is(
    codeOf(() => new WireReader(bytes).int()),
    'ERR_MESSAGE_MALFORMED',
  );
});

readers.run();
