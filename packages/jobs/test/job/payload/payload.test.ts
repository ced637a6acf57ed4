import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  payloadBytes,
  payloadHash,
  payloadOfBytes,
  payloadOfText,
  payloadOfValue,
  payloadText,
  payloadValue,
} from '#src/job/payload/payload.js';

const payload = suite('payload');

payload('any text round-trips, ASCII or not, small or large', () => {
  void fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, large) => {
      const whole = large ? text.repeat(2) + 'x'.repeat(5_000) : text;
      // JSON.stringify escapes lone surrogates, so what it returns is always well formed.
      const well = JSON.stringify(whole);
      assert.is(payloadText(payloadOfText(well)), well);
      assert.is(payloadOfText(well).length, Buffer.byteLength(well));
    }),
  );
});

payload('a value is encoded as JSON.stringify encodes it, for any characters', () => {
  const same = (value: unknown): void => {
    const written = payloadOfValue(value);
    if (written === undefined) return assert.is(value, undefined);
    assert.is(payloadText(written), JSON.stringify(value));
    assert.is(Buffer.from(payloadBytes(written)).toString(), JSON.stringify(value));
    assert.equal(payloadValue(written), JSON.parse(JSON.stringify(value)));
  };
  for (let code = 0; code < 0x180; code += 1) same(`a${String.fromCharCode(code)}b`);
  for (const length of [0, 1, 4_093, 4_094, 4_095, 100_000]) same('x'.repeat(length));
  same(`${'x'.repeat(3_000_000)}"`);
  same(undefined);
  void fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.jsonValue()), same));
});

payload('any bytes round-trip, and the caller may reuse its buffer', () => {
  void fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6_000, size: 'max' }), (bytes) => {
      const kept = payloadOfBytes(bytes);
      const copy = Uint8Array.from(bytes);
      bytes.fill(0);
      assert.equal(Uint8Array.from(payloadBytes(kept)), copy);
      // A text is ASCII: its readers rely on it.
      assert.ok(typeof kept !== 'string' || copy.every((byte) => byte < 0x80));
    }),
    { numRuns: 50 },
  );
});

payload('short ASCII JSON is held as a string, anything else as bytes', () => {
  assert.is(payloadOfValue('say "no"\n'), '"say \\"no\\"\\n"');
  assert.is(payloadOfValue(''), '""');
  assert.type(payloadOfValue('x'.repeat(4_094)), 'string');
  assert.instance(payloadOfValue('é'), Uint8Array);
  assert.instance(payloadOfValue('x'.repeat(4_095)), Uint8Array);
});

payload('the hash differs between payloads and not between string and bytes', () => {
  const text = 'a'.repeat(4_096);
  assert.is(payloadHash('', text), payloadHash('', Buffer.from(text)));
  assert.is.not(payloadHash('', 'a'), payloadHash('', 'b'));
  assert.is.not(payloadHash('', ''), payloadHash('', '\0'));
  assert.ok(Number.isSafeInteger(payloadHash('x', text)));
});

payload.run();
