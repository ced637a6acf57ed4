import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Outcomes } from '#src/client/outcomes.js';
import { PendingRun } from '#src/client/pending.js';
import { defineJob } from '#src/job/define-job.js';

const pending = suite('pending');

const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};
const job = defineJob('one', { input: anything, output: anything });
function run(): PendingRun {
  const outcomes = new Outcomes((no) => `${no}`);
  const one = new PendingRun(outcomes, job, { resolve: () => undefined, reject: () => undefined });
  one.item.payload = '"text"';
  return one;
}

pending('a run lets go of its payload when the leader has it on its disk, not before', () => {
  const taken = run();
  taken.settled({ seq: 1, jobs: [1], lsn: 1, duplicate: false, refusal: undefined });
  assert.is(taken.item.payload, '');
  const refused = run();
  const refusal = { code: 'ERR_QUEUE_FULL', problem: 'full', retryAfterMs: 1 } as const;
  refused.settled({ seq: 1, jobs: [], lsn: 1, duplicate: false, refusal });
  assert.is(refused.item.payload, '"text"');
});

pending.run();
