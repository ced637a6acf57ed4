import { defineJob, handle, NonRetryableError } from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aNumber, aString } from '../../plain-schema.js';

const history = suite('attempt history');

const retry = { attempts: 3, baseMs: 1, capMs: 5, jitter: 0 };
const flaky = defineJob('doc.flaky', { input: aNumber, output: aString, retry });

/** Fails as often as its input says; a negative number: for good. */
const handler = handle(flaky, (times, { attempt }) => {
  if (times < 0) throw new NonRetryableError('never', { cause: new Error('no paper') });
  if (attempt <= times) throw new Error(`attempt ${attempt} of the press`);
  return 'printed';
});

history('inspect shows the attempts that failed, each with its error, and the one that did not', async () => {
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(flaky, 2);
  assert.is(await jobs.result(job), 'printed');
  const { attempts = [] } = await job.inspect();
  assert.equal(
    attempts.map(({ attempt, ending, failure }) => [attempt, ending, failure?.message]),
    [
      [1, 'failed', 'attempt 1 of the press'],
      [2, 'failed', 'attempt 2 of the press'],
      [3, 'done', undefined],
    ],
  );
  for (const { startedAt, endedAt, worker } of attempts) {
    assert.ok(startedAt > 0 && endedAt >= startedAt, `${startedAt} to ${endedAt}`);
    assert.match(worker, /./);
  }
  // A list is for many jobs.
  assert.is((await jobs.client.list('done'))[0]?.attempts, undefined);
});

history('a job that is done with its first attempt has no history', async () => {
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(flaky, 0);
  assert.is(await jobs.result(job), 'printed');
  assert.is((await job.inspect()).attempts, undefined);
});

history('the attempt of a dead letter has its reason and the cause of its error', async () => {
  await using jobs = await testJobs({ handlers: [handler] });
  const job = await jobs.client.submit(flaky, -1);
  await jobs.advance(1_000);
  const { attempts = [] } = await job.inspect();
  assert.equal(
    attempts.map(({ ending, failure }) => [ending, failure?.message, failure?.cause?.message]),
    [['final', 'never', 'no paper']],
  );
});

history.run();
