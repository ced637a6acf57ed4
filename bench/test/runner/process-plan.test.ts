import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repeatOf, rounds } from '#src/runner/process-plan.js';
import { caseWith } from '../case-builders.js';

const plan = suite('plan');

plan('every system runs once per round and the order rotates', () => {
  const order = rounds(caseWith({}), ['a', 'b', 'c'], 3).map((job) => `${job.round}${job.system}`);
  assert.equal(order, ['0a', '0b', '0c', '1b', '1c', '1a', '2c', '2a', '2b']);
});

plan('no system gives no job', () => {
  assert.equal(rounds(caseWith({}), [], 3), []);
});

plan('a case overrides only what it names', () => {
  assert.equal(repeatOf(caseWith({ repeat: { warmups: 0 } })), {
    warmups: 0,
    iterations: 5,
    budgetMs: 1_500,
  });
});

plan.run();
