import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RetiredRings } from '#src/actors/link/retired-rings.js';
import { RingWriter, ringMemory, settleRing } from '#src/ring/byte-ring.js';

const retired = suite('retired rings');

const TELL = 0;
const SIGNAL = 4;

/** The rings between two threads: three messages and a signal one way, two messages the other, all unread. */
function usedRings(): readonly [SharedArrayBuffer, SharedArrayBuffer] {
  const rings = [ringMemory(1_024), ringMemory(1_024)] as const;
  write(rings[0], [TELL, TELL, SIGNAL, TELL]);
  write(rings[1], [TELL, TELL]);
  return rings;
}

function unusedRings(): readonly [SharedArrayBuffer, SharedArrayBuffer] {
  return [ringMemory(1_024), ringMemory(1_024)];
}

function write(memory: SharedArrayBuffer, kinds: readonly number[]): void {
  const writer = new RingWriter(memory);
  for (const kind of kinds) {
    assert.ok(writer.begin(64));
    writer.view.setInt32(writer.at, kind, true);
    writer.commit(writer.at + 64);
  }
  writer.publish();
}

retired('messages between two threads that end before either has accounted for them are counted once', () => {
  const rings = new RetiredRings();
  rings.use(1, 2, usedRings());
  assert.is(rings.threadEnded(1, [2]), 0, 'the second thread is left to account for them');
  rings.use(1, 2, unusedRings());
  assert.is(rings.threadEnded(2, [1]), 5);
  rings.use(1, 2, unusedRings());
  assert.is(rings.threadEnded(1, [2]), 0);
});

retired('messages for which the thread that is left has accounted are not counted again', () => {
  const rings = new RetiredRings();
  const pair = usedRings();
  rings.use(1, 2, pair);
  assert.is(rings.threadEnded(1, [2]), 0);
  rings.use(1, 2, unusedRings());
  for (const ring of pair) settleRing(ring);
  assert.is(rings.threadEnded(2, [1]), 0);
});

retired.run();
