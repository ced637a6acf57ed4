import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Attempt } from '#src/worker/attempt/attempt.js';

const attempts = suite('attempt');

attempts('the payload is handed out once; its size stays known', () => {
  const assignment = { job: 7, attempt: 2, exec: 'one', client: 'ann', runMs: 50, outputBytes: 10 };
  const attempt = new Attempt({ ...assignment, payload: '"text"' }, 1_000);
  assert.is(attempt.takePayload(), '"text"');
  assert.is(attempt.takePayload(), '');
  assert.is(attempt.payloadBytes, 6);
});

attempts('the run time counts from the beginning, not from the arrival', () => {
  const rest = { exec: 'one', client: 'ann', outputBytes: 10, payload: '1' };
  const attempt = new Attempt({ job: 7, attempt: 2, runMs: 50, ...rest }, 1_000);
  assert.equal([attempt.hasBegun, attempt.since, attempt.deadline], [false, 1_000, Number.POSITIVE_INFINITY]);
  attempt.begin(1_015, { now: () => 1_015 });
  assert.equal([attempt.hasBegun, attempt.since, attempt.deadline], [true, 1_015, 1_065]);
});

attempts.run();
