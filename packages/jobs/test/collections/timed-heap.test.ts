import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TimedHeap } from '#src/collections/timed-heap.js';

const heap = suite('timed heap');

heap('numbers are popped by time, then by number', () => {
  void fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.nat(1_000)), { maxLength: 200, size: 'max' }), (entries) => {
      const timed = new TimedHeap();
      for (const [time, number] of entries) timed.push(time, number);
      const expected = [...entries].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      assert.is(timed.nextAt, expected[0]?.[0] ?? Number.POSITIVE_INFINITY);
      const got = [];
      while (timed.size > 0) got.push([timed.nextAt, timed.pop()]);
      assert.equal(got, expected);
      assert.is(timed.pop(), undefined);
    }),
  );
});

heap.run();
