import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BATCH_JOBS_MAX, RunTimeEstimate } from '#src/protocol/worker/run-time-estimate.js';

const estimates = suite('run-time estimate');

function estimateOf(...attemptMs: number[]): RunTimeEstimate {
  const estimate = new RunTimeEstimate();
  for (const ms of attemptMs) estimate.add(1, ms);
  return estimate;
}

estimates('a batch is as many attempts as fit into two milliseconds, at most 256', () => {
  assert.equal(
    [0, 0.001, 0.01, 0.1, 0.9, 2, 2.1].map((attemptMs) => estimateOf(attemptMs).batchSize),
    [BATCH_JOBS_MAX, BATCH_JOBS_MAX, 200, 20, 2, 1, 0],
  );
});

estimates('before the first attempt has ended there is no batch', () => {
  const estimate = new RunTimeEstimate();
  assert.is(estimate.batchSize, 0);
  estimate.add(0, 0);
  estimate.add(1, Number.NaN);
  estimate.add(1, -1);
  assert.is(estimate.batchSize, 0);
});

estimates('a slow attempt counts at once, fast ones gradually', () => {
  const estimate = estimateOf(0.01, 100);
  assert.is(estimate.batchSize, 0);
  const sizes: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    estimate.add(1, 0.01);
    sizes.push(estimate.batchSize);
  }
  assert.is(
    sizes.findIndex((size) => size > 0),
    13,
  );
  assert.ok(sizes.every((size, i) => i === 0 || size >= (sizes[i - 1] as number)));
});

estimates('many attempts count as their mean', () => {
  const estimate = new RunTimeEstimate();
  estimate.add(10, 5);
  assert.is(estimate.batchSize, 4);
});

estimates.run();
