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
  textPayloadOfPart,
} from '#src/job/payload.js';
import { TextPayload } from '#src/job/text-payload.js';

const payload = suite('payload');

payload('any text survives, ASCII or not, small or large', () => {
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

payload('a value is written as JSON.stringify writes it, whatever characters a text has', () => {
  const same = (value: unknown): void => {
    const written = payloadOfValue(value);
    if (written === undefined) return assert.is(value, undefined);
    assert.is(payloadText(written), JSON.stringify(value));
    assert.is(Buffer.from(payloadBytes(written)).toString(), JSON.stringify(value));
    assert.equal(payloadValue(written), JSON.parse(JSON.stringify(value)));
  };
  for (let code = 0; code < 0x180; code += 1) same(`a${String.fromCharCode(code)}b`);
  for (const length of [0, 1, 4_095, 4_096, 4_097, 100_000]) same('x'.repeat(length));
  same(`${'x'.repeat(3_000_000)}"`);
  same(undefined);
  void fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.jsonValue()), same));
});

payload('any bytes survive, and the caller may reuse its buffer', () => {
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

payload('a short text in ASCII is held as it is, whatever JSON would make of it', () => {
  assert.equal(payloadOfValue('say "no"\n'), new TextPayload('say "no"\n'));
  assert.equal(payloadOfValue(''), new TextPayload(''));
  assert.instance(payloadOfValue('é'), Uint8Array);
  assert.instance(payloadOfValue('x'.repeat(5_000)), Uint8Array);
});

payload('a text that a peer wrote as it is, is that text, in ASCII or not, small or large', () => {
  void fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, large) => {
      const whole = large ? text + 'x'.repeat(5_000) : text;
      const bytes = Buffer.from(`before${whole}after`);
      const read = textPayloadOfPart(bytes, 6, bytes.length - 5);
      assert.is(payloadValue(read), whole);
    }),
  );
});

payload('the hash tells payloads apart and does not depend on how they are held', () => {
  const text = 'a'.repeat(4_096);
  assert.is(payloadHash('', text), payloadHash('', Buffer.from(text)));
  assert.is.not(payloadHash('', 'a'), payloadHash('', 'b'));
  assert.is.not(payloadHash('', ''), payloadHash('', '\0'));
  assert.is(payloadHash('', new TextPayload('say "no"')), payloadHash('', payloadOfText('"say \\"no\\""')));
  assert.ok(Number.isSafeInteger(payloadHash('x', text)));
});

payload.run();
