import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planRounds, repeatOf } from '#src/runner/process-plan.js';
import { caseWith } from '../case-builders.js';

const plan = suite('process-plan');

plan('every system runs once per round and the order rotates', () => {
  const order = planRounds(caseWith({}), ['a', 'b', 'c'], 3).map(
    (planned) => `${planned.round}${planned.system}`,
  );
  assert.equal(order, ['0a', '0b', '0c', '1b', '1c', '1a', '2c', '2a', '2b']);
});

plan('a plan without systems has no processes', () => {
  assert.equal(planRounds(caseWith({}), [], 3), []);
});

plan('a case overrides single repeat options', () => {
  assert.equal(repeatOf(caseWith({ repeat: { warmups: 0 } })), {
    warmups: 0,
    iterations: 5,
    budgetMs: 1_500,
  });
});

plan.run();
