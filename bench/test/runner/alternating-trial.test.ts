import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inTurns, type Side } from '#src/runner/alternating-trial.js';
import { parseSample } from '#src/runner/process-output.js';

const turns = suite('in-turns');

let sink = 0;

/** Work that costs `weight` times as much as that of weight 1. */
function busy(weight: number, lost = 0): Side {
  return {
    batchSize: 100,
    async run(batches) {
      for (let i = 0; i < batches * 100 * 300 * weight; i += 1) sink += i % 7;
      return batches * 100 - lost;
    },
  };
}

turns('the ratio is that of the work, whatever else the machine does', async () => {
  const { inTurns: ratio = 0, attempted, completed } = await inTurns(busy(1), busy(3), 1).run();
  assert.ok(ratio > 2 && ratio < 4.5, `${ratio}`);
  assert.is(completed, attempted);
  assert.ok(sink > 0);
});

turns('one side alone has no ratio', async () => {
  const sample = await inTurns(busy(1), undefined, 1).run();
  assert.is(sample.inTurns, undefined);
  assert.ok(sample.seconds > 0);
});

turns('what a side has lost is missing from its sample', async () => {
  const { attempted, completed } = await inTurns(busy(1), busy(1, 1), 1).run();
  assert.ok(completed < attempted);
});

turns('the ratio survives the way from process to process', () => {
  assert.is(parseSample('{"attempted":1,"completed":1,"seconds":1,"inTurns":1.5}').inTurns, 1.5);
});

turns.run();
