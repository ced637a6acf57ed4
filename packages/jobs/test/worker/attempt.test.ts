import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Attempt } from '#src/worker/attempt.js';

const attempts = suite('attempt');

attempts('the payload goes with the first who takes it; what it counted is still known', () => {
  const assignment = { job: 7, attempt: 2, exec: 'one', client: 'ann', runMs: 50, outputBytes: 10 };
  const attempt = new Attempt({ ...assignment, payload: '"text"' }, 1_000);
  assert.is(attempt.takePayload(), '"text"');
  assert.is(attempt.takePayload(), '');
  assert.is(attempt.payloadBytes, 6);
  assert.is(attempt.deadline, 1_050);
});

attempts.run();
