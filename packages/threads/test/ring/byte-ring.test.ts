import { SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RingReader, RingWriter, ringMemory } from '#src/ring/byte-ring.js';

const rings = suite('byte ring');

const CAPACITY = 1_024;

/** A record of which every byte can be checked. */
function write(ring: RingWriter, number: number, length: number): boolean {
  if (!ring.begin(length)) return false;
  for (let i = 0; i < length; i += 1) ring.bytes[ring.at + i] = (number + i) & 0xff;
  ring.commit(ring.at + length);
  return true;
}

function isRecord(ring: RingReader, number: number, length: number): boolean {
  if (ring.end - ring.at !== length) return false;
  for (let i = 0; i < length; i += 1) if (ring.bytes[ring.at + i] !== ((number + i) & 0xff)) return false;
  return true;
}

rings('every published record is read once, whole and in order, in 200 seeded interleavings', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = new SeededRandom(seed);
    const memory = ringMemory(CAPACITY);
    const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
    const lengths: number[] = [];
    let read = 0;
    let wasFull = 0;
    for (let step = 0; step < 2_000; step += 1) {
      const choice = random.next();
      if (choice < 0.5) {
        const length = Math.floor(random.next() * 200);
        if (write(writer, lengths.length, length)) lengths.push(length);
        else wasFull += 1;
      } else if (choice < 0.7) {
        writer.publish();
      } else if (reader.refresh()) {
        for (let left = Math.floor(random.next() * 5); left > 0 && reader.next(); left -= 1) {
          assert.ok(isRecord(reader, read, lengths[read] as number), `seed ${seed}, record ${read}`);
          read += 1;
        }
        reader.release();
      }
    }
    writer.publish();
    reader.refresh();
    while (reader.next()) {
      assert.ok(isRecord(reader, read, lengths[read] as number));
      read += 1;
    }
    assert.is(read, lengths.length, `seed ${seed}`);
    assert.ok(wasFull > 0, 'the ring was full at times');
  }
});

rings('a record counts when it is published: a writer that ends before that leaves nothing', () => {
  const memory = ringMemory(CAPACITY);
  const writer = new RingWriter(memory);
  write(writer, 1, 10);
  writer.publish();
  write(writer, 2, 20);
  writer.begin(30);
  writer.bytes.fill(7, writer.at, writer.at + 30);
  const reader = new RingReader(memory);
  reader.refresh();
  assert.is(reader.next(), true);
  assert.is(isRecord(reader, 1, 10), true);
  assert.is(reader.next(), false);
  assert.is(reader.isEmpty, true);
});

rings('the counts of bytes may pass 2³¹', () => {
  const memory = ringMemory(CAPACITY);
  const words = new Int32Array(memory);
  // Head and tail of a ring that has carried almost 2 GiB.
  words[0] = 2 ** 31 - 512;
  words[16] = 2 ** 31 - 512;
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
  for (let number = 0; number < 100; number += 1) {
    assert.is(write(writer, number, 100), true);
    writer.publish();
    reader.refresh();
    assert.is(reader.next(), true);
    assert.is(isRecord(reader, number, 100), true);
    reader.release();
  }
});

rings('a full ring takes a record again after a release; a writer that waits is woken at half', () => {
  const memory = ringMemory(CAPACITY);
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
  let written = 0;
  while (write(writer, written, 60)) written += 1;
  assert.is(written, CAPACITY / 64);
  writer.publish();
  writer.waitForRoom();
  reader.refresh();
  reader.next();
  assert.is(reader.release(), false, 'one record is not half');
  assert.is(writer.isHalfFree, false);
  for (let read = 1; read < written / 2; read += 1) reader.next();
  assert.is(reader.release(), true);
  assert.is(reader.release(), false, 'once');
  assert.is(writer.isHalfFree, true);
  assert.is(write(writer, written, 60), true);
});

rings('records that fill the memory exactly to its end do not run over unread ones', () => {
  const memory = ringMemory(CAPACITY);
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
  const length = CAPACITY / 8 - 4;
  for (let number = 0; number < 8; number += 1) assert.is(write(writer, number, length), true);
  writer.publish();
  assert.is(write(writer, 8, length), false);
  reader.refresh();
  for (let number = 0; number < 8; number += 1) {
    assert.is(reader.next(), true);
    assert.is(isRecord(reader, number, length), true);
  }
});

rings.run();
