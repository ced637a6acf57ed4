import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TimedHeap } from '#src/collections/timed-heap.js';

const heap = suite('timed heap');

heap('values are popped by time, then by order', () => {
  void fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.nat(1_000))), fc.nat(20), (entries, cut) => {
      const timed = new TimedHeap<readonly [number, number]>();
      entries.forEach(([time, order]) => {
        timed.push(time, [time, order], order);
      });
      timed.keep(([time]) => time !== cut);
      const expected = entries.filter(([time]) => time !== cut).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      assert.is(timed.nextAt, expected[0]?.[0] ?? Number.POSITIVE_INFINITY);
      const got = [];
      while (timed.size > 0) got.push(timed.pop());
      assert.equal(got, expected);
      assert.is(timed.pop(), undefined);
    }),
  );
});

heap.run();
