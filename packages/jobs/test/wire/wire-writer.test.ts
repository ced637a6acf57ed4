import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wireWriter } from '#src/wire/wire-writer.js';

const writers = suite('wire writer');

writers('a message that failed to encode leaves no bytes in the next one', () => {
  const broken = wireWriter();
  broken.text('half of a message');
  broken.payload(new Uint8Array(300 * 1024));
  const next = wireWriter();
  next.text('ab');
  assert.is(next.length, 3);
  assert.equal(
    next.takePieces().map((piece) => piece.length),
    [3],
  );
});

writers.run();
