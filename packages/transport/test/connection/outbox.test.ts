import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Outbox } from '#src/connection/outbox.js';

const outboxes = suite('outbox');
const TYPE = 9;

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('latin1');
}

function frame(outbox: Outbox, letter: string): void {
  outbox.writer.writeFrame(TYPE, Buffer.from(letter.repeat(50)));
}

outboxes('bytes held by the socket are not overwritten', () => {
  const outbox = new Outbox();
  frame(outbox, 'a');
  const first = outbox.takeNext();
  const before = textOf(first);
  frame(outbox, 'b');
  const second = outbox.takeNext();
  assert.is(textOf(first), before);
  assert.match(textOf(second), /b{50}$/);
});

outboxes('the slab is reused for bytes that have left; bytes encoded later are kept', () => {
  const outbox = new Outbox();
  frame(outbox, 'a');
  const first = outbox.takeNext();
  frame(outbox, 'b');
  outbox.socketEmpty();
  frame(outbox, 'c');
  assert.match(textOf(outbox.takeNext()), /b{50}.*c{50}$/s);
  assert.match(textOf(first), /a{50}$/);
  outbox.socketEmpty();
  frame(outbox, 'd');
  const again = outbox.takeNext();
  assert.is(again[0]?.buffer, first[0]?.buffer);
  assert.is(again[0]?.byteOffset, first[0]?.byteOffset);
});

outboxes('bytes above the size of one write leave in order and are not overwritten before', () => {
  const outbox = new Outbox();
  const large = Buffer.alloc(300 * 1024, 'x');
  frame(outbox, 'a');
  outbox.writer.writeFrame(TYPE, large);
  frame(outbox, 'b');
  const first = Buffer.concat(outbox.takeNext());
  outbox.socketEmpty();
  frame(outbox, 'c');
  frame(outbox, 'd');
  const rest = textOf([...outbox.takeNext(), ...outbox.takeNext()]);
  assert.match(textOf([first]), /^.{9}a{50}.{9}x+$/s);
  assert.is(first.length, 256 * 1024);
  assert.match(rest, /^x+.{9}b{50}.{9}c{50}.{9}d{50}$/s);
  assert.is(outbox.takeNext().length, 0);
});

outboxes.run();
