import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { payloadBytes, payloadOfPart, textPayloadOfPart } from '#src/job/payload.js';
import { TextPayload } from '#src/job/text-payload.js';
import { ByteReader } from '#src/wire/byte-reader.js';
import { ByteWriter } from '#src/wire/byte-writer.js';

const texts = suite('recurring text');

/** Few different bytes in few lengths, so that most of them have been there before; some are no UTF-8, some are no ASCII. */
const bytes = fc.array(fc.constantFrom(0x61, 0x62, 0x7f, 0x80, 0xc3, 0xa4, 0xff, 0xef, 0xbf, 0xbd), {
  maxLength: 4,
});
const many = fc.array(bytes, { minLength: 200, maxLength: 200 });

texts('whatever was read before, the same bytes are read as the same text', () => {
  void fc.assert(
    fc.property(many, (all) => {
      for (const one of all) {
        const part = Buffer.from([0, ...one, 0]);
        const out = new ByteWriter();
        out.payload(Uint8Array.from(one));
        assert.is(new ByteReader(out.take()).text(), Buffer.from(one).toString('utf8'));
        assert.equal([...payloadBytes(payloadOfPart(part, 1, part.length - 1))], one);
        const whole = textPayloadOfPart(part, 1, part.length - 1);
        const isAscii = one.every((byte) => byte < 0x80);
        assert.is(whole instanceof TextPayload, isAscii);
        if (whole instanceof TextPayload) assert.is(whole.text, Buffer.from(one).toString('latin1'));
      }
    }),
  );
});

texts.run();
