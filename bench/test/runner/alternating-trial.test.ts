import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { alternatingTrial, type Side } from '#src/runner/alternating-trial.js';
import { parseSample } from '#src/runner/process-output.js';

const alternating = suite('alternating-trial');

let sink = 0;

/** Work that costs `weight` times as much as work of weight 1. */
function workOf(weight: number, lost = 0): Side {
  return {
    batchSize: 100,
    async run(batches) {
      for (let i = 0; i < batches * 100 * 300 * weight; i += 1) sink += i % 7;
      return batches * 100 - lost;
    },
  };
}

alternating('the ratio is that of the work, independent of other load on the machine', async () => {
  const { pairedRatio = 0, attempted, completed } = await alternatingTrial(workOf(1), workOf(3), 1).run();
  assert.ok(pairedRatio > 2 && pairedRatio < 4.5, `${pairedRatio}`);
  assert.is(completed, attempted);
  assert.ok(sink > 0);
});

alternating('one side alone has no ratio', async () => {
  const sample = await alternatingTrial(workOf(1), undefined, 1).run();
  assert.is(sample.pairedRatio, undefined);
  assert.ok(sample.seconds > 0);
});

alternating('lost work is not counted as completed', async () => {
  const { attempted, completed } = await alternatingTrial(workOf(1), workOf(1, 1), 1).run();
  assert.ok(completed < attempted);
});

alternating('the ratio is read from the sample line of a process', () => {
  assert.is(parseSample('{"attempted":1,"completed":1,"seconds":1,"pairedRatio":1.5}').pairedRatio, 1.5);
});

alternating.run();
