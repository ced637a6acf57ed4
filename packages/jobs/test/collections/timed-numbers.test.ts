import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TimedHeap } from '#src/collections/timed-heap.js';
import { TimedNumbers } from '#src/collections/timed-numbers.js';

const queue = suite('timed numbers');

type Entry = readonly [time: number, number: number];

function agree(steps: readonly (Entry | undefined)[]): void {
  const timed = new TimedNumbers();
  const model = new TimedHeap<number>();
  for (const step of steps) {
    if (step === undefined) assert.is(timed.pop(), model.pop());
    else {
      timed.push(step[0], step[1]);
      model.push(step[0], step[1], step[1]);
    }
    assert.equal([timed.size, timed.nextAt], [model.size, model.nextAt]);
  }
  while (model.size > 0) assert.is(timed.pop(), model.pop());
  assert.is(timed.pop(), undefined);
}

/** No number comes twice, as no job ends twice. */
function distinct(
  steps: readonly (number | undefined)[],
  numberOf: (i: number) => number,
): (Entry | undefined)[] {
  return steps.map((time, i) => (time === undefined ? undefined : [time, numberOf(i)]));
}

queue('gives what a heap gives, whatever the way it came in', () => {
  const steps = fc.array(fc.option(fc.nat(30), { nil: undefined }), { maxLength: 300, size: 'max' });
  void fc.assert(fc.property(steps, (all) => agree(distinct(all, (i) => (i * 7_919) % 100_003))));
});

queue('gives what a heap gives where nearly everything comes in order', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(2), fc.nat(40)), { maxLength: 300, size: 'max' });
  void fc.assert(
    fc.property(steps, (all) => {
      let now = 0;
      const entries = all.map(([taken, later, back], i): Entry | undefined => {
        now += later;
        return taken ? undefined : [back > 38 ? now - back : now, i ^ 7];
      });
      agree(entries);
    }),
  );
});

queue.run();
